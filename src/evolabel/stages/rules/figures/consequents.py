"""`consequent_map`: the weights of one rule or of the global model."""

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.stages.rules.figures.figure_data import RuleDrawable
from evolabel.stages.rules.stream_terms import scaled_moments
from evolabel.words.figures.canvas import MAX_SHOWN, Axes, draw_heat_map, of_all, plain


def consequent_map(
    classifier: RuleDrawable, rule: int | None = None, *, top: int = MAX_SHOWN, ax: "Axes | None" = None
) -> "Axes":
    """Draw the weights of one rule, or of the global model, as colours: labels by features, without the intercept.

    A weight is the change of the output by one unit of the scaled feature, which is about a standard deviation.

    Parameters
    ----------
    classifier : EvolvingFuzzyClassifier
    rule : int, optional
        Number of the rule; the global model if not given.
    top : int
        Features, and labels, shown at most: those with the largest effects, a weight times the feature's spread.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure by default.
    """
    data = classifier.figure_data()
    check_number("top", top, 1, whole=True)
    slot = 0 if rule is None else data.slot(rule)
    weights = data.weights(slot)[:-1].T
    effect = np.abs(weights) * scaled_moments(data.model)[1]
    labels = np.sort(np.argsort(-effect.max(axis=1), kind="stable")[:top])
    features = np.argsort(-effect[labels].max(axis=0), kind="stable")[:top]
    shown = weights[np.ix_(labels, features)]
    ax = draw_heat_map(
        ax,
        shown,
        rows=[data.label_names[c] for c in labels],
        columns=[data.feature_names[j] for j in features],
        limit=float(np.abs(shown).max()) or 1.0,
        meaning="weight (output per scaled unit)",
    )
    parts = of_all(len(features), weights.shape[1], "features", "the strongest first")
    if len(labels) < len(weights):
        parts += f"; {of_all(len(labels), len(weights), 'labels', 'the strongest')}"
    whose = "the global model" if slot == 0 else plain(data.rule_name(slot))
    ax.set_title(f"Weights of {whose}\n({parts})", loc="left", fontsize=10)
    return ax
