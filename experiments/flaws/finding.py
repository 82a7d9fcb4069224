"""The result of an experiment on an error of the printed method."""

from dataclasses import dataclass
from textwrap import wrap


@dataclass(frozen=True)
class Finding:
    """The numbers an experiment measured, and their text on the page."""

    numbers: dict[str, float]
    text: str

    def block(self) -> str:
        """The text for the page: a wrapped paragraph, or a table as it is."""
        return (
            self.text
            if "\n" in self.text
            else "\n".join(wrap(f"**Measured:** {self.text}", 120, break_long_words=False, break_on_hyphens=False))
        )
