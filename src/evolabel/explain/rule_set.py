"""`RuleSet`: what an operator reads of a model, label by label, and its learned regions on request."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evolabel._utils.text import counted, first_names, one_line
from evolabel.errors import DataError
from evolabel.explain.answer_parts import PART_NAMES, AnswerParts, parts_values, some_names
from evolabel.explain.linear_rule import LinearRule
from evolabel.explain.rules import Regions, Rule
from evolabel.explain.shortening import Fidelity
from evolabel.stages.threshold_rules.words import LabelRules, percent
from evolabel.stages.written_rules.words import WrittenRule
from evolabel.words.sections import DocumentView, Items, Marks, SectionView

NO_THRESHOLD = "No threshold was found that improves on the learned regions."
_NO_RULES = "There are no rules yet."
_LEAST_SHARE = 0.005  # of a part in the answers of a label that is printed
_MOST_PERSISTENT = 5  # labels whose answers persist that are named
_ROWS = 1000  # of which it is printed how many answers they count for


@dataclass(frozen=True)
class RulesOfLabel(SectionView):
    """The `written` rules that mention a `label`, of which the first that holds answers, and its `threshold` rules."""

    label: str
    written: tuple[WrittenRule, ...] = ()
    threshold: LabelRules | None = None

    def _section(self, marks: Marks) -> tuple[str, list[Items | str]]:
        """Return a heading with the label, and the rules, one per line."""
        counts = "" if self.threshold is None else self.threshold.counts
        lines = [rule.claim(self.label, marks.name) for rule in self.written]
        lines += [] if self.threshold is None else self.threshold.lines(marks.rule_name)
        return f"Rules for {marks.plain(self.label)}{counts}", [Items(lines)]


class RuleSet(DocumentView, list[Rule]):
    """The rules of a model, as it was when they were read.

    Printed are, label by label, the rules that people wrote and the threshold rules, then one sentence about the
    learned regions. The list itself has these regions, in the order of their slots; `regions` prints them.

    Parameters
    ----------
    rules : iterable of Rule
    fidelity : Fidelity, optional
        Fidelity of the shortened regions together; None while there are no rules yet.
    linear : LinearRule, optional
        The linear member, of a classifier that follows drift.
    written : iterable of WrittenRule
        Rules that people wrote, in their order.
    threshold_rules : iterable of LabelRules
        Threshold rules of the labels for which they are used.
    left_out : iterable of str
        Features that threshold rules do not split on, because they only rise or only fall.
    searched : bool
        Whether thresholds were looked for in enough rows to print that there are none.
    n_all : int, optional
        Number of all regions, where these are some of them.
    parts : dict of str to AnswerParts, optional
        Which part of the model answers each label, by name.
    independent : dict of str to float, optional
        How many independent answers one answer of each label counts for, by name; it is printed where that is below 1.
    """

    _title = "Rules"

    def __init__(
        self,
        rules: Iterable[Rule] = (),
        fidelity: Fidelity | None = None,
        linear: LinearRule | None = None,
        *,
        written: Iterable[WrittenRule] = (),
        threshold_rules: Iterable[LabelRules] = (),
        left_out: Iterable[str] = (),
        searched: bool = False,
        n_all: int | None = None,
        parts: Mapping[str, AnswerParts] | None = None,
        independent: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(rules)
        self.regions = Regions(self, fidelity, linear, n_all=n_all)
        self.written = tuple(written)
        self.threshold_rules = tuple(threshold_rules)
        self.left_out = tuple(left_out)
        self.searched = searched
        self.parts = dict(parts or {})
        self.independent = dict(independent or {})

    @property
    def fidelity(self) -> Fidelity | None:
        """Fidelity of the shortened regions together; None while there are no rules yet."""
        return self.regions.fidelity

    @property
    def linear(self) -> LinearRule | None:
        """The linear member, of a classifier that follows drift."""
        return self.regions.linear

    @property
    def labels(self) -> tuple[RulesOfLabel, ...]:
        """The rules of each label that has any: what is printed."""
        trees = {found.label: found for found in self.threshold_rules if found.n_shown}
        names = dict.fromkeys([*self.parts, *trees, *(o.label for rule in self.written for o in rule.outcomes)])
        found = [RulesOfLabel(name, self._written_for(name), trees.get(name)) for name in names]
        return tuple(each for each in found if each.written or each.threshold)

    def _written_for(self, label: str) -> tuple[WrittenRule, ...]:
        return tuple(rule for rule in self.written if label in (outcome.label for outcome in rule.outcomes))

    @property
    def notes(self) -> list[str]:
        """What is printed last: which other parts answer, and how much, and how answers persist."""
        if not self.regions and self.regions.fidelity is None:
            return [_NO_RULES]
        none = [NO_THRESHOLD] if self.searched and not self.threshold_rules else []
        others = other_parts(self.parts, self.regions.n_all)
        return [*none, others, *persistence_lines(self.independent), *_left_out_lines(self.left_out)]

    @property
    def _blocks(self) -> list[str | SectionView]:
        return [*self.labels, *self.notes]

    def top(self, count: int, label: str | None = None) -> "RuleSet":
        """Return the rules with the `count` best supported regions, or those in which `label` is most frequent.

        Written rules and threshold rules stay, those about `label` if it is given.
        """
        if label is not None and self and label not in self[0].label_names:
            raise DataError(f"there is no label {label!r}; the labels are {first_names(self[0].label_names)}")

        def weight(rule: Rule) -> float:
            return rule.support if label is None else float(rule.label_shares[rule.label_names.index(label)])

        return RuleSet(
            sorted(self, key=weight, reverse=True)[:count],
            self.fidelity,
            self.linear,
            written=self.written if label is None else self._written_for(label),
            threshold_rules=[each for each in self.threshold_rules if label in (None, each.label, each.rest_label)],
            left_out=self.left_out,
            searched=self.searched,
            n_all=self.regions.n_all,
            parts=self.parts if label is None else {label: self.parts[label]} if label in self.parts else {},
            independent={name: n for name, n in self.independent.items() if label in (None, name)},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all rules, regions included, as values that JSON can hold."""
        return {
            "parts": parts_values(self.parts),
            "independent_answers": self.independent,
            "written": [rule.to_dict() for rule in self.written],
            "threshold_rules": [label.to_dict() for label in self.threshold_rules],
            "notes": self.notes,
            **self.regions.to_dict(),
        }


def other_parts(parts: Mapping[str, AnswerParts], n_regions: int) -> str:
    """Return one sentence: how much of each label other parts than written and threshold rules answer.

    `parts` are the shares by label, and `n_regions` is how many learned regions there are.
    """
    found = []
    for part, name in PART_NAMES.items():
        shares = {label: getattr(share, part) for label, share in parts.items()}
        if part == "rules":
            found.append(f"{counted(n_regions, 'learned region')} ({_shares(shares) or 'under 1 % of any label'})")
        elif part not in ("threshold_rules", "written") and (text := _shares(shares)):
            found.append(f"the {name} ({text})")
    *others, last = found
    rest = f"{', '.join(others)} and {last}" if others else last
    return f"The rest is answered by {rest}. Regions on request: clf.rules_.regions, `evolabel rules --regions`."


def _left_out_lines(names: Sequence[str]) -> list[str]:
    """Return one line about the features with these `names`, which are not split on; none where there are none."""
    if not names:
        return []
    why = "which only rise or only fall" if len(names) > 1 else "which only rises or only falls"
    return [f'No thresholds of {some_names(names)}, {why}; threshold_rules="counters" allows them.']


def _shares(shares: Mapping[str, float]) -> str:
    """Return the labels with the largest of the `shares`, and their shares; labels with the same share together."""
    groups: dict[str, list[str]] = {}
    for label, share in sorted(shares.items(), key=lambda pair: -pair[1]):
        if share >= _LEAST_SHARE:
            groups.setdefault(percent(round(share, 2)), []).append(one_line(label))
    return some_names([f"{some_names(labels)} {share}" for share, labels in groups.items()])


def persistence_lines(independent: Mapping[str, float]) -> list[str]:
    """Return one line about how many answers 1,000 rows count for, or none where each row counts for one.

    `independent` has, by label, how many independent answers one answer counts for.

    Examples
    --------
    >>> persistence_lines({"leak": 0.04, "wear": 1.0})
    ['Answers persist: 1,000 rows count for 40 (leak), 1,000 (all other labels).']
    """
    if not independent or min(independent.values()) >= 1.0:
        return []
    lowest = dict(sorted(independent.items(), key=lambda item: item[1])[:_MOST_PERSISTENT])
    named = {name: n for name, n in lowest.items() if n < 1.0}
    counts = {_count(n) for n in independent.values()}
    if len(counts) == 1:
        return [f"Answers persist: {_ROWS:,} rows count for {counts.pop()}."]
    parts = [f"{_count(n)} ({name})" for name, n in named.items()]
    rest = [n for name, n in independent.items() if name not in named]
    if rest:
        more = f"{_count(min(rest))}{'' if min(rest) >= 1.0 else ' or more'}"
        parts.append(f"{more} (all other labels)")
    return [f"Answers persist: {_ROWS:,} rows count for {', '.join(parts)}."]


def _count(n: float) -> str:
    """Return the independent answers in 1,000 rows of which one counts for `n`, as text."""
    return f"{max(1, round(_ROWS * n)):,}"
