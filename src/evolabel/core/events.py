"""Changes of the rules in the order of the stream, and the names and texts that people gave to rules."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NamedTuple, Protocol

from evolabel._utils.text import change_text
from evolabel.core.stored_checks import MOST
from evolabel.errors import DataError

# Edits of a rule by a person.
EDITS = ("added", "edited", "renamed", "locked", "unlocked", "moved", "merged by hand", "deleted")
# Changes of the stream: a label has another meaning; it is predicted as well as before; its new error counts as usual;
# the rules were learned anew from recent rows; a sensor reads other values, and is corrected; a feature has other
# values, and is not; the correction of a sensor has stopped helping, and is taken back.
SHIFTS = ("drift", "recovered", "settled", "renewed", "sensor moved", "inputs moved", "correction dropped")
# Changes of a threshold rule: its use begins, an edge of its path has moved, or it is no more.
THRESHOLD_CHANGES = ("rule found", "edge moved", "rule gone")
# Changes of a written rule: without it the error is smaller beyond doubt, so it is not used; it is used again; it is
# no more, because a feature that it names is gone.
WRITTEN_CHANGES = ("rule contradicted", "rule restored", "rule dropped")
# What a stage of a user has logged; the note has what it is.
STAGE_EVENT = "stage"
# Note of a drift whose errors are those of the samples with the label, or predicted to have it.
OF_POSITIVES = "positives"
EVENT_KINDS = ("birth", "merge", "death", "joined", *EDITS, *SHIFTS, *THRESHOLD_CHANGES, *WRITTEN_CHANGES, STAGE_EVENT)
MERGES = ("merge", "merged by hand")


class Event(NamedTuple):
    """One change of the rule base, or of the stream.

    `kind` is "birth", "merge", "death", "joined" (copied from another classifier), one of `EDITS`, of `SHIFTS`, of
    `THRESHOLD_CHANGES`, of `WRITTEN_CHANGES`, or "stage" (of a stage of a user).
    `rule` is the identity of the rule created, kept, removed, joined or edited, None for a shift or of a stage. `other`
    is the nearest rule at a birth (None for the first), the rule merged into `rule` at a merge, the learned rule in
    front of which `rule` was added, else None. `note` is the text of a person: a rule, a name.

    `sample` is the number of samples learned. Of a shift, where drift is followed, it is the number of rows of the
    stream, answered or not.

    Of a shift, `label` is the number or name of the label that has drifted, recovered or settled, else None; `before`
    and `after` are its mean squared errors in calm times and at this sample, of a drift at least what raises an alarm,
    or those of the samples alone that have it or were predicted to, where the note is "positives" (`OF_POSITIVES`);
    `rows` are the rows of the stream since the drift, and those that renewed rules were learned from. `feature` is the
    number or name of a feature that has moved, `before` and `after` are then its means, and `deviations` is their
    difference in standard deviations; where its correction is dropped, they are its mean as corrected until now, and
    as read from now on.

    Of a threshold rule, `label` is its label and `note` is the rule in words (inside the model its path, in numbers);
    of a rule that is gone, as it was at its last event. Where an edge has moved, `feature` is that of the edge,
    `before` and `after` are its places, and `rule` is the rule of most samples below it.

    Of a stage, `note` has its name and what it has logged; `label`, `feature`, `before`, `after` and `rows` are as it
    has given them.

    Of a written rule that is contradicted or restored, `label` is the label, `before` its share as written, `after`
    that in the `rows` of the rule so far.
    """

    sample: int
    kind: str
    rule: int | None
    other: int | None
    note: str = ""
    label: int | str | None = None
    feature: int | str | None = None
    before: float = 0.0
    after: float = 0.0
    deviations: float = 0.0
    rows: int = 0

    def __str__(self) -> str:
        texts = {
            "birth": f"rule {self.rule} was born" + ("" if self.other is None else f" near rule {self.other}"),
            "merge": f"rule {self.other} was merged into rule {self.rule}",
            "joined": f"rule {self.rule} joined from another classifier",
            "death": f"rule {self.rule} was inactive and was removed",
            "merged by hand": f"rule {self.other} was merged into rule {self.rule} by hand",
        }
        if self.kind in SHIFTS:
            return f"sample {self.sample}: {self._shift()}"
        if self.kind == STAGE_EVENT:
            return f"sample {self.sample}: {self._logged()}"
        if self.kind in THRESHOLD_CHANGES or self.kind in WRITTEN_CHANGES:
            return f"sample {self.sample}: {self._change()}"
        return f"sample {self.sample}: {texts.get(self.kind) or self._edit()}"

    @property
    def by_person(self) -> bool:
        """Whether the event is an edit by a person."""
        return self.kind in EDITS

    def named(self, features: Sequence[str], labels: Sequence[str]) -> "Event":
        """Return the event with a name, one of `features` or `labels`, in place of the number of a feature or label."""
        event = self
        if isinstance(self.label, int) and self.label < len(labels):
            event = event._replace(label=labels[self.label])
        if isinstance(self.feature, int) and self.feature < len(features):
            event = event._replace(feature=features[self.feature])
        return event  # a feature that is gone keeps its number

    def _edit(self) -> str:
        """Return an edit of a person in words."""
        front = "" if self.other is None else f" in front of rule {self.other}"
        return f"rule {self.rule} was {self.kind} by hand{front}" + (f": {self.note}" if self.note else "")

    def _change(self) -> str:
        """Return a change of a threshold rule or of a written rule in words."""
        label, feature = (f'"{name}"' if isinstance(name, str) else str(name) for name in (self.label, self.feature))
        found = f"written {self.before:.0%}, in {self.rows:,} samples so far {self.after:.0%}"
        unused = f"rule {self.rule} is no longer used for label {label}, whose error is smaller without it"
        texts = {
            "rule found": f"threshold rule {self.rule} for label {label} was found",
            "edge moved": f"an edge of label {label} moved: {feature} {change_text(self.before, self.after)}",
            "rule gone": f"threshold rule {self.rule} for label {label} is gone",
            "rule contradicted": f"{unused}: {found}",
            "rule restored": f"rule {self.rule} is used for label {label} again: {found}",
            "rule dropped": f"rule {self.rule} was removed, because a feature that it names is gone",
        }
        word = ", now" if self.kind == "edge moved" else ":"
        return texts[self.kind] + (f"{word} {self.note}" if self.note.startswith("IF ") else "")

    def _logged(self) -> str:
        """Return what a stage of a user has logged."""
        named = (("label", self.label), ("feature", self.feature))
        about = [
            f"{what} {name!r}" if isinstance(name, str) else f"{what} {name}"
            for what, name in named
            if name is not None
        ]
        if (self.before, self.after) != (0.0, 0.0):
            about.append(change_text(self.before, self.after))
        return self.note + (f" ({', '.join(about)})" if about else "")

    def _shift(self) -> str:
        """Return a shift in words."""
        about = self.feature if self.label is None else self.label
        quoted = f'"{about}"' if isinstance(about, str) else str(about)
        name, feature = f"label {quoted}", f"{quoted} moved by {self.deviations:+.1f} deviations"
        errors = (
            f"error{' where it is or is predicted' * (self.note == OF_POSITIVES)} {self.before:.3f} -> {self.after:.3f}"
        )
        texts = {
            "drift": f"{name} has changed its meaning ({errors})",
            "recovered": f"{name} is predicted as well as before, after {self.rows:,} rows ({errors})",
            "settled": f"{name} has kept its new error for {self.rows:,} rows ({errors})",
            "renewed": f"the rules were renewed from the last {self.rows:,} rows",
            "sensor moved": f"sensor {feature} ({change_text(self.before, self.after)}); its readings are corrected",
            "inputs moved": f"feature {feature} ({change_text(self.before, self.after)}): the inputs, not the sensor",
            "correction dropped": (
                f"the correction of {quoted} no longer helps, and is dropped ({change_text(self.before, self.after)})"
            ),
        }
        return texts[self.kind]


@dataclass
class RuleNames:
    """Names of rules, and the texts of rules that people wrote, by the identities of the rules."""

    names: dict[int, str] = field(default_factory=dict)
    texts: dict[int, str] = field(default_factory=dict)

    def copy(self) -> "RuleNames":
        """Return a copy that can be changed alone."""
        return RuleNames(dict(self.names), dict(self.texts))

    def remove(self, rule: int, merged_into: int | None = None) -> None:
        """Remove `rule`. The rule it was merged into takes over the name if it has none."""
        name = self.names.pop(rule, None)
        self.texts.pop(rule, None)
        if merged_into is not None and name is not None:
            self.names.setdefault(merged_into, name)

    def add(self, rule: int, name: str | None) -> None:
        """Add the `name` of a rule that was copied from another rule base; if it is taken, its number is appended."""
        if name is not None:
            self.names[rule] = name if name not in self.names.values() else f"{name} ({rule})"


class EventLog(Protocol):
    """Takes the events of all stages, numbers rules, and has their names."""

    rule_names: RuleNames

    def new_number(self) -> int:
        """Return the number of a new rule."""

    def log(
        self, kind: str, rule: int | None, other: int | None, note: str = "", *, sample: int | None = None, **about: Any
    ) -> None:
        """Append an `Event` of this `kind`, about a `rule`, an `other` one, a label or a feature.

        It belongs to the `sample`, by default the last one that was learned.
        """


class StageLog:
    """The log of a stage of a user: its events have its `name`, and belong to a `sample`, by default the last one.

    What they are about is checked when they are added to `log`.
    """

    def __init__(self, name: str, log: EventLog, sample: int | None = None) -> None:
        self._name, self._log, self._sample = name, log, sample

    def at(self, sample: int | None) -> "StageLog":
        """Return the same log for events of this `sample`."""
        return StageLog(self._name, self._log, sample)

    def log(
        self,
        text: str,
        *,
        label: int | None = None,
        feature: int | None = None,
        before: float = 0.0,
        after: float = 0.0,
        rows: int = 0,
    ) -> None:
        """Append an event with this `text`, about a label or a feature, by number, if one is given."""
        whole = {"label": label, "feature": feature, "rows": rows}
        if any(number is not None and not (int(number) == number and 0 <= number <= MOST) for number in whole.values()):
            raise DataError(f"an event has {whole}; pass whole numbers from 0 to {MOST}")
        levels = float(before), float(after)
        if not all(map(isfinite, levels)):
            raise DataError(f"an event has the levels {levels}; pass finite numbers")
        about: dict[str, Any] = {name: None if number is None else int(number) for name, number in whole.items()}
        note = f"{self._name}: {text}"
        self._log.log(STAGE_EVENT, None, None, note, sample=self._sample, before=levels[0], after=levels[1], **about)


def give_name(rule_names: RuleNames, rule: int, name: str) -> None:
    """Give the `rule` a `name` in `rule_names`; "": none. DataError if it is a number, or taken."""
    if not name:
        return
    if not isinstance(name, str) or name.isdecimal():
        raise DataError(f"{name!r} cannot be a name, as rules are called by number, too; use text that is no number")
    for other, taken in rule_names.names.items():
        if taken == name and other != rule:
            raise DataError(f"rule {other} is called {name!r} already; choose another name")
    rule_names.names[rule] = name
