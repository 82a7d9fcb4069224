"""Learned regions as read-only views (`Rule`, `Regions`): a few conditions, the likely labels, what drives them.

They are printed as plain text, Markdown, HTML and JSON.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from evolabel._utils.text import counted, one_line
from evolabel.explain.answer_parts import AnswerParts
from evolabel.explain.linear_rule import LinearRule
from evolabel.explain.outcomes import RuleOutcome, distinct_outcomes, left_out
from evolabel.explain.shortening import Fidelity
from evolabel.streams.columns import FeatureNames
from evolabel.typing import FloatArray
from evolabel.words.condition_words import RuleCondition, condition_words
from evolabel.words.names import Corrections, correction_note, correction_values
from evolabel.words.sections import DocumentView, Items, Marks, SectionView
from evolabel.words.text_columns import flag_features, text_features

_ORDINARY = "no feature is out of the ordinary"
_NO_CLAIM = "nothing: no label is out of the ordinary, or other parts answer"


@dataclass(frozen=True)
class Rule(SectionView):
    """One rule, eq. (1), as it was when it was read.

    Attributes
    ----------
    identity : int
        Number of the rule, which it keeps for life.
    centre, low, high : arrays of shape (n_features,)
        Centre, and centre minus and plus one spread, in the units of the features, as sensors read now.
    support : float
        Samples that the rule has won.
    born, last_won, n_seen : int
        Sample at which the rule was created, sample it won last, and samples of the stream when it was read.
    weights : array of shape (n_features + 1, n_labels)
        The consequents W_i, on scaled features, with the intercept last.
    label_shares : array of shape (n_labels,)
        How often each label was on among the samples of the rule; labels that were not annotated count as predicted.
    feature_names, label_names : list of str
    contrast : array of shape (n_features,)
        Distance of the centre from the mean of the stream, in spreads of the rule.
    activity : float
        The rule's share of what was learned, or of the memberships of the rows it was read with.
    certainty : float
        1 / (1 + r'Pr) at the centre: how little one more sample there could change the weights.
    fidelity : float
        Share of labels that the shortened rules alone predict as the whole model does, where this rule is active.
    conditions : tuple of RuleCondition
        The features that the shortened rule keeps, the most distinctive first.
    outcomes : tuple of RuleOutcome
        All labels, those that differ most from the stream first.
    shares_on : array of shape (n_features,)
        How often each feature is 1 in the rule; NaN where it had other values than 0 and 1.
    name : str
        The name that a person gave the rule; empty for none.
    locked : bool
        Whether a person has locked the rule.
    corrections : dict of str to SensorCorrection
        Sensors that have moved, by the names of their features.
    parts : dict of str to AnswerParts
        Which part of the model answers each label, by name.
    n_usual : int
        Recent samples of which the usual shares are; 0: all that the rules count.
    """

    identity: int
    centre: FloatArray
    low: FloatArray
    high: FloatArray
    support: float
    born: int
    last_won: int
    weights: FloatArray
    label_shares: FloatArray
    feature_names: list[str] = field(repr=False)
    label_names: list[str] = field(repr=False)
    contrast: FloatArray = field(repr=False)
    n_seen: int
    activity: float
    certainty: float
    fidelity: float
    conditions: tuple[RuleCondition, ...] = field(repr=False)
    outcomes: tuple[RuleOutcome, ...] = field(repr=False)
    shares_on: FloatArray = field(repr=False)
    name: str = ""
    locked: bool = False
    corrections: Corrections = field(default_factory=dict, repr=False)
    parts: Mapping[str, AnswerParts] = field(default_factory=dict, repr=False)
    n_usual: int = 0

    @property
    def claims(self) -> tuple[RuleOutcome, ...]:
        """The outcomes that are printed: of labels that rules answer, and that differ clearly from the stream."""
        return distinct_outcomes(self.outcomes)

    @property
    def spread(self) -> FloatArray:
        """Half the width of the region per feature."""
        return (self.high - self.low) / 2.0

    @property
    def text_shares(self) -> dict[str, float]:
        """How often categorical columns have each of their values, by its 0/1 feature `mode=idle`; flags: are true."""
        worded = text_features(self.feature_names, ~np.isnan(self.shares_on)) | flag_features(self.feature_names)
        shares = zip(self.feature_names, self.shares_on.tolist(), strict=True)
        return {name: share for name, share in shares if name in worded and not np.isnan(share)}

    @property
    def idle(self) -> int:
        """Number of samples since the rule last won one."""
        return self.n_seen - self.last_won

    @property
    def dropped(self) -> int:
        """Number of features that the shortened rule ignores."""
        return len(self.feature_names) - len(self.conditions)

    def renamed(self, features: Sequence[str], labels: Sequence[str]) -> "Rule":
        """Return a copy whose columns are called `features` and `labels`."""
        names = dict(zip(self.feature_names, features, strict=True)), dict(zip(self.label_names, labels, strict=True))
        return replace(
            self,
            feature_names=features if isinstance(features, FeatureNames) else list(features),
            label_names=list(labels),
            conditions=tuple(replace(condition, feature=names[0][condition.feature]) for condition in self.conditions),
            outcomes=tuple(outcome.renamed(*names) for outcome in self.outcomes),
            corrections={names[0][feature]: found for feature, found in self.corrections.items()},
            parts={names[1][label]: shares for label, shares in self.parts.items()},
        )

    def condition_words(self) -> list[tuple[str, str, str]]:
        """Return each condition as the feature or column, its term or text, and the numbers behind it."""
        return condition_words(self.conditions, self.text_shares)

    @property
    def notes(self) -> list[str]:
        """What is printed last: labels left out, corrected sensors, and the age and fidelity of the rule."""
        missing = left_out(self.outcomes, self.parts)
        named = [name for name, *_ in self.condition_words()] + [d.feature for o in self.claims for d in o.drivers]
        corrected = correction_note(self.corrections, named)
        return [*([f"Left out: {missing}."] if missing else []), *([corrected] if corrected else []), _life(self)]

    def _section(self, marks: Marks) -> tuple[str, list[Items | str]]:
        """Return number and support as title, the conditions, the labels that are claimed, and the notes."""
        conditions = [
            f"{marks.name(name)} is {marks.strong(value)} ({marks.plain(proof)})"
            for name, value, proof in self.condition_words()
        ]
        labels = [
            f"{marks.name(o.label)} is {marks.strong(o.judgement)} here ({o.shares})"
            f"{marks.plain(o.driven(self.text_shares))}"
            for o in self.claims
        ]
        return marks.plain(_title(self)), [
            Items(conditions or [_ORDINARY], "IF  ", "AND ", end="THEN"),
            Items(labels or [_NO_CLAIM], "THEN ", " and "),
            *map(marks.plain, self.notes),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as values that JSON can hold, with all its labels."""
        return {
            "rule": self.identity,
            "name": self.name,
            "locked": self.locked,
            "if": [asdict(condition) for condition in self.conditions],
            "then": [{**asdict(outcome), "drivers": list(map(asdict, outcome.drivers))} for outcome in self.outcomes],
            "support": self.support,
            "born": self.born,
            "last_won": self.last_won,
            "n_seen": self.n_seen,
            "activity": self.activity,
            "certainty": self.certainty,
            "fidelity": self.fidelity,
            "dropped": self.dropped,
            "corrections": correction_values(self.corrections),
            "usual_of": self.n_usual,
        }


class Regions(DocumentView, list[Rule]):
    """Learned regions as a view that is printed, in the order of their slots.

    Those that conclude nothing, or whose labels other parts answer, are in the list and are not printed.

    Parameters
    ----------
    rules : iterable of Rule
    fidelity : Fidelity, optional
        Fidelity of the shortened regions together; None while there are none yet.
    linear : LinearRule, optional
        The linear member, of a classifier that follows drift; it is printed last, where it answers.
    n_all : int, optional
        Number of all regions, where these are some of them.
    """

    _title = "Regions"

    def __init__(
        self,
        rules: Iterable[Rule] = (),
        fidelity: Fidelity | None = None,
        linear: LinearRule | None = None,
        *,
        n_all: int | None = None,
    ) -> None:
        super().__init__(rules)
        self.fidelity = fidelity
        self.linear = linear
        self.n_all = len(self) if n_all is None else n_all

    @property
    def _blocks(self) -> list[str | SectionView]:
        """Return the summary, regions that claim something, then the linear part."""
        silent = sum(not rule.claims for rule in self)
        why = "nothing is out of the ordinary there, other parts answer, or the whole model predicts otherwise"
        hidden = [f"{counted(silent, 'region')} not printed: {why}."] if silent else []
        linear = [self.linear] if self.linear is not None and self.linear.shown else []
        return [summary(self), *hidden, *(rule for rule in self if rule.claims), *linear]

    def to_dict(self) -> dict[str, Any]:
        """Return all regions as values that JSON can hold."""
        whole = self.fidelity
        found = (
            None
            if whole is None
            else {"labels": whole.labels, "positives": whole.positives, "given_rows": whole.n_given}
        )
        return {
            "fidelity": found,
            "rules": [rule.to_dict() for rule in self],
            "linear": None if self.linear is None else self.linear.to_dict(),
            "corrections": correction_values(self[0].corrections) if self else {},
        }


def summary(regions: Regions) -> str:
    """Return one line: how many `regions`, how many features they keep, and the fidelity of the shortened ones."""
    if regions.fidelity is None:
        return "There are no regions yet."
    if not regions:
        return "No region is listed."
    kept = sum(len(rule.conditions) for rule in regions) / len(regions)
    some = f"{len(regions)} of " if len(regions) < regions.n_all else ""
    return (
        f"{some}{counted(regions.n_all, 'region')} with {kept:.3g} of {len(regions[0].feature_names)} features each; "
        f"so shortened, they alone predict {regions.fidelity.labels:.1%} of the labels as the whole model does, "
        f"on {regions.fidelity.rows}."
    )


def _title(rule: Rule) -> str:
    """Return number, name and support of a rule."""
    name = (f' "{one_line(rule.name)}"' if rule.name else "") + (", locked" if rule.locked else "")
    return f"Rule {rule.identity}{name} ({rule.support:.0f} samples, {rule.activity:.0%} of the activity)"


def _life(rule: Rule) -> str:
    """Return age, certainty and fidelity of a rule."""
    won = "won the last sample" if rule.idle == 0 else f"last won {counted(rule.idle, 'sample')} ago"
    dropped = f"{counted(rule.dropped, 'feature')} dropped, " if rule.dropped else ""
    usual = f" Usual shares are those of the last {rule.n_usual:,} samples." if 0 < rule.n_usual < rule.n_seen else ""
    return (
        f"Born at sample {rule.born} of {rule.n_seen}, {won}; certainty {rule.certainty:.0%}; "
        f"{dropped}fidelity here {rule.fidelity:.0%}.{usual}"
    )
