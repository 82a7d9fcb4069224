"""What a rule answers for its labels (`RuleOutcome`), which of that is claimed, and its words."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evolabel.explain.answer_parts import AnswerParts, some_names
from evolabel.typing import FloatArray
from evolabel.words.condition_words import driver_words

_MAX_LABELS = 5
_MIN_APART = 0.25  # standard deviations of a label between its share in the rule and its usual one
_LIKELY_SHARE = 0.5
_RAISED_FACTOR = 1.5  # a share of so many times the usual one is "more likely than usual", one so much below "unlikely"
_MIN_RAISED_SHARE = 0.03  # a smaller share is always "unlikely"
_APART = 0.25  # between the share of the samples and that of the predictions, from which on both are printed

_LIKELY, _AS_USUAL = "likely", "about as likely as usual"

_MAX_DRIVERS = 3
_MIN_EFFECT = 0.01  # smallest effect of one standard deviation of a feature on an output that is shown


@dataclass(frozen=True)
class Driver:
    """A feature that moves a label inside the rule: by `effect` per standard deviation of `feature`."""

    feature: str
    effect: float


@dataclass(frozen=True)
class RuleOutcome:
    """A label in a rule.

    Attributes
    ----------
    label : str
    share : float
        How many of the samples of the rule have the label.
    usual : float
        How many of the recent samples of the stream have it.
    judgement : str
        What the model answers there, in words.
    drivers : tuple of Driver
    predicted : float
        For how many rows in the rule the whole model predicts the label.
    claimed : bool
        Whether the outcome is printed: rules answer the label, and the samples of the rule do not contradict
        what the model predicts there.
    """

    label: str
    share: float
    usual: float
    judgement: str
    drivers: tuple[Driver, ...]
    predicted: float
    claimed: bool = True

    def renamed(self, features: Mapping[str, str], labels: Mapping[str, str]) -> "RuleOutcome":
        """Return a copy with the names that `features` and `labels` map the present names to."""
        drivers = tuple(replace(driver, feature=features[driver.feature]) for driver in self.drivers)
        return replace(self, label=labels[self.label], drivers=drivers)

    @property
    def apart(self) -> float:
        """Difference of the share from the usual one, in standard deviations of the label."""
        return abs(self.share - self.usual) / max(float(np.sqrt(self.usual * (1.0 - self.usual))), 1e-3)

    @property
    def shares(self) -> str:
        """The share of the samples and the usual one, and how often the label is predicted, where that differs."""
        text = f"{self.share:.0%} of its samples, usually {self.usual:.0%}"
        other_side = (self.predicted >= _LIKELY_SHARE) != (self.share >= _LIKELY_SHARE)
        differs = other_side or abs(self.predicted - self.share) >= _APART
        return f"{text}; predicted for {self.predicted:.0%}" if differs else text

    def contradicted_by(self, predicted: float) -> bool:
        """Whether the model, which predicts the label for a share `predicted` of some rows, mostly answers otherwise.

        Half of the rows is enough.
        """
        return predicted <= _LIKELY_SHARE if self.predicted >= _LIKELY_SHARE else predicted >= _LIKELY_SHARE

    def driven(self, texts: Collection[str]) -> str:
        """Return the features that move the label inside the rule, by the signs of their local weights.

        `texts` are the features that stand for values of categorical columns.
        """
        up = [driver.feature for driver in self.drivers if driver.effect > 0.0]
        down = [driver.feature for driver in self.drivers if driver.effect < 0.0]
        parts = [f"up {driver_words(up, texts)}"] if up else []
        parts += [f"down {driver_words(down, texts)}"] if down else []
        return f", driven {', '.join(parts)}" if parts else ""


def distinct_outcomes(outcomes: Sequence[RuleOutcome]) -> tuple[RuleOutcome, ...]:
    """Return those of all `outcomes` of a rule that are printed.

    They are claimed, and conclude something: their labels differ clearly from the stream, or one is likely.
    """
    claimed = tuple(outcome for outcome in outcomes if outcome.claimed and outcome.judgement != _AS_USUAL)
    likely = tuple(outcome for outcome in claimed if outcome.judgement == _LIKELY)[:1]
    return tuple(outcome for outcome in claimed if outcome.apart >= _MIN_APART)[:_MAX_LABELS] or likely


def left_out(outcomes: Iterable[RuleOutcome], parts: Mapping[str, AnswerParts]) -> str:
    """Return which labels of all `outcomes` of a rule are not claimed, with the `parts` that answer; empty for none."""
    reasons: dict[str, list[str]] = {}
    for outcome in outcomes:
        if not outcome.claimed:
            shares = parts.get(outcome.label)
            by_rules = shares is None or shares.by_rules
            reason = "the whole model predicts otherwise here" if by_rules else str(shares)
            reasons.setdefault(reason, []).append(outcome.label)
    return "; ".join(f"{some_names(names)} ({reason})" for reason, names in reasons.items())


def rule_outcomes(
    label_names: list[str],
    shares: FloatArray,
    usual: FloatArray,
    drivers: list[tuple[Driver, ...]],
    *,
    predicted: FloatArray | None = None,
    parts: Sequence[AnswerParts] = (),
) -> list[RuleOutcome]:
    """Return one outcome per label of `label_names`, those that differ most from the stream first.

    `shares` and `usual` are the label shares among the samples of the rule and in the stream, `drivers` the features
    that move each label, and `parts` what answers it (empty: rules). `predicted` has for how many rows in the rule the
    model predicts each label; by default 1 where the share is at least one half.
    """
    if predicted is None:
        predicted = (shares >= _LIKELY_SHARE).astype(float)
    outcomes = []
    for c, (name, drives) in enumerate(zip(label_names, drivers, strict=True)):
        share, base, on = float(shares[c]), float(usual[c]), float(predicted[c])
        agrees = share >= min(base, _LIKELY_SHARE) if on >= _LIKELY_SHARE else share < _LIKELY_SHARE
        claimed = agrees and (not parts or parts[c].by_rules)
        outcomes.append(RuleOutcome(name, share, base, _judgement(share, base, on), drives, on, claimed))
    return sorted(outcomes, key=lambda outcome: -outcome.apart)


def without_contradicted(outcomes: Iterable[RuleOutcome], predicted: Mapping[str, float]) -> tuple[RuleOutcome, ...]:
    """Return the `outcomes` of a rule, of which those are not claimed that most rows in its conditions contradict.

    `predicted` has for how many of these rows the model predicts each label.
    """
    return tuple(
        replace(outcome, claimed=outcome.claimed and not outcome.contradicted_by(predicted[outcome.label]))
        for outcome in outcomes
    )


def _judgement(share: float, usual: float, predicted: float) -> str:
    """Return in words what the model answers where it predicts a label for a share `predicted` of the rows."""
    if predicted >= _LIKELY_SHARE:
        return _LIKELY
    if share < max(usual / _RAISED_FACTOR, _MIN_RAISED_SHARE):
        return "unlikely"
    return "more likely than usual" if share >= _RAISED_FACTOR * usual else _AS_USUAL


def strongest_drivers(effects: FloatArray, feature_names: list[str]) -> list[tuple[Driver, ...]]:
    """Return the features with the largest absolute `effects` (n_features, n_labels), label by label.

    `feature_names` are the names of the rows. Effects below 0.01 are left out.
    """
    strongest = np.argsort(-np.abs(effects), axis=0, kind="stable")[:_MAX_DRIVERS]
    return [
        tuple(
            Driver(feature_names[j], float(effects[j, c])) for j in strongest[:, c] if abs(effects[j, c]) >= _MIN_EFFECT
        )
        for c in range(effects.shape[1])
    ]
