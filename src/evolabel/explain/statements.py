"""What a rule states: conditions on features in words, and labels that are likely or not, with what drives them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from evolabel.explain.terms import Vocabulary
from evolabel.typing import FloatArray

LIKELY = 0.5
RAISED = 1.5  # times the usual share
FEWEST_PERCENT = 0.03  # a share this small is never "more likely than usual"

DRIVERS = 3
SMALLEST_EFFECT = 0.01  # of one standard deviation of a feature on an output


@dataclass(frozen=True)
class Condition:
    """A feature lies in a range, in its own units; `term` says so in words."""

    feature: str
    term: str
    low: float
    high: float


@dataclass(frozen=True)
class Driver:
    """A feature that moves a label inside the rule: by `effect` for one standard deviation of the feature."""

    feature: str
    effect: float


@dataclass(frozen=True)
class Outcome:
    """How a label stands inside the rule: its share there, its usual share in the stream, and what drives it."""

    label: str
    share: float
    usual: float
    judgement: str
    drivers: tuple[Driver, ...]

    def renamed(self, features: Mapping[str, str], labels: Mapping[str, str]) -> "Outcome":
        """The same under other names."""
        drivers = tuple(replace(driver, feature=features[driver.feature]) for driver in self.drivers)
        return replace(self, label=labels[self.label], drivers=drivers)

    @property
    def apart(self) -> float:
        """How far the share is from the usual one, in standard deviations of the label."""
        return abs(self.share - self.usual) / max(float(np.sqrt(self.usual * (1.0 - self.usual))), 1e-3)


def read_condition(words: Vocabulary, feature: str, low: float, high: float) -> Condition:
    """A condition with its term."""
    return Condition(feature, words.term_for(feature, low, high), low, high)


def read_drivers(effects: FloatArray, feature_names: list[str]) -> list[tuple[Driver, ...]]:
    """Strongest features per label from the effects (n_features, n_labels); weights of zero never drive."""
    strongest = np.argsort(-np.abs(effects), axis=0, kind="stable")[:DRIVERS]
    return [
        tuple(
            Driver(feature_names[j], float(effects[j, c]))
            for j in strongest[:, c]
            if abs(effects[j, c]) >= SMALLEST_EFFECT
        )
        for c in range(effects.shape[1])
    ]


def judge(
    label_names: list[str], shares: FloatArray, usual: FloatArray, drivers: list[tuple[Driver, ...]]
) -> list[Outcome]:
    """All labels, the ones the rule is most special for first."""
    outcomes = [
        Outcome(name, float(share), float(base), _judgement(float(share), float(base)), drives)
        for name, share, base, drives in zip(label_names, shares, usual, drivers, strict=True)
    ]
    return sorted(outcomes, key=lambda outcome: -outcome.apart)


def _judgement(share: float, usual: float) -> str:
    if share >= LIKELY:
        return "likely"
    return "more likely than usual" if share >= max(RAISED * usual, FEWEST_PERCENT) else "unlikely"
