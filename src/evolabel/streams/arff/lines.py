"""The lines of an ARFF file without comments, and the error for a line that cannot be read."""

from collections.abc import Iterable, Iterator

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
