"""The lines of an ARFF file that say something, and the error of a line that says it wrong."""

from collections.abc import Iterable, Iterator

BLANK = " \t\r\n"
SHOWN = 40


class BrokenLine(Exception):
    """A line cannot be read: by default the one read last. `read_arff` adds the name of the file."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.line = line


class ContentLines(Iterator[str]):
    """Lines without blanks around them, without blank lines and comments; `number` is that of the line given last."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self.number = 0

    def __next__(self) -> str:
        for line in self._lines:
            self.number += 1
            stripped = line.strip(BLANK)
            if stripped and not stripped.startswith("%"):
                return stripped
        raise StopIteration


def shown(text: str) -> str:
    """A text as error messages quote it: cut where it is long."""
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "...")
