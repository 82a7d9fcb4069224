"""The parts of a rule in words: conditions on features, and labels that are likely or not, with what drives them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from evolabel.typing import FloatArray

_LIKELY_SHARE = 0.5
_RAISED_FACTOR = 1.5  # a share of so many times the usual one is "more likely than usual"
_MIN_RAISED_SHARE = 0.03  # a smaller share is never "more likely than usual"

_MAX_DRIVERS = 3
_MIN_EFFECT = 0.01  # smallest effect of one standard deviation of a feature on an output that is shown


@dataclass(frozen=True)
class RuleCondition:
    """The range of a feature in a rule, `low` to `high` in its own units; `term` is the range in words."""

    feature: str
    term: str
    low: float
    high: float


@dataclass(frozen=True)
class Driver:
    """A feature that moves a label inside the rule: by `effect` per standard deviation of `feature`."""

    feature: str
    effect: float


@dataclass(frozen=True)
class RuleOutcome:
    """A label in a rule: its `share` there, its `usual` share in the stream, both in words, and what drives it."""

    label: str
    share: float
    usual: float
    judgement: str
    drivers: tuple[Driver, ...]

    def renamed(self, features: Mapping[str, str], labels: Mapping[str, str]) -> "RuleOutcome":
        """Return a copy with the names that `features` and `labels` map the present names to."""
        drivers = tuple(replace(driver, feature=features[driver.feature]) for driver in self.drivers)
        return replace(self, label=labels[self.label], drivers=drivers)

    @property
    def apart(self) -> float:
        """Difference of the share from the usual one, in standard deviations of the label."""
        return abs(self.share - self.usual) / max(float(np.sqrt(self.usual * (1.0 - self.usual))), 1e-3)


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


def rule_outcomes(
    label_names: list[str], shares: FloatArray, usual: FloatArray, drivers: list[tuple[Driver, ...]]
) -> list[RuleOutcome]:
    """Return one outcome per label of `label_names`, those that differ most from the stream first.

    `shares` (n_labels,) are the label shares in the rule, `usual` (n_labels,) those in the stream, `drivers` the
    features that move each label.
    """
    outcomes = [
        RuleOutcome(name, float(share), float(base), _judgement(float(share), float(base)), drives)
        for name, share, base, drives in zip(label_names, shares, usual, drivers, strict=True)
    ]
    return sorted(outcomes, key=lambda outcome: -outcome.apart)


def _judgement(share: float, usual: float) -> str:
    if share >= _LIKELY_SHARE:
        return "likely"
    return "more likely than usual" if share >= max(_RAISED_FACTOR * usual, _MIN_RAISED_SHARE) else "unlikely"
