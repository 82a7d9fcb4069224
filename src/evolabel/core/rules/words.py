"""What people have said about rules, by the rules' identities: their names, and the rules as they were written."""

from dataclasses import dataclass, field


@dataclass
class Words:
    """Names of rules, and the text of rules that people wrote."""

    names: dict[int, str] = field(default_factory=dict)
    written: dict[int, str] = field(default_factory=dict)

    def copy(self) -> "Words":
        """The same words, to be changed apart."""
        return Words(dict(self.names), dict(self.written))

    def gone(self, rule: int, heir: int | None = None) -> None:
        """A rule is gone. The one it was merged into is no longer as written, and inherits the name if it has none."""
        name = self.names.pop(rule, None)
        self.written.pop(rule, None)
        if heir is not None:
            self.written.pop(heir, None)
            if name is not None:
                self.names.setdefault(heir, name)

    def welcome(self, rule: int, name: str | None) -> None:
        """A rule comes from another rule base, with its name; a name that is taken gets the rule's number."""
        if name is not None:
            self.names[rule] = name if name not in self.names.values() else f"{name} ({rule})"
