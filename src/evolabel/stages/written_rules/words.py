"""Written rules as read-only views: the words of the person, and beside them what the data show."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from evolabel._utils.text import one_line, samples
from evolabel.stages.threshold_rules.path import PathEdge, ThresholdPath
from evolabel.stages.threshold_rules.words import LIKELY_FROM, percent
from evolabel.stages.written_rules.edits.journal import EditedModel
from evolabel.stages.written_rules.expert_reader import read_form
from evolabel.stages.written_rules.rule_forms import written_words
from evolabel.stages.written_rules.stage import own_shares
from evolabel.typing import FloatArray
from evolabel.words.sections import Items, Marks, SectionView, Style


@dataclass(frozen=True)
class WrittenOutcome:
    """What a written rule answers for a label, and what the data show.

    Attributes
    ----------
    label : str
    written : float
        Share of the samples that have the label, as written.
    share : float or None
        The same among the samples of the rule so far; None: there are none.
    support : float
        Samples of the rule so far; the last 2,000 count, older ones fade.
    answer : float or None
        What the rule answers: both together. None: nothing is known, because its confidence is 0.
    is_used : bool
        Whether the rule is used for the label; False where the error is smaller without it, beyond doubt.
    """

    label: str
    written: float
    share: float | None
    support: float
    answer: float | None
    is_used: bool

    @property
    def found(self) -> str:
        """The share as written, and what the data show."""
        data = "no samples so far" if self.share is None else f"{samples(self.support)} so far: {percent(self.share)}"
        doubt = "" if self.is_used else "; worse than without it beyond doubt: it is not used here"
        return f"written: {percent(self.written)}; {data}{doubt}"

    def words(self, style: Style = one_line) -> str:
        """Return the line about the label, with its name in this `style`."""
        return f"{style(self.label)}: {self.found}"


@dataclass(frozen=True)
class WrittenRule(SectionView):
    """One written rule, as it was when it was read.

    Attributes
    ----------
    number : int
    written : str
        The rule in the words of the person, without its name, which may have changed since.
    place : int
        Place in the list, from 1 on: the first rule that holds answers.
    outcomes : tuple of WrittenOutcome
        The labels that it mentions.
    ranges : dict of str to tuple of float
        Both ends of the features that it names, in the units of the features; infinite where there is no end.
    name : str
    locked : bool
    """

    number: int
    written: str
    place: int
    outcomes: tuple[WrittenOutcome, ...]
    ranges: dict[str, tuple[float, float]] = field(repr=False)
    name: str = ""
    locked: bool = False

    @property
    def title(self) -> str:
        """Number, name, lock and place of the rule."""
        name = (f' "{one_line(self.name)}"' if self.name else "") + (", locked" if self.locked else "")
        return f"Rule {self.number}{name}, written, place {self.place}"

    def words(self, style: Style = one_line) -> str:
        """Return the rule in the words of the person on one line, with its number and name, in this `style`."""
        name = f' "{style(self.name)}"' if self.name else ""
        return f"{style(self.written)} (rule {self.number}{name})"

    def claim(self, label: str, style: Style = one_line) -> str:
        """Return on one line what the rule answers for one `label` that it mentions, in this `style`."""
        outcome = next(outcome for outcome in self.outcomes if outcome.label == label)
        conditions = " AND ".join(map(str, read_form(self.written).conditions))
        then = f"{'' if outcome.written >= LIKELY_FROM else 'not '}{style(label)}"
        name = (f' "{one_line(self.name)}"' if self.name else "") + (", locked" if self.locked else "")
        return f"IF {style(conditions)} THEN {then} ({outcome.found}; rule {self.number}{name})"

    def describe(self, style: Style = one_line) -> list[str]:
        """Return the lines below the title, with texts from users in this `style`."""
        return [style(self.written), *(outcome.words(style) for outcome in self.outcomes)]

    def _section(self, marks: Marks) -> tuple[str, list[Items | str]]:
        """Return the title, the words of the person, and what the data show of each label."""
        text, *labels = self.describe(marks.name)
        return marks.plain(self.title), [text, Items(labels)]

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as values that JSON can hold; an infinite end is None."""
        ends = {name: [end if np.isfinite(end) else None for end in both] for name, both in self.ranges.items()}
        return {
            "rule": self.number,
            "name": self.name,
            "locked": self.locked,
            "place": self.place,
            "written": self.written,
            "ranges": ends,
            "then": [asdict(outcome) for outcome in self.outcomes],
        }


def read_written_rules(model: EditedModel, feature_names: list[str], label_names: list[str]) -> list[WrittenRule]:
    """Return the written rules of `model` in their order; its columns are called `feature_names` and `label_names`."""
    if not len(model.written):
        return []
    a, names, own = model.written.arrays, model.trained().rule_names, own_shares(model.written.arrays)
    low, high = (model.sensors.as_read_now(ends) for ends in (a.low, a.high))
    found = []
    for i, number in enumerate(a.number.tolist()):
        named = np.flatnonzero(model.written.named[i]).tolist()
        outcomes = [
            WrittenOutcome(
                label_names[k],
                float(a.shares[i, k]),
                float(a.positives[i, k] / a.rows[i, k]) if a.rows[i, k] > 0.0 else None,
                float(a.rows[i, k]),
                None if np.isnan(own[i, k]) else float(own[i, k]),
                is_used=not a.closed[i, k],
            )
            for k in np.flatnonzero(~np.isnan(a.shares[i])).tolist()
        ]
        found.append(
            WrittenRule(
                number=number,
                written=written_words(i, model, feature_names, label_names),
                place=i + 1,
                outcomes=tuple(outcomes),
                ranges={feature_names[j]: (float(low[i, j]), float(high[i, j])) for j in named},
                name=names.names.get(number, ""),
                locked=model.written.is_locked(i),
            )
        )
    return found


def deciding_rules(
    model: EditedModel, x: FloatArray, names: tuple[list[str], list[str]]
) -> tuple[WrittenRule | None, ...]:
    """Return for each label the written rule of `model` that answers the corrected sample `x`; None where none does.

    `names` are those of features and labels. Empty where no rule was written.
    """
    views = read_written_rules(model, *names)
    if not views:
        return ()
    answers = model.written.answering & model.written.holding(x)[:, None]
    return tuple(views[int(column.argmax())] if column.any() else None for column in answers.T)


def edges_to_cross(model: EditedModel, paths: Sequence[ThresholdPath | None]) -> list[tuple[PathEdge, ...]]:
    """Return for each label the edges of its path in `paths` and the ends of all written rules that answer for it."""
    a = model.written.arrays
    of_rule = [
        [PathEdge(int(j), float(np.nextafter(low[j], -np.inf)), 0.0) for j in np.flatnonzero(np.isfinite(low))]
        + [PathEdge(int(j), float(high[j]), 0.0) for j in np.flatnonzero(np.isfinite(high))]
        for low, high in zip(a.low, a.high, strict=True)
    ]
    of_label = [
        tuple(edge for i in np.flatnonzero(column).tolist() for edge in of_rule[i])
        for column in model.written.answering.T
    ]
    return [
        found if path is None else path.edges + found
        for path, found in zip(paths or [None] * len(of_label), of_label, strict=True)
    ]
