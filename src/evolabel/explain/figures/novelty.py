"""`novelty_map`: how far from known territory a sample would be (eq. 5, input space)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from evolabel.explain.figures.canvas import VERMILION, figure_of, new_axes, plain, tidy
from evolabel.explain.figures.figure_data import Anatomy, Drawable
from evolabel.explain.figures.planes import feature_pair, need_two_features
from evolabel.explain.novelty_check import borders
from evolabel.explain.terms import stream_terms
from evolabel.typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID = 61
MARGIN = 0.2  # of the range of all terms, beyond its ends
SHADES = 9
SPREADS = "spreads of the nearest rule; nothing is novel yet"


def novelty_map(
    classifier: Drawable,
    features: Sequence[int | str] | None = None,
    *,
    at: object = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Distance to the nearest rule over two features in their units; 1 is where a sample counts as novel.

    Parameters
    ----------
    classifier : EvolvingFuzzyClassifier
    features : two names or places, optional
        The two that explain most of some label, if not given.
    at : array of shape (n_features,), optional
        A sample whose other features hold everywhere on the map, and which is marked. Without it only the two features
        are looked at, as if all others were missing.
    """
    anatomy = classifier.figure_data()
    need_two_features(anatomy)
    pair = feature_pair(anatomy, anatomy.most_relevant(2) if features is None else features)
    sample = None if at is None else anatomy.samples(np.asarray(at).reshape(1, -1))[0]
    across, along = (_range(anatomy, j, sample) for j in pair)
    distance, unit = _distances(anatomy, pair, across, along, sample)
    ax = ax if ax is not None else new_axes(6.4, 4.6)
    shades = ax.contourf(across, along, distance, levels=SHADES, cmap="Blues")
    figure_of(ax).colorbar(shades, ax=ax, label=f"distance to known territory ({unit})")
    if distance.min() < 1.0 < distance.max() and unit != SPREADS:
        line = ax.contour(across, along, distance, levels=[1.0], colors=[VERMILION], linewidths=1.8)
        ax.clabel(line, fmt={1.0: "novel beyond"}, fontsize=8)
    if sample is not None:
        ax.plot(*sample[list(pair)], marker="*", color=VERMILION, markersize=11, markeredgecolor="white")
    ax.set_xlabel(plain(anatomy.feature_names[pair[0]]))
    ax.set_ylabel(plain(anatomy.feature_names[pair[1]]))
    others = (
        "" if anatomy.model.n_features == 2 else (", others missing" if sample is None else ", others as at the star")
    )
    tidy(ax, f"How strange a sample would be{others}")
    return ax


def _distances(
    anatomy: Anatomy, pair: tuple[int, int], across: FloatArray, along: FloatArray, sample: FloatArray | None
) -> tuple[FloatArray, str]:
    """Distances on the grid in units of the border, or in spreads where there is none."""
    X = np.full((GRID * GRID, anatomy.model.n_features), np.nan)
    if sample is not None:
        X[:] = sample
    X[:, pair[0]], X[:, pair[1]] = (grid.ravel() for grid in np.meshgrid(across, along))
    D = anatomy.rules.memberships(anatomy.model.scale(X))[1]
    nearest = D.argmin(axis=1)
    border = borders(anatomy.model)[nearest]
    endless = bool(np.isinf(border).any())
    squared = D[np.arange(len(D)), nearest] / (1.0 if endless else border)
    return np.sqrt(squared).reshape(GRID, GRID), SPREADS if endless else "1: novel"


def _range(anatomy: Anatomy, j: int, sample: FloatArray | None) -> FloatArray:
    """Values of a feature from a little below to a little above what the stream shows."""
    edges = stream_terms(anatomy.model, anatomy.feature_names).edges[j]
    low, high = edges[0], edges[-1]
    if sample is not None and not np.isnan(sample[j]):
        low, high = min(low, sample[j]), max(high, sample[j])
    margin = MARGIN * (high - low) or 1.0
    return np.linspace(low - margin, high + margin, GRID)
