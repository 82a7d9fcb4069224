"""`consequent_map`: which feature moves which label, in one rule or in the global model."""

from typing import TYPE_CHECKING

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.explain.figures.canvas import SHOWN, heat_map, of_all, plain
from evolabel.explain.figures.figure_data import Drawable
from evolabel.explain.terms import stream_moments

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def consequent_map(
    classifier: Drawable, rule: int | None = None, *, top: int = SHOWN, ax: "Axes | None" = None
) -> "Axes":
    """The weights of one rule (or of the global model) as colours, labels by features, without the intercept.

    A weight is the change of the output by one unit of the scaled feature, which is about a standard deviation.

    Parameters
    ----------
    classifier : EvolvingFuzzyClassifier
    rule : int, optional
        Number of the rule; the global model if not given.
    top : int
        Features, and labels, shown at most: those with the largest effects, a weight times the feature's spread.
    """
    anatomy = classifier.figure_data()
    check_number("top", top, 1, whole=True)
    slot = 0 if rule is None else anatomy.slot(rule)
    weights = anatomy.rules.weights(slot)[:-1].T
    effect = np.abs(weights) * stream_moments(anatomy.model)[1]
    labels = np.sort(np.argsort(-effect.max(axis=1), kind="stable")[:top])
    features = np.argsort(-effect[labels].max(axis=0), kind="stable")[:top]
    shown = weights[np.ix_(labels, features)]
    ax = heat_map(
        ax,
        shown,
        [anatomy.label_names[c] for c in labels],
        [anatomy.feature_names[j] for j in features],
        float(np.abs(shown).max()) or 1.0,
        "weight (output per scaled unit)",
    )
    told = of_all(len(features), weights.shape[1], "features", "the strongest first")
    if len(labels) < len(weights):
        told += f"; {of_all(len(labels), len(weights), 'labels', 'the strongest')}"
    whose = "the global model" if slot == 0 else plain(anatomy.name_of(slot))
    ax.set_title(f"Weights of {whose}\n({told})", loc="left", fontsize=10)
    return ax
