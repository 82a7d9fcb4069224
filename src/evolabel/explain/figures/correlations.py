"""`label_correlations`: which labels go together in a rule, beside the whole stream (eq. 9)."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.errors import DataError
from evolabel.explain.figures.canvas import SHOWN, heat_map, of_all, short
from evolabel.explain.figures.figure_data import Anatomy, Drawable
from evolabel.kernels.paper.coupling import add_label_moments, correlation
from evolabel.typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EVIDENCE = 100.0  # samples that count for half when rules are compared: correlations of few are noise


class Moments(NamedTuple):
    """Label moments of all rules: co-moments (C, K, K), means (C, K), and sums of psi and psi^2 (C, 2)."""

    Q: FloatArray
    ybar: FloatArray
    mass: FloatArray


def label_correlations(
    classifier: Drawable,
    rule: int | None = None,
    *,
    X: object = None,
    Y: object = None,
    top: int = SHOWN,
    ax: "Axes | None" = None,
) -> "Axes":
    """Correlations of the labels: below the diagonal in one rule, above it in all rules together.

    A model that couples its labels (`beta` above 0, as in `paper()`) keeps what is needed. Others do not: they are
    shown on samples X with labels Y, each counting for a rule as much as it belongs to it.

    Parameters
    ----------
    classifier : EvolvingFuzzyClassifier
    rule : int, optional
        Number of the rule; the one that differs most from the whole, few samples counting less, if not given.
    X, Y : arrays or frames, optional
    top : int
        Labels shown at most: those that correlate most.
    """
    anatomy = classifier.figure_data()
    check_number("top", top, 2, whole=True)
    moments = _moments(anatomy, X, Y)
    whole = correlations(pooled(moments))[0]
    slot = _most_special(moments) + 1 if rule is None else anatomy.slot(rule)
    local = correlations(moments)[slot - 1]
    both = np.where(np.tri(len(whole), k=-1) > 0.0, local, whole)
    shown = _strongest(both, top)
    names = [anatomy.label_names[c] for c in shown]
    np.fill_diagonal(both, np.nan)
    ax = heat_map(ax, both[np.ix_(shown, shown)], names, names, 1.0, "correlation")
    ax.plot([-0.5, len(shown) - 0.5], [-0.5, len(shown) - 0.5], color="black", linewidth=0.8)
    ax.set_title(
        f"Label correlations: {short(anatomy.name_of(slot))} below, all samples above the diagonal\n"
        f"({of_all(len(shown), len(whole), 'labels', 'those that correlate most')})",
        loc="left",
        fontsize=10,
    )
    return ax


def correlations(moments: Moments) -> FloatArray:
    """Eq. (9) of every rule, (C, K, K), as they are: not shrunk where samples are few."""
    found = np.empty(moments.Q.shape)
    for Q, mass, C in zip(moments.Q, moments.mass, found, strict=True):
        correlation(Q, mass, False, C)
    return found


def pooled(moments: Moments) -> Moments:
    """Moments of all rules together: of all samples, as the memberships of a sample sum to 1."""
    mass = moments.mass.sum(axis=0)
    ybar = moments.mass[:, 0] @ moments.ybar / max(mass[0], 1e-300)
    apart = moments.ybar - ybar
    Q = moments.Q.sum(axis=0) + (apart * moments.mass[:, :1]).T @ apart
    return Moments(Q[None], ybar[None], mass[None])


def _moments(anatomy: Anatomy, X: object, Y: object) -> Moments:
    a, C = anatomy.rules.arrays, anatomy.rules.n_rules
    if X is None and Y is None and a.Q.shape[1]:
        used = slice(1, C + 1)
        return Moments(a.Q[used], a.ybar[used], a.mass[used])
    if X is None or Y is None:
        raise DataError(
            "this model keeps no correlations of its labels; pass samples X with their labels Y, or train with beta > 0"
        )
    rows = anatomy.samples(X)
    labels = anatomy.answers(Y, len(rows))
    psi = anatomy.rules.memberships(anatomy.model.scale(rows))[0]
    K = labels.shape[1]
    made = Moments(np.zeros((C, K, K)), np.zeros((C, K)), np.zeros((C, 2)))
    for row, i in zip(*np.nonzero(psi), strict=True):
        add_label_moments(labels[row], float(psi[row, i]), made.mass[i], made.ybar[i], made.Q[i])
    return made


def _most_special(moments: Moments) -> int:
    """The rule whose correlations differ most from the whole, by effective samples n."""
    whole = correlations(pooled(moments))[0]
    n = moments.mass[:, 0] ** 2 / np.maximum(moments.mass[:, 1], 1e-300)
    apart = np.linalg.norm(correlations(moments) - whole, axis=(1, 2))
    return int((apart * n / (n + EVIDENCE)).argmax())


def _strongest(both: FloatArray, top: int) -> list[int]:
    """Places of the labels with the largest correlation, in their order."""
    largest = np.abs(both - np.eye(len(both)) * np.diag(both)).max(axis=1)
    return sorted(int(c) for c in np.argsort(-largest, kind="stable")[:top])
