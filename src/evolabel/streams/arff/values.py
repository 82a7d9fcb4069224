r"""The lines of an ARFF file without comments, and the values in a line: quotes, escapes, braces.

A value is quoted by ' or ", with \ as escape, or plain. Plain values end at a comma (in rows also at a tab), and an
unquoted % starts a comment, as in Weka. A plain ? is a missing value and becomes None; a quoted one is a text.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

Value = str | None

_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}

HAS_MARKUP = re.compile("[\"'{%\t]")
_PLAIN_IN_ROW = re.compile(r"[^,\t%]*")
_PLAIN_IN_BRACES = re.compile(r"[^,}%]*")
PLAIN_NAME = re.compile(r"[^ \t{%]*")
_NEXT_IN_ROW = re.compile(r"[ \t]*(?:,|\t|(?P<end>%|\Z))[ \t]*")
_NEXT_IN_BRACES = re.compile(r"[ \t]*(?:,|(?P<end>\}))[ \t]*")
_OPENING = re.compile(r"\{[ \t]*(?P<end>\}[ \t]*)?")
_NO_PREFIX = re.compile("()")

_WHITESPACE = " \t\r\n"
_EXCERPT_CHARACTERS = 40


class LineError(Exception):
    """The `line` of this number cannot be read because of a `problem`; None stands for the line read last.

    `read_arff` turns it into a FileFormatError with the name of the file.
    """

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.line = line


class ContentLines(Iterator[str]):
    """Iterator over `lines`, stripped, without blank lines and comments; `number` is that of the line returned last."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self.number = 0

    def __next__(self) -> str:
        for line in self._lines:
            self.number += 1
            stripped = line.strip(_WHITESPACE)
            if stripped and not stripped.startswith("%"):
                return stripped
        raise StopIteration


def excerpt(text: str) -> str:
    """Return `text` in quotes for an error message, cut after 40 characters."""
    return repr(text if len(text) <= _EXCERPT_CHARACTERS else text[:_EXCERPT_CHARACTERS] + "...")


@dataclass
class Cursor:
    """A position `at` in a `line`, moved forward by the methods that read from it."""

    line: str
    at: int = 0

    @property
    def rest(self) -> str:
        """The part of the line that has not been read."""
        return self.line[self.at :]

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Return the match of `pattern` at the position and move behind it, or return None."""
        found = pattern.match(self.line, self.at)
        self.at = found.end() if found else self.at
        return found

    def take_value(self, plain: re.Pattern[str]) -> Value:
        """Return the value at the position and move behind it; `plain` matches the whole of an unquoted value."""
        if self.line.startswith(("'", '"'), self.at):
            return self._take_quoted()
        found = self.take(plain)
        value = found[0].rstrip(" \t") if found else ""
        return None if value == "?" else value

    def _take_quoted(self) -> str:
        found = self.take(_QUOTED)
        if not found:
            raise LineError(f"the quote that opens {excerpt(self.rest)} is never closed; close it, or escape it by \\")
        return _ESCAPE.sub(_unescape, found[0][1:-1])


def split_values(line: str) -> list[Value]:
    """Return the values of a dense row `line`; without quotes, braces, comments and tabs `str.split` is enough."""
    if HAS_MARKUP.search(line):
        return split_markup(line)
    values: list[Value] = [*line.split(",")]
    if " " in line:
        values = [value.strip(" ") for value in line.split(",")]
    return [None if value == "?" else value for value in values] if "?" in line else values


def split_markup(line: str) -> list[Value]:
    """Return the values of any dense row `line`, value by value."""
    cursor, values, separator = Cursor(line), list[Value](), None
    while not separator or separator["end"] is None:
        values.append(cursor.take_value(_PLAIN_IN_ROW))
        separator = cursor.take(_NEXT_IN_ROW)
        if not separator:
            raise LineError(f"expected a comma or the end behind a quoted value, got {excerpt(cursor.rest)}")
    return values


def read_braces(line: str, prefix: re.Pattern[str] = _NO_PREFIX) -> tuple[list[tuple[str, Value]], str]:
    """Return the values between the braces at the start of `line`, each with its match of `prefix`, and the rest."""
    cursor, values = Cursor(line), list[tuple[str, Value]]()
    separator = cursor.take(_OPENING)
    while separator and separator["end"] is None:
        before = cursor.take(prefix)
        if not before:
            raise LineError(f"expected an index and a value, got {excerpt(cursor.rest)}")
        values.append((before[1], cursor.take_value(_PLAIN_IN_BRACES)))
        separator = cursor.take(_NEXT_IN_BRACES)
    if not separator:
        raise LineError(f"expected a comma or a closing brace, got {excerpt(cursor.rest)}")
    return values, cursor.rest


def _unescape(escape: re.Match[str]) -> str:
    code = escape[1]
    if code[0] == "u" and len(code) == 5:
        return chr(int(code[1:], 16))
    if code[0] in "01234567":
        return chr(int(code, 8))
    return _ESCAPED.get(code, code)
