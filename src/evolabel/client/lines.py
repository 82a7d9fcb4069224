"""Lines of a text that comes in pieces."""


class LineSplitter:
    """Splits a text at line feeds alone: other characters that end a line may stand inside of JSON and CSV."""

    def __init__(self) -> None:
        self._pieces: list[str] = []

    def take(self, piece: str) -> list[str]:
        """Return the lines that end in the next `piece` of the text."""
        *ended, rest = piece.split("\n")
        if ended:
            ended[0] = "".join([*self._pieces, ended[0]])
            self._pieces = []
        self._pieces.append(rest)
        return ended

    def last(self) -> list[str]:
        """Return the line that no line feed has ended, if there is one."""
        rest = "".join(self._pieces)
        return [rest] if rest else []
