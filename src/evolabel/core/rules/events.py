"""What happened to the rules: births, merges, deaths, adoptions and acts of people, in the order of the stream."""

from typing import NamedTuple

# What a person can do to a rule.
ACTS = ("added", "edited", "renamed", "locked", "unlocked", "merged by hand", "deleted")
EVENT_KINDS = ("birth", "merge", "death", "joined", *ACTS)
MERGES = ("merge", "merged by hand")


class Event(NamedTuple):
    """One change of the rule base.

    `kind` is "birth", "merge", "death", "joined" (a rule of another classifier came in), or one of `ACTS`. `rule` is
    the identity of the rule born, kept, dead, joined or acted on. `other` is the nearest rule at a birth (None for the
    very first), the rule merged into `rule` at a merge, else None. `note` is what a person wrote: a rule, a name.
    """

    sample: int
    kind: str
    rule: int
    other: int | None
    note: str = ""

    def __str__(self) -> str:
        told = {
            "birth": f"rule {self.rule} was born" + ("" if self.other is None else f" near rule {self.other}"),
            "merge": f"rule {self.other} was merged into rule {self.rule}",
            "joined": f"rule {self.rule} joined from another classifier",
            "death": f"rule {self.rule} starved and was removed",
            "merged by hand": f"rule {self.other} was merged into rule {self.rule} by hand",
        }
        by_hand = f"rule {self.rule} was {self.kind} by hand" + (f": {self.note}" if self.note else "")
        return f"sample {self.sample}: {told.get(self.kind, by_hand)}"
