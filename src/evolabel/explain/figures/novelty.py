"""`novelty_map`: the distance of samples to the nearest rule, over two features (eq. 5, input space)."""

from collections.abc import Sequence

import numpy as np

from evolabel.explain.figures.figure_data import Drawable, FigureData
from evolabel.explain.unfamiliar import novelty_borders
from evolabel.stages.rules.figures.planes import feature_pair, need_two_features
from evolabel.stages.rules.stream_terms import stream_terms
from evolabel.typing import FloatArray
from evolabel.words.figures.canvas import VERMILION, Axes, figure_of, new_axes, plain, tidy

_N_GRID = 61  # points per feature
_MARGIN = 0.2  # of the range of all terms, beyond its ends
_N_SHADES = 9
_SPREADS = "spreads of the nearest rule; nothing is novel yet"


def novelty_map(
    classifier: Drawable,
    features: Sequence[int | str] | None = None,
    *,
    at: object = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the distance to the nearest rule over two features in their units; 1 is where a sample counts as novel.

    Features whose sensors have moved are drawn as they read now.

    Parameters
    ----------
    classifier : EvolvingFuzzyClassifier
    features : two names or column numbers, optional
        By default the two that explain most of some label.
    at : array of shape (n_features,), optional
        A sample, marked on the map, whose other features are those of every point. Without it all other features are
        missing.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure by default.
    """
    data = classifier.figure_data()
    need_two_features(data)
    pair = feature_pair(data, data.most_relevant(2) if features is None else features)
    sample = None if at is None else data.read_rows(np.asarray(at).reshape(1, -1))[0]
    across, along = (_range(data, j, sample) for j in pair)
    distance, unit = _distances(data, pair, across, along, sample)
    ax = ax if ax is not None else new_axes(6.4, 4.6)
    shades = ax.contourf(across, along, distance, levels=_N_SHADES, cmap="Blues")
    figure_of(ax).colorbar(shades, ax=ax, label=f"distance to known territory ({unit})")
    if distance.min() < 1.0 < distance.max() and unit != _SPREADS:
        line = ax.contour(across, along, distance, levels=[1.0], colors=[VERMILION], linewidths=1.8)
        ax.clabel(line, fmt={1.0: "novel beyond"}, fontsize=8)
    if sample is not None:
        ax.plot(*sample[list(pair)], marker="*", color=VERMILION, markersize=11, markeredgecolor="white")
    ax.set(xlabel=plain(data.feature_names[pair[0]]), ylabel=plain(data.feature_names[pair[1]]))
    others = "" if data.model.n_features == 2 else (", others missing" if sample is None else ", others as at the star")
    tidy(ax, f"How strange a sample would be{others}")
    return ax


def _distances(
    data: FigureData, pair: tuple[int, int], across: FloatArray, along: FloatArray, sample: FloatArray | None
) -> tuple[FloatArray, str]:
    """Return distances on the grid in units of the border, or in spreads if there is no border yet, and that unit."""
    X = np.full((_N_GRID * _N_GRID, data.model.n_features), np.nan)
    if sample is not None:
        X[:] = sample
    X[:, pair[0]], X[:, pair[1]] = (grid.ravel() for grid in np.meshgrid(across, along))
    D = data.rules.memberships(data.scaled(X))[1]
    nearest = D.argmin(axis=1)
    border = novelty_borders(data.model)[nearest]
    endless = bool(np.isinf(border).any())
    squared = D[np.arange(len(D)), nearest] / (1.0 if endless else border)
    return np.sqrt(squared).reshape(_N_GRID, _N_GRID), _SPREADS if endless else "1: novel"


def _range(data: FigureData, j: int, sample: FloatArray | None) -> FloatArray:
    """Return values of feature `j` from a little below to a little above those of the stream."""
    edges = stream_terms(data.model, data.feature_names).edges[j]
    low, high = edges[0], edges[-1]
    if sample is not None and not np.isnan(sample[j]):
        low, high = min(low, sample[j]), max(high, sample[j])
    margin = _MARGIN * (high - low) or 1.0
    return np.linspace(low - margin, high + margin, _N_GRID)
