"""`membership_functions`: what the rules see of one feature."""

from typing import TYPE_CHECKING

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.explain.figures.canvas import (
    COLOURS,
    GREY,
    SHOWN,
    STROKES,
    in_legend,
    legend_beside,
    new_axes,
    of_all,
    plain,
    tidy,
)
from evolabel.explain.figures.figure_data import Anatomy, Drawable
from evolabel.explain.terms import TERMS, stream_moments, stream_terms
from evolabel.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURED = 6  # rules told apart by colour; the others are grey
GRID = 301
MARGIN = 0.15  # of the range of all terms, beyond its ends


def membership_functions(
    classifier: Drawable, feature: int | str | None = None, *, top: int = SHOWN, ax: "Axes | None" = None
) -> "Axes":
    """The Gaussians of the rules along one feature in its units, behind them the terms the rules are told in.

    Rules that say most about the feature come first: those whose centre is surest to differ from the stream's mean.
    The six first have a colour, the others are grey.

    Parameters
    ----------
    classifier : EvolvingFuzzyClassifier
    feature : name or place, optional
        The feature that explains most of some label, if not given.
    top : int
        Rules drawn at most.
    """
    anatomy = classifier.figure_data()
    check_number("top", top, 1, whole=True)
    j = anatomy.most_relevant(1)[0] if feature is None else anatomy.feature(feature)
    ax = ax if ax is not None else new_axes(7.0, 3.4)
    edges = stream_terms(anatomy.model, anatomy.feature_names).edges[j]
    _draw_terms(ax, edges)
    margin = MARGIN * (edges[-1] - edges[0]) or 1.0
    values = np.linspace(edges[0] - margin, edges[-1] + margin, GRID)
    slots = _most_telling(anatomy, j)[:top]
    for place, slot in enumerate(slots):
        shown = place < COLOURED
        ax.plot(
            values,
            gaussian(anatomy, int(slot), j, values),
            color=COLOURS[place] if shown else GREY,
            linestyle=STROKES[place % len(STROKES)] if shown else "-",
            linewidth=1.8 if shown else 0.7,
            alpha=1.0 if shown else 0.6,
            zorder=3 if shown else 2,
            label=in_legend(anatomy.name_of(int(slot))) if shown else ("others" if place == COLOURED else None),
        )
    ax.set_xlim(values[0], values[-1])
    ax.set_ylim(0.0, 1.12)
    ax.set_yticks([0.0, 0.5, 1.0])
    ax.set_xlabel(plain(anatomy.feature_names[j]))
    ax.set_ylabel("membership")
    told = of_all(len(slots), anatomy.rules.n_rules, "rules", "the most telling")
    tidy(ax, f"Rules along {plain(anatomy.feature_names[j])}: {told}")
    legend_beside(ax)
    return ax


def gaussian(anatomy: Anatomy, slot: int, j: int, values: FloatArray) -> FloatArray:
    """Membership of values of feature j in a rule, as far as this feature goes: 1 at the centre, 0.61 at one spread."""
    X = np.full((len(values), anatomy.model.n_features), np.nan)
    X[:, j] = values
    z = anatomy.model.scale(X)[:, j]
    variance = anatomy.rules.covariance(slot)[j, j]
    return np.asarray(np.exp(-0.5 * (z - anatomy.rules.arrays.c[slot, j]) ** 2 / variance))


def _most_telling(anatomy: Anatomy, j: int) -> IntArray:
    """Slots by |c - mean| / spread * sqrt(k), the largest first."""
    a, used = anatomy.rules.arrays, slice(1, anatomy.rules.n_rules + 1)
    apart = np.abs(a.c[used, j] - stream_moments(anatomy.model)[0][j]) * np.sqrt(a.inv[used, j] * a.k[used])
    return np.argsort(-apart, kind="stable") + 1


def _draw_terms(ax: "Axes", edges: FloatArray) -> None:
    """Terms as bands, their names above; a term without width is left out."""
    for i, term in enumerate(TERMS):
        low, high = float(edges[i]), float(edges[i + 1])
        if i % 2 == 0:
            ax.axvspan(low, high, color="#000000", alpha=0.05, linewidth=0, zorder=0)
        if high - low > 0.07 * (edges[-1] - edges[0]):
            told = term.replace(" ", "\n")
            ax.text((low + high) / 2.0, 1.11, told, ha="center", va="top", fontsize=7, color="#555555", linespacing=0.9)
