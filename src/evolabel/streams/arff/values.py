r"""Values in a line of an ARFF file: quoting, escapes, braces.

A value is quoted by ' or ", with \ as escape, or plain. Plain values end at a comma (in rows also at a tab), and an
unquoted % starts a comment, as in Weka. A plain ? is a missing value, here None; a quoted one is a text.
"""

import re
from dataclasses import dataclass

from evolabel.streams.arff.lines import BrokenLine, shown

Value = str | None

QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[0-7]{1,3}|.)", re.DOTALL)
ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}

NEEDS_CARE = re.compile("[\"'{%\t]")
PLAIN_IN_ROW = re.compile(r"[^,\t%]*")
PLAIN_IN_BRACES = re.compile(r"[^,}%]*")
PLAIN_NAME = re.compile(r"[^ \t{%]*")
NEXT_IN_ROW = re.compile(r"[ \t]*(?:,|\t|(?P<end>%|\Z))[ \t]*")
NEXT_IN_BRACES = re.compile(r"[ \t]*(?:,|(?P<end>\}))[ \t]*")
OPENING = re.compile(r"\{[ \t]*(?P<end>\}[ \t]*)?")
NO_PREFIX = re.compile("()")


@dataclass
class Cursor:
    """A place in a line that moves on as things are taken."""

    line: str
    at: int = 0

    @property
    def rest(self) -> str:
        """What has not been taken."""
        return self.line[self.at :]

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """What the pattern matches here, if it does."""
        found = pattern.match(self.line, self.at)
        self.at = found.end() if found else self.at
        return found

    def take_value(self, plain: re.Pattern[str]) -> Value:
        """The value that starts here; `plain` matches all of it if it is not quoted."""
        if self.line.startswith(("'", '"'), self.at):
            return self._take_quoted()
        found = self.take(plain)
        value = found[0].rstrip(" \t") if found else ""
        return None if value == "?" else value

    def _take_quoted(self) -> str:
        found = self.take(QUOTED)
        if not found:
            raise BrokenLine(f"the quote that opens {shown(self.rest)} is never closed; close it, or escape it by \\")
        return ESCAPE.sub(_unescape, found[0][1:-1])


def split_values(line: str) -> list[Value]:
    """The values of a dense row; rows without quotes, braces, comments and tabs take a short cut."""
    if NEEDS_CARE.search(line):
        return split_carefully(line)
    values: list[Value] = [*line.split(",")]
    if " " in line:
        values = [value.strip(" ") for value in line.split(",")]
    return [None if value == "?" else value for value in values] if "?" in line else values


def split_carefully(line: str) -> list[Value]:
    """The values of a dense row, whatever is in it."""
    cursor, values, separator = Cursor(line), list[Value](), None
    while not separator or separator["end"] is None:
        values.append(cursor.take_value(PLAIN_IN_ROW))
        separator = cursor.take(NEXT_IN_ROW)
        if not separator:
            raise BrokenLine(f"expected a comma or the end behind a quoted value, got {shown(cursor.rest)}")
    return values


def read_braces(line: str, prefix: re.Pattern[str] = NO_PREFIX) -> tuple[list[tuple[str, Value]], str]:
    """The values between the braces that open a text, each with the prefix before it; then the text behind them."""
    cursor, values = Cursor(line), list[tuple[str, Value]]()
    separator = cursor.take(OPENING)
    while separator and separator["end"] is None:
        before = cursor.take(prefix)
        if not before:
            raise BrokenLine(f"expected an index and a value, got {shown(cursor.rest)}")
        values.append((before[1], cursor.take_value(PLAIN_IN_BRACES)))
        separator = cursor.take(NEXT_IN_BRACES)
    if not separator:
        raise BrokenLine(f"expected a comma or a closing brace, got {shown(cursor.rest)}")
    return values, cursor.rest


def _unescape(escape: re.Match[str]) -> str:
    code = escape[1]
    if code[0] == "u" and len(code) == 5:
        return chr(int(code[1:], 16))
    if code[0] in "01234567":
        return chr(int(code, 8))
    return ESCAPED.get(code, code)
