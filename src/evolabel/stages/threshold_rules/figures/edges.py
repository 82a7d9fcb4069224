"""`feature_edges`: where the edges of threshold rules stand in the distribution of a feature."""

from typing import NamedTuple

import numpy as np

from evolabel._utils.text import counted
from evolabel.stages.threshold_rules.figures.figure_data import TreeDrawable, TreeFigureData
from evolabel.stages.threshold_rules.leaves import ring_rows
from evolabel.stages.threshold_rules.read_trees import TreeReader
from evolabel.stages.threshold_rules.words import LabelRules, edge_text
from evolabel.typing import FloatArray
from evolabel.words.figures import canvas
from evolabel.words.figures.canvas import Axes

_N_BINS = 40
_SHOWN_VALUES = (0.005, 0.995)  # quantiles of the values that are shown
_LEVELS = 4  # heights of the names of neighbouring edges


class PlacedEdge(NamedTuple):
    """An edge of a `label` at the `place`, uncertain by `width`."""

    label: str
    place: float
    width: float


def feature_edges(
    classifier: TreeDrawable,
    feature: int | str | None = None,
    label: int | str | None = None,
    *,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the values of a feature in recent rows, with and without a label, and the edges of its threshold rules.

    Each histogram is in percent of its own rows. Lines are the edges that are printed, bands how far they are
    uncertain; dashed lines are edges of other labels.

    Parameters
    ----------
    classifier : EvolvingFuzzyClassifier
    feature : name or column number, optional
        By default that of the first edge of the label.
    label : name or column number, optional
        A label for which threshold rules are used; by default the first, or the first with an edge in `feature`.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure by default.
    """
    data = classifier.figure_data()
    trees, k = data.tree_of_label(label)
    rules = {k: trees.label_rules(k) for k in trees.open_labels}
    if feature is not None and label is None:
        name = data.feature_names[data.feature_index(feature)]
        k = next((other for other in rules if edges_of_label(rules[other], name)), k)
    first = [name for name in split_features(rules[k]) if name in data.feature_names]
    j = data.feature_index(feature if feature is not None else first[0] if first else 0)
    name = data.feature_names[j]
    own = edges_of_label(rules[k], name)
    others = [edge for other in rules if other != k for edge in edges_of_label(rules[other], name)]
    ax = ax if ax is not None else canvas.new_axes(7.0, 3.2)
    _draw_values(ax, data, trees, k=k, j=j, edges=[*own, *others])
    top = 1.12 * ax.get_ylim()[1]
    for i, edge in enumerate(sorted([*own, *others], key=lambda edge: edge.place)):
        _draw_edge(ax, edge, top * (1.06 + 0.1 * (i % _LEVELS)), own=edge in own)
    height = top * (1.1 + 0.1 * min(len(own) + len(others), _LEVELS))
    ax.set(ylim=(0.0, height), xlabel=canvas.plain(name), ylabel="% of these rows")
    canvas.tidy(ax, f"Edges of {canvas.plain(rules[k].label)} along {canvas.plain(name)}")
    canvas.legend_beside(ax)
    return ax


def split_features(found: LabelRules) -> list[str]:
    """Return the features, and categorical columns, of all conditions of a label, the topmost questions first."""
    return list(dict.fromkeys(condition.feature for rule in found.rules for condition in rule.conditions))


def edges_of_label(found: LabelRules, feature: str) -> list[PlacedEdge]:
    """Return the edges that the rules of a label have in `feature`, each once."""
    conditions = [c for rule in found.rules for c in rule.conditions if c.feature == feature and not c.texts]
    ends = {c.low: c.low_width for c in conditions} | {c.high: c.high_width for c in conditions}
    return [PlacedEdge(found.label, place, width) for place, width in sorted(ends.items()) if np.isfinite(place)]


def aligned_bins(low: float, high: float, n_bins: int, edge: float | None) -> FloatArray:
    """Return about `n_bins` equal bins that cover `low` to `high`; one begins at the `edge`, if there is one."""
    step = (high - low) / n_bins if high > low else 1.0
    start = low if edge is None else edge - np.ceil(round((edge - low) / step, 9)) * step
    return np.asarray(start + step * np.arange(np.ceil(round((high - start) / step, 9)) + 1.0))


def recent_values(trees: TreeReader, k: int, j: int) -> tuple[FloatArray, FloatArray]:
    """Return the values of feature `j` in the recent rows with, and in those without the label of tree `k`."""
    t, used = trees.arrays, ring_rows(trees.arrays, k)
    values, positive = trees.rows_as_read(t.X[used])[:, j], t.Y[used, k] > 0
    return values[positive], values[~positive]


def _draw_values(
    ax: "Axes", data: TreeFigureData, trees: TreeReader, *, k: int, j: int, edges: list[PlacedEdge]
) -> None:
    """Draw histograms of feature `j` in the rows with and without the label of tree `k`, as wide as all `edges` are."""
    groups = recent_values(trees, k, j)
    known = np.concatenate(groups)
    known = known[~np.isnan(known)]
    ends = [*np.quantile(known, _SHOWN_VALUES), *(edge.place for edge in edges)] if len(known) else [0.0, 1.0]
    surest = min(edges, key=lambda edge: edge.width).place if edges else None
    bins = aligned_bins(min(ends), max(ends), _N_BINS, surest)
    label = canvas.in_legend(data.label_names[k])
    styles = ((canvas.BLUE, 0.55, label, 3), ("#9aa5b0", 0.55, f"not {label}", 2))
    for values, (colour, alpha, name, order) in zip(groups, styles, strict=True):
        there = values[~np.isnan(values)]
        missing = f", {len(values) - len(there)} missing" if len(there) < len(values) else ""
        share = 100.0 * np.histogram(there, bins)[0] / max(len(there), 1)
        text = f"{name}: {counted(len(values), 'row')}{missing}"
        ax.stairs(share, bins, fill=True, color=colour, alpha=alpha, label=text, zorder=order)
    ax.set_xlim(bins[0], bins[-1])


def _draw_edge(ax: "Axes", edge: PlacedEdge, height: float, *, own: bool) -> None:
    """Draw an `edge` up to this `height`, with its name and its band; dashed where it is not the label's `own`."""
    colour = canvas.VERMILION if own else canvas.GREY
    ax.axvspan(edge.place - edge.width, edge.place + edge.width, color=colour, alpha=0.18, linewidth=0, zorder=1)
    ax.plot([edge.place] * 2, [0.0, height], color=colour, lw=1.4, ls="-" if own else "--", zorder=4)
    uncertain = f" ± {edge.width:.1g}" if edge.width > 0.0 else ""
    text = f" {canvas.short(edge.label)}: {edge_text(edge.place, edge.width)}{uncertain} "
    low, high = ax.get_xlim()
    side = "left" if edge.place < 0.5 * (low + high) else "right"
    ax.text(edge.place, height, text, ha=side, va="top", fontsize=7.5, color=colour, zorder=5)
