"""What happened to the rules: births, merges, deaths and adoptions, in the order of the stream."""

from typing import NamedTuple


class Event(NamedTuple):
    """One change of the rule base.

    `kind` is "birth", "merge", "death", or "joined" (a rule of another classifier came in). `rule` is the identity of
    the rule born, kept, dead or joined. `other` is the nearest rule at a birth (None for the very first), the rule
    merged into `rule` at a merge, else None.
    """

    sample: int
    kind: str
    rule: int
    other: int | None

    def __str__(self) -> str:
        told = {
            "birth": f"rule {self.rule} was born" + ("" if self.other is None else f" near rule {self.other}"),
            "merge": f"rule {self.other} was merged into rule {self.rule}",
            "joined": f"rule {self.rule} joined from another classifier",
            "death": f"rule {self.rule} starved and was removed",
        }
        return f"sample {self.sample}: {told[self.kind]}"
