"""`membership_functions`: the Gaussians of the rules along one feature."""

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.stages.rules.figures.figure_data import RuleDrawable, RuleFigureData
from evolabel.stages.rules.stream_terms import scaled_moments, stream_terms
from evolabel.typing import FloatArray, IntArray
from evolabel.words.figures import canvas
from evolabel.words.figures.canvas import Axes
from evolabel.words.terms import TERMS

_N_COLOURED = 6  # rules with a colour; the others are grey
_N_POINTS = 301  # of a curve
_MARGIN = 0.15  # of the range of all terms, beyond its ends


def membership_functions(
    classifier: RuleDrawable, feature: int | str | None = None, *, top: int = canvas.MAX_SHOWN, ax: "Axes | None" = None
) -> "Axes":
    """Draw the Gaussians of the rules along one feature in its units, before bands for the terms of the feature.

    Rules whose centre differs most surely from the mean of the stream come first. The first six have a colour, the
    others are grey.

    Parameters
    ----------
    classifier : EvolvingFuzzyClassifier
    feature : name or column number, optional
        By default the feature that explains most of some label.
    top : int
        Rules drawn at most.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure by default.
    """
    data = classifier.figure_data()
    check_number("top", top, 1, whole=True)
    j = data.most_relevant(1)[0] if feature is None else data.feature_index(feature)
    ax = ax if ax is not None else canvas.new_axes(7.0, 3.4)
    edges = stream_terms(data.model, data.feature_names).edges[j]
    _draw_terms(ax, edges)
    margin = _MARGIN * (edges[-1] - edges[0]) or 1.0
    values = np.linspace(edges[0] - margin, edges[-1] + margin, _N_POINTS)
    slots = _most_distinctive(data, j)[:top]
    for i, slot in enumerate(slots):
        coloured = i < _N_COLOURED
        ax.plot(
            values,
            gaussian(data, int(slot), j, values),
            color=canvas.COLOURS[i] if coloured else canvas.GREY,
            linestyle=canvas.STROKES[i % len(canvas.STROKES)] if coloured else "-",
            linewidth=1.8 if coloured else 0.7,
            alpha=1.0 if coloured else 0.6,
            zorder=3 if coloured else 2,
            label=canvas.in_legend(data.rule_name(int(slot))) if coloured else ("others" if i == _N_COLOURED else None),
        )
    name = canvas.plain(data.feature_names[j])
    ax.set(xlim=(values[0], values[-1]), ylim=(0.0, 1.12), yticks=[0.0, 0.5, 1.0], xlabel=name, ylabel="membership")
    shown = canvas.of_all(len(slots), data.rules.n_rules, "rules", "the most distinctive")
    canvas.tidy(ax, f"Rules along {name}: {shown}")
    canvas.legend_beside(ax)
    return ax


def gaussian(data: RuleFigureData, slot: int, j: int, values: FloatArray) -> FloatArray:
    """Return the memberships of `values` of feature `j` in the rule of `slot`, by this feature alone.

    They are 1 at the centre and 0.61 at one spread; `data` holds the model. Values are in the units of
    sensors now.
    """
    X = np.full((len(values), data.model.n_features), np.nan)
    X[:, j] = values
    z = data.scaled(X)[:, j]
    variance = data.rules.shape(slot).covariance[j, j]
    return np.asarray(np.exp(-0.5 * (z - data.rules.arrays.c[slot, j]) ** 2 / variance))


def _most_distinctive(data: RuleFigureData, j: int) -> IntArray:
    """Return the slots by |c - mean| / spread * sqrt(k), the largest first."""
    a, used = data.rules.arrays, slice(1, data.rules.n_rules + 1)
    apart = np.abs(a.c[used, j] - scaled_moments(data.model)[0][j]) * np.sqrt(a.inv[used, j] * a.k[used])
    return np.argsort(-apart, kind="stable") + 1


def _draw_terms(ax: "Axes", edges: FloatArray) -> None:
    """Draw terms as bands with their names at the top; the name of a narrow band is left out."""
    for i, term in enumerate(TERMS):
        low, high = float(edges[i]), float(edges[i + 1])
        if i % 2 == 0:
            ax.axvspan(low, high, color="#000000", alpha=0.05, linewidth=0, zorder=0)
        if high - low > 0.07 * (edges[-1] - edges[0]):
            name = term.replace(" ", "\n")
            ax.text((low + high) / 2.0, 1.11, name, ha="center", va="top", fontsize=7, color="#555555", linespacing=0.9)
