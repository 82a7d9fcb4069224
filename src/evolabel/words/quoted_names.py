"""Names in the text of rules: in quotes where they could not be read back."""

import re

from evolabel._utils.text import one_line

KEY_WORDS = (
    *("IF", "THEN", "WITH", "CONFIDENCE", "WEIGHT", "CALLED"),
    *("IS", "AND", "BETWEEN", "ABOVE", "BELOW", "LIKELY", "UNLIKELY"),
)
NOT = "NOT"  # a key word after IS only, so that names may be "not"
OR, NEITHER, NOR, MISSING, KNOWN = "OR", "NEITHER", "NOR", "MISSING", "KNOWN"  # the same
_PRINTED_WORDS = {*KEY_WORDS, NOT, OR, NEITHER, NOR, MISSING, KNOWN}
_UNQUOTED = re.compile(r'[^\s,"]+')
_NOTE = re.compile(r"\(read ")  # as the correction of a sensor begins


def quoted(name: str) -> str:
    """Return `name` in quotes, with a backslash before quotes and backslashes."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def written_name(name: str) -> str:
    """Return `name`, in quotes unless it is one word and no key word."""
    return name if _UNQUOTED.fullmatch(name) and name.upper() not in KEY_WORDS else quoted(name)


def printed_name(name: str) -> str:
    """Return `name` on one line, in quotes only where the printed rule could not be read back.

    Examples
    --------
    >>> printed_name("oil pressure"), printed_name("salt and pepper"), printed_name("not leak")
    ('oil pressure', '"salt and pepper"', '"not leak"')
    """
    line = one_line(name)
    words = line.split()
    plain = line == " ".join(words) and all(_UNQUOTED.fullmatch(word) for word in words) and not _NOTE.search(line)
    return line if words and plain and not _PRINTED_WORDS & {word.upper() for word in words} else quoted(line)
