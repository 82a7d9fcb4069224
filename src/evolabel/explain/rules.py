"""Rules as views a person can read: IF few features are such, THEN these labels are likely, and why."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from evolabel.core.model import StreamModel
from evolabel.errors import DataError
from evolabel.explain import rule_text
from evolabel.explain.reference import reference_rows
from evolabel.explain.shortening import FIDELITY, Fidelity, ShortRules, Threshold, measure, shorten
from evolabel.explain.statements import Condition, Outcome, judge, read_condition, read_drivers
from evolabel.explain.terms import Vocabulary, stream_moments, stream_terms
from evolabel.explain.text_columns import shares_on, text_features
from evolabel.typing import FloatArray


@dataclass(frozen=True)
class Rule:
    """One rule, eq. (1).

    `centre`, `low` and `high` (centre minus and plus one spread) are in the units of the features; `weights` are the
    consequents W_i, (n_features + 1, n_labels), on scaled features with the intercept last. `label_shares` is how
    often each label was on among the samples of the rule; labels nobody annotated count as the rule predicted them.

    `conditions` are the features that the shortened rule looks at, the most telling first, and `fidelity` the share of
    labels that the shortened rules predict as the full ones do, where this rule speaks. `activity` is the rule's share
    of what was learned (or of the rows it was read with), `certainty` 1 / (1 + r'Pr) at the centre: how little one more
    sample there could change the weights. `n_seen` is the age of the stream when the rule was read. `shares_on` is how
    often each feature is 1 in the rule, NaN where it is not known to be 0 or 1.
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
    conditions: tuple[Condition, ...] = field(repr=False)
    outcomes: tuple[Outcome, ...] = field(repr=False)
    shares_on: FloatArray = field(repr=False)
    name: str = ""
    locked: bool = False

    @property
    def spread(self) -> FloatArray:
        """Half the width of the region per feature."""
        return (self.high - self.low) / 2.0

    @property
    def text_shares(self) -> dict[str, float]:
        """How often columns of texts have each of their values, by the feature that stands for it, as `mode=idle`."""
        texts = text_features(self.feature_names, ~np.isnan(self.shares_on))
        return {
            name: float(share) for name, share in zip(self.feature_names, self.shares_on, strict=True) if name in texts
        }

    @property
    def idle(self) -> int:
        """Samples since the rule last won one."""
        return self.n_seen - self.last_won

    @property
    def dropped(self) -> int:
        """Features that the shortened rule does not look at."""
        return len(self.feature_names) - len(self.conditions)

    def renamed(self, features: Sequence[str], labels: Sequence[str]) -> "Rule":
        """The same rule under other names of its features and labels."""
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
        return rule_text.plain(self)

    def markdown(self) -> str:
        """The rule in Markdown."""
        return rule_text.markdown(self)

    def html(self) -> str:
        """The rule as a piece of HTML."""
        return rule_text.html(self)

    def to_dict(self) -> dict[str, Any]:
        """The rule as values that JSON can hold, all labels included."""
        return rule_text.document(self)

    def __str__(self) -> str:
        return self.text


class RuleSet(list[Rule]):
    """All rules, in the order of their slots, with the fidelity of their shortened forms together.

    `fidelity` is None while the warm-up lasts and there are no rules yet.
    """

    def __init__(self, rules: Iterable[Rule] = (), fidelity: Fidelity | None = None) -> None:
        super().__init__(rules)
        self.fidelity = fidelity

    def top(self, count: int, label: str | None = None) -> "RuleSet":
        """The best supported rules, or those in which a label is most frequent."""
        _check_known(label, self)
        return RuleSet(sorted(self, key=lambda rule: -_weight(rule, label))[:count], self.fidelity)

    @property
    def text(self) -> str:
        """All rules in words."""
        return rule_text.whole(self, self.fidelity, "text")

    def markdown(self) -> str:
        """All rules in Markdown."""
        return rule_text.whole(self, self.fidelity, "markdown")

    def html(self) -> str:
        """All rules as a whole HTML page."""
        return rule_text.whole(self, self.fidelity, "html")

    def to_dict(self) -> dict[str, Any]:
        """All rules as values that JSON can hold."""
        return rule_text.whole_document(self, self.fidelity)

    def __str__(self) -> str:
        return self.text


def _check_known(label: str | None, rules: Sequence[Rule]) -> None:
    if label is not None and rules and label not in rules[0].label_names:
        raise DataError(f"there is no label {label!r}; the model knows {', '.join(rules[0].label_names)}")


def _weight(rule: Rule, label: str | None) -> float:
    return rule.support if label is None else float(rule.label_shares[rule.label_names.index(label)])


def read_rules(
    model: StreamModel,
    feature_names: list[str],
    label_names: list[str],
    *,
    rows: FloatArray | None = None,
    fidelity: float = FIDELITY,
    threshold: Threshold = 0.5,
) -> RuleSet:
    """All rules of a model; none while the warm-up lasts, or in a sibling that has not learned yet.

    The rules are shortened as far as they keep `fidelity` on rows like the stream's. It is reported on the raw `rows`,
    if there are any (missing features at the mean of the stream), else on other rows like the stream's.
    """
    if model.rules is None or model.rules.n_rules == 0:
        return RuleSet()
    short = shorten(model, fidelity, threshold=threshold)
    found = measure(short, reference_rows(model, seed=1) if rows is None else _complete(model, rows), threshold)
    words = stream_terms(model, feature_names)
    reader = _Reader(model, short, found, words, label_names, seen=rows is None)
    return RuleSet((reader.rule(i) for i in range(model.rules.n_rules)), found)


def _complete(model: StreamModel, rows: FloatArray) -> FloatArray:
    Z = model.scale(rows)
    return np.where(np.isnan(Z), model.trained().arrays.c[0, : model.n_features], Z)


class _Reader:
    """What all rules of a model have in common while they are read."""

    def __init__(
        self,
        model: StreamModel,
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
        self.width = stream_moments(model)[1]
        shares = [self._shares(slot) for slot in range(rules.n_rules + 1)]
        self.usual, self.shares = shares[0], shares[1:]
        evidence = np.array([rules.hessian(slot)[-1, -1] for slot in range(1, rules.n_rules + 1)])
        self.activity = evidence / max(evidence.sum(), 1e-300) if seen else found.activity

    def rule(self, i: int) -> Rule:
        """The view of rule i."""
        rules, slot = self.model.trained(), i + 1
        a, names = rules.arrays, self.words.feature_names
        weights = rules.weights(slot)
        ranges = ((names[j], float(self.low[i, j]), float(self.high[i, j])) for j in self.short.kept[i])
        drivers = read_drivers(weights[:-1] * self.width[:, None], names)
        outcomes = judge(self.label_names, self.shares[i], self.usual, drivers)
        r = np.append(a.c[slot, : self.model.n_features], 1.0)
        return Rule(
            identity=int(a.identity[slot]),
            centre=self.centre[i],
            low=self.low[i],
            high=self.high[i],
            support=float(a.k[slot]),
            born=int(a.born[slot]),
            last_won=int(a.won[slot]),
            weights=weights,
            label_shares=self.shares[i],
            feature_names=names,
            label_names=self.label_names,
            contrast=self.contrast[i],
            n_seen=rules.n_seen,
            activity=float(self.activity[i]),
            certainty=float(1.0 / (1.0 + r @ rules.inverse(slot) @ r)),
            fidelity=float(self.found.by_rule[i]),
            conditions=tuple(read_condition(self.words, *given) for given in ranges),
            outcomes=tuple(outcomes),
            shares_on=self.shares_on[i],
            name=rules.words.names.get(int(a.identity[slot]), ""),
            locked=bool(a.locked[slot]),
        )

    def _shares(self, slot: int) -> FloatArray:
        """How often each label was on among the samples of a slot."""
        rules = self.model.trained()
        evidence = max(float(rules.hessian(slot)[-1, -1]), 1e-300)
        return np.asarray(np.clip(rules.arrays.G[slot, :, -1] / evidence, 0.0, 1.0))
