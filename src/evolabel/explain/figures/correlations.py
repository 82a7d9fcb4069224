"""`label_correlations`: correlations of the labels in one rule and in the whole stream (eq. 9)."""

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.errors import DataError
from evolabel.explain.figures.figure_data import Drawable, FigureData
from evolabel.stages.rules.loops.label_moments import add_label_moments, correlation
from evolabel.stages.rules.rule_state import LabelMoments
from evolabel.typing import FloatArray
from evolabel.words.figures.canvas import MAX_SHOWN, Axes, draw_heat_map, of_all, short

_HALF_WEIGHT_SAMPLES = 100.0  # a rule of so many samples counts half: correlations of few samples are noise


def label_correlations(
    classifier: Drawable,
    rule: int | None = None,
    *,
    X: object = None,
    Y: object = None,
    top: int = MAX_SHOWN,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the correlations of the labels: below the diagonal in one rule, above it in all rules together.

    A model that couples its labels (`beta` above 0, as in `paper()`) keeps the correlations. For other models they are
    computed on samples `X` with labels `Y`, weighted by their memberships in the rule.

    Parameters
    ----------
    classifier : EvolvingFuzzyClassifier
    rule : int, optional
        Number of the rule; by default the one that differs most from the whole, few samples counting less.
    X : array or frame of shape (n_samples, n_features), optional
    Y : array or frame of shape (n_samples, n_labels), optional
    top : int
        Labels shown at most: those that correlate most.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure by default.
    """
    data = classifier.figure_data()
    check_number("top", top, 2, whole=True)
    moments = _moments(data, X, Y)
    whole, local = correlations(pooled(moments))[0], correlations(moments)
    slot = _most_different(local, whole, moments.mass) + 1 if rule is None else data.slot(rule)
    both = np.where(np.tri(len(whole), k=-1) > 0.0, local[slot - 1], whole)
    largest = np.abs(both - np.eye(len(both)) * np.diag(both)).max(axis=1)
    shown = np.sort(np.argsort(-largest, kind="stable")[:top])
    names = [data.label_names[c] for c in shown]
    np.fill_diagonal(both, np.nan)
    ax = draw_heat_map(ax, both[np.ix_(shown, shown)], rows=names, columns=names, limit=1.0, meaning="correlation")
    ax.plot([-0.5, len(shown) - 0.5], [-0.5, len(shown) - 0.5], color="black", linewidth=0.8)
    ax.set_title(
        f"Label correlations: {short(data.rule_name(slot))} below, all samples above the diagonal\n"
        f"({of_all(len(shown), len(whole), 'labels', 'those that correlate most')})",
        loc="left",
        fontsize=10,
    )
    return ax


def correlations(moments: LabelMoments) -> FloatArray:
    """Return the correlations of every rule, eq. (9), (C, K, K), from its `moments`; not shrunk for few samples."""
    found = np.empty(moments.Q.shape)
    for Q, mass, C in zip(moments.Q, moments.mass, found, strict=True):
        correlation(Q, mass, False, C)
    return found


def pooled(moments: LabelMoments) -> LabelMoments:
    """Return `moments` of all rules together: those of all samples, as the memberships of a sample sum to 1."""
    mass = moments.mass.sum(axis=0)
    ybar = moments.mass[:, 0] @ moments.ybar / max(mass[0], 1e-300)
    apart = moments.ybar - ybar
    Q = moments.Q.sum(axis=0) + (apart * moments.mass[:, :1]).T @ apart
    return LabelMoments(Q[None], ybar[None], mass[None])


def _moments(data: FigureData, X: object, Y: object) -> LabelMoments:
    known, C = data.rules.label_moments, data.rules.n_rules
    if X is None and Y is None and known is not None:
        return known
    if X is None or Y is None:
        raise DataError(
            "this model keeps no correlations of its labels; pass samples X with their labels Y, or train with beta > 0"
        )
    rows = data.read_rows(X)
    labels = data.read_labels(Y, len(rows))
    psi = data.rules.memberships(data.model.scale(rows))[0]
    K = labels.shape[1]
    made = LabelMoments(np.zeros((C, K, K)), np.zeros((C, K)), np.zeros((C, 2)))
    for row, i in zip(*np.nonzero(psi), strict=True):
        add_label_moments(labels[row], float(psi[row, i]), made.mass[i], made.ybar[i], made.Q[i])
    return made


def _most_different(local: FloatArray, whole: FloatArray, mass: FloatArray) -> int:
    """Return the rule whose correlations differ most from the whole, weighted by its effective samples n."""
    n = mass[:, 0] ** 2 / np.maximum(mass[:, 1], 1e-300)
    apart = np.linalg.norm(local - whole, axis=(1, 2))
    return int((apart * n / (n + _HALF_WEIGHT_SAMPLES)).argmax())
