"""What an experiment on a flaw of the printed method measured."""

from dataclasses import dataclass
from textwrap import wrap


@dataclass(frozen=True)
class Finding:
    """What an experiment measured, and how the page says it."""

    numbers: dict[str, float]
    text: str

    def block(self) -> str:
        """The text for the page: a wrapped paragraph, or a table as it is."""
        return (
            self.text
            if "\n" in self.text
            else "\n".join(wrap(f"**Measured:** {self.text}", 120, break_long_words=False, break_on_hyphens=False))
        )
