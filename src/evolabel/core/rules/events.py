"""Changes of the rules in the order of the stream, and the names and texts that people gave to rules."""

from dataclasses import dataclass, field
from typing import NamedTuple

# Edits of a rule by a person.
EDITS = ("added", "edited", "renamed", "locked", "unlocked", "merged by hand", "deleted")
EVENT_KINDS = ("birth", "merge", "death", "joined", *EDITS)
MERGES = ("merge", "merged by hand")


class Event(NamedTuple):
    """One change of the rule base.

    `kind` is "birth", "merge", "death", "joined" (copied from another classifier), or one of `EDITS`. `rule` is the
    identity of the rule created, kept, removed, joined or edited. `other` is the nearest rule at a birth (None for the
    first), the rule merged into `rule` at a merge, else None. `note` is the text of a person: a rule, a name.
    """

    sample: int
    kind: str
    rule: int
    other: int | None
    note: str = ""

    def __str__(self) -> str:
        texts = {
            "birth": f"rule {self.rule} was born" + ("" if self.other is None else f" near rule {self.other}"),
            "merge": f"rule {self.other} was merged into rule {self.rule}",
            "joined": f"rule {self.rule} joined from another classifier",
            "death": f"rule {self.rule} was inactive and was removed",
            "merged by hand": f"rule {self.other} was merged into rule {self.rule} by hand",
        }
        by_hand = f"rule {self.rule} was {self.kind} by hand" + (f": {self.note}" if self.note else "")
        return f"sample {self.sample}: {texts.get(self.kind, by_hand)}"


@dataclass
class RuleNames:
    """Names of rules, and the texts of rules that people wrote, by the identities of the rules."""

    names: dict[int, str] = field(default_factory=dict)
    written: dict[int, str] = field(default_factory=dict)

    def copy(self) -> "RuleNames":
        """Return a copy that can be changed alone."""
        return RuleNames(dict(self.names), dict(self.written))

    def remove(self, rule: int, merged_into: int | None = None) -> None:
        """Remove `rule`. The rule it was merged into loses its text, and takes over the name if it has none."""
        name = self.names.pop(rule, None)
        self.written.pop(rule, None)
        if merged_into is not None:
            self.written.pop(merged_into, None)
            if name is not None:
                self.names.setdefault(merged_into, name)

    def add(self, rule: int, name: str | None) -> None:
        """Add the `name` of a rule that was copied from another rule base; if it is taken, its number is appended."""
        if name is not None:
            self.names[rule] = name if name not in self.names.values() else f"{name} ({rule})"
