"""Rules as read-only views (`Rule`, `RuleSet`): a few conditions, the likely labels, and what drives them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from evolabel._utils.text import first_names
from evolabel.core.protocols import Model
from evolabel.errors import DataError
from evolabel.explain import rule_text
from evolabel.explain.shortening import (
    FIDELITY,
    Fidelity,
    ShortRules,
    Threshold,
    measure_fidelity,
    reference_rows,
    shorten,
)
from evolabel.explain.statements import RuleCondition, RuleOutcome, rule_outcomes, strongest_drivers
from evolabel.explain.terms import Vocabulary, scaled_moments, stream_terms
from evolabel.explain.text_columns import shares_on, text_features
from evolabel.typing import FloatArray


@dataclass(frozen=True)
class Rule:
    """One rule, eq. (1), as it was when it was read.

    Attributes
    ----------
    identity : int
        Number of the rule, which it keeps for life.
    centre, low, high : arrays of shape (n_features,)
        Centre, and centre minus and plus one spread, in the units of the features.
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
        Share of labels that the shortened rules predict as the full ones do, where this rule is active.
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

    @property
    def spread(self) -> FloatArray:
        """Half the width of the region per feature."""
        return (self.high - self.low) / 2.0

    @property
    def text_shares(self) -> dict[str, float]:
        """How often categorical columns have each of their values, by its 0/1 feature, such as `mode=idle`."""
        texts = text_features(self.feature_names, ~np.isnan(self.shares_on))
        return {
            name: float(share) for name, share in zip(self.feature_names, self.shares_on, strict=True) if name in texts
        }

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
            feature_names=list(features),
            label_names=list(labels),
            conditions=tuple(replace(condition, feature=names[0][condition.feature]) for condition in self.conditions),
            outcomes=tuple(outcome.renamed(*names) for outcome in self.outcomes),
        )

    @property
    def text(self) -> str:
        """The rule in words."""
        return rule_text.rule_to_text(self)

    def markdown(self) -> str:
        """Return the rule in Markdown."""
        return rule_text.rule_to_markdown(self)

    def html(self) -> str:
        """Return the rule as a section of HTML."""
        return rule_text.rule_to_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as values that JSON can hold, with all labels."""
        return rule_text.rule_to_dict(self)

    def __str__(self) -> str:
        return self.text


class RuleSet(list[Rule]):
    """The list of all rules, in the order of their slots.

    Parameters
    ----------
    rules : iterable of Rule
    fidelity : Fidelity, optional
        Fidelity of the shortened rules together; None while there are no rules yet.
    """

    def __init__(self, rules: Iterable[Rule] = (), fidelity: Fidelity | None = None) -> None:
        super().__init__(rules)
        self.fidelity = fidelity

    def top(self, count: int, label: str | None = None) -> "RuleSet":
        """Return the `count` best supported rules, or those in which `label` is most frequent."""
        _check_known(label, self)
        return RuleSet(sorted(self, key=lambda rule: -_weight(rule, label))[:count], self.fidelity)

    @property
    def text(self) -> str:
        """All rules in words."""
        return rule_text.rules_to_text(self, self.fidelity, "text")

    def markdown(self) -> str:
        """Return all rules in Markdown."""
        return rule_text.rules_to_text(self, self.fidelity, "markdown")

    def html(self) -> str:
        """Return all rules as a whole HTML page."""
        return rule_text.rules_to_text(self, self.fidelity, "html")

    def to_dict(self) -> dict[str, Any]:
        """Return all rules as values that JSON can hold."""
        return rule_text.rules_to_dict(self, self.fidelity)

    def __str__(self) -> str:
        return self.text


def _check_known(label: str | None, rules: Sequence[Rule]) -> None:
    if label is not None and rules and label not in rules[0].label_names:
        raise DataError(f"there is no label {label!r}; the labels are {first_names(rules[0].label_names)}")


def _weight(rule: Rule, label: str | None) -> float:
    return rule.support if label is None else float(rule.label_shares[rule.label_names.index(label)])


def read_rules(
    model: Model,
    feature_names: list[str],
    label_names: list[str],
    *,
    rows: FloatArray | None = None,
    fidelity: float = FIDELITY,
    threshold: Threshold = 0.5,
) -> RuleSet:
    """Return all rules of `model`; none while the warm-up lasts, or in a sibling that has not learned yet.

    Parameters
    ----------
    model : Model
    feature_names, label_names : list of str
    rows : array of shape (n, n_features), optional
        Raw rows on which fidelity and activity are reported (missing features at the mean of the stream); by default
        rows drawn from the rules.
    fidelity : float
        Rules are shortened as far as they predict this share of the labels alike, on rows drawn from the rules.
    threshold : array, float or None
        Outputs of at least this much are on; None: the largest output is.
    """
    if model.rules is None or model.rules.n_rules == 0:
        return RuleSet()
    short = shorten(model, fidelity, threshold=threshold)
    tested = reference_rows(model, seed=1) if rows is None else _complete(model, rows)
    found = measure_fidelity(short, tested, threshold)
    words = stream_terms(model, feature_names)
    reader = _Reader(model, short, found, words, label_names, seen=rows is None)
    return RuleSet((reader.rule(i) for i in range(model.rules.n_rules)), found)


def _complete(model: Model, rows: FloatArray) -> FloatArray:
    Z = model.scale(rows)
    return np.where(np.isnan(Z), model.trained().arrays.c[0, : model.n_features], Z)


class _Reader:
    """Quantities of all rules of a model, from which the views of single rules are made."""

    def __init__(
        self,
        model: Model,
        short: ShortRules,
        found: Fidelity,
        words: Vocabulary,
        label_names: list[str],
        *,
        seen: bool,
    ) -> None:
        self.model, self.short, self.found, self.words, self.label_names = model, short, found, words, label_names
        rules, scaler, p = model.trained(), model.scaler, model.n_features
        assert scaler is not None
        a, used = rules.arrays, slice(1, rules.n_rules + 1)
        spread = np.sqrt(rules.variances())
        self.centre = scaler.inverse(a.c[used, :p])
        self.low, self.high = scaler.inverse(a.c[used, :p] - spread), scaler.inverse(a.c[used, :p] + spread)
        self.shares_on = shares_on(scaler, a.c[used, :p])
        self.contrast = np.abs(a.c[used, :p] - a.c[0, :p]) / spread
        self.width = scaled_moments(model)[1]
        shares = [self._shares(slot) for slot in range(rules.n_rules + 1)]
        self.usual, self.shares = shares[0], shares[1:]
        evidence = np.array([rules.hessian(slot)[-1, -1] for slot in range(1, rules.n_rules + 1)])
        self.activity = evidence / max(evidence.sum(), 1e-300) if seen else found.activity

    def rule(self, i: int) -> Rule:
        """Return the view of rule `i`, counted from 0."""
        rules, slot = self.model.trained(), i + 1
        a, names = rules.arrays, self.words.feature_names
        weights = rules.weights(slot)
        ranges = ((names[j], float(self.low[i, j]), float(self.high[i, j])) for j in self.short.kept[i])
        drivers = strongest_drivers(weights[:-1] * self.width[:, None], names)
        outcomes = rule_outcomes(self.label_names, self.shares[i], self.usual, drivers)
        r = np.append(a.c[slot, : self.model.n_features], 1.0)
        return Rule(
            identity=int(a.identity[slot]),
            centre=self.centre[i],
            low=self.low[i],
            high=self.high[i],
            support=float(a.k[slot]),
            born=int(a.born[slot]),
            last_won=int(a.last_won[slot]),
            weights=weights,
            label_shares=self.shares[i],
            feature_names=names,
            label_names=self.label_names,
            contrast=self.contrast[i],
            n_seen=rules.n_seen,
            activity=float(self.activity[i]),
            certainty=float(1.0 / (1.0 + r @ rules.inverse(slot) @ r)),
            fidelity=float(self.found.by_rule[i]),
            conditions=tuple(
                RuleCondition(feature, self.words.term_for(feature, low, high), low, high)
                for feature, low, high in ranges
            ),
            outcomes=tuple(outcomes),
            shares_on=self.shares_on[i],
            name=rules.rule_names.names.get(int(a.identity[slot]), ""),
            locked=bool(a.locked[slot]),
        )

    def _shares(self, slot: int) -> FloatArray:
        """Return how often each label was on among the samples of a slot."""
        rules = self.model.trained()
        evidence = max(float(rules.hessian(slot)[-1, -1]), 1e-300)
        return np.asarray(np.clip(rules.arrays.G[slot, :, -1] / evidence, 0.0, 1.0))
