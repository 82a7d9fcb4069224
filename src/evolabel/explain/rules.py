"""Rules as views a person can read: regions in original units, labels as local shares."""

from dataclasses import dataclass, field

import numpy as np

from evolabel.core.model import StreamModel
from evolabel.kernels.state import FloatArray

SHOWN_FEATURES = 5
SHOWN_LABELS = 5


@dataclass(frozen=True)
class Rule:
    """One rule, eq. (1).

    `centre`, `low` and `high` (centre minus and plus one spread) are in the units of the features; `weights` are the
    consequents W_i, (n_features + 1, n_labels), on scaled features with the intercept last. `label_shares` is how
    often each label was on among the samples of the rule; labels nobody annotated count as the rule predicted them.
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
    name: str = ""
    locked: bool = False

    @property
    def spread(self) -> FloatArray:
        """Half the width of the region per feature."""
        return (self.high - self.low) / 2.0

    @property
    def text(self) -> str:
        """The rule in words: the features that set it apart most, and the labels that are most frequent in it."""
        features = np.argsort(-self.contrast, kind="stable")[:SHOWN_FEATURES]
        conditions = [f"{self.feature_names[j]} IS {self.low[j]:.4g} .. {self.high[j]:.4g}" for j in features]
        labels = np.argsort(-self.label_shares, kind="stable")[:SHOWN_LABELS]
        outcomes = [f"{self.label_names[c]} {self.label_shares[c]:.0%}" for c in labels]
        more = len(self.centre) - len(conditions)
        tail = f" (and {more} features closer to average)" if more else ""
        called = f' "{self.name}"' if self.name else ""
        head = f"Rule {self.identity}{called} (support {self.support:.0f}{', locked' if self.locked else ''})"
        return f"{head}: IF {' AND '.join(conditions)}{tail} THEN {', '.join(outcomes)}"

    def __str__(self) -> str:
        return self.text


def read_rules(model: StreamModel, feature_names: list[str], label_names: list[str]) -> list[Rule]:
    """All rules of a model, in the order of their slots; none while the warm-up lasts."""
    if model.rules is None or model.scaler is None:
        return []
    rules, scaler, a = model.rules, model.scaler, model.rules.arrays
    used = slice(1, rules.n_rules + 1), slice(0, model.n_features)
    spread = np.sqrt(rules.variances())
    low, high = scaler.inverse(a.c[used] - spread), scaler.inverse(a.c[used] + spread)
    centre = scaler.inverse(a.c[used])
    contrast = np.abs(a.c[used] - a.c[0, : model.n_features]) / spread
    views = []
    for i in range(rules.n_rules):
        evidence = rules.hessian(i + 1)[-1, -1]
        views.append(
            Rule(
                identity=int(a.identity[i + 1]),
                centre=centre[i],
                low=low[i],
                high=high[i],
                support=float(a.k[i + 1]),
                born=int(a.born[i + 1]),
                last_won=int(a.won[i + 1]),
                weights=rules.weights(i + 1),
                label_shares=np.clip(a.G[i + 1, :, -1] / max(evidence, 1e-300), 0.0, 1.0),
                feature_names=feature_names,
                label_names=label_names,
                contrast=contrast[i],
                name=rules.words.names.get(int(a.identity[i + 1]), ""),
                locked=bool(a.locked[i + 1]),
            )
        )
    return views
