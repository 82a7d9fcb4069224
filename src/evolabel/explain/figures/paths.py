"""`sample_path`: the conditions of the threshold rule that answers for one sample, with the values of the sample."""

from typing import NamedTuple

import numpy as np

from evolabel._utils.text import samples
from evolabel.errors import DataError
from evolabel.explain.explain_sample import explain_sample
from evolabel.explain.figures.figure_data import Drawable
from evolabel.explain.prediction import Explanation
from evolabel.stages.threshold_rules.figures.edges import aligned_bins
from evolabel.stages.threshold_rules.leaves import ring_rows
from evolabel.stages.threshold_rules.path import ThresholdPath
from evolabel.stages.threshold_rules.read_trees import TreeReader
from evolabel.stages.threshold_rules.words import (
    FULL_WEIGHT,
    NOTHING_ELSE,
    ThresholdCondition,
    ThresholdRule,
    edge_text,
    percent,
    weight_text,
)
from evolabel.typing import FloatArray
from evolabel.words.figures import canvas
from evolabel.words.figures.canvas import Axes
from evolabel.words.text_columns import FALSE, column_and_value, flag_features

_PATH_BINS = 36
_SHOWN_RANGE = (0.01, 0.99)  # quantiles of the recent values between which a feature is drawn
_HIGH = 0.42  # of a row: the highest bar
_PASSED, _REST = "#bcd7ea", "#e3e6ea"  # of values for which a condition holds, and of others


class _Sample(NamedTuple):
    """The values `x` of a sample, `recent` rows as sensors read now, and the trees."""

    x: FloatArray
    recent: FloatArray
    trees: TreeReader


def sample_path(classifier: Drawable, x: object, label: int | str | None = None, *, ax: "Axes | None" = None) -> "Axes":
    """Draw the way of one sample through the tree of a label: each condition of the rule at its end, in its own units.

    Bars are the values of recent rows, blue where the condition holds; lines are edges with their uncertainty, the dot
    is the sample. The last line is the share of the rule.

    Parameters
    ----------
    classifier : EvolvingFuzzyClassifier
    x : array of shape (n_features,) or (1, n_features)
        The raw sample.
    label : name or column number, optional
        A label for which threshold rules are used; by default the one with the largest output.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure by default.
    """
    data = classifier.figure_data()
    trees, k = data.tree_of_label(label)
    rows = data.read_rows(np.atleast_2d(np.asarray(x)))
    if len(rows) != 1:
        raise DataError(f"x has {len(rows)} rows; pass one sample")
    if np.isnan(rows).all():
        raise DataError("x has no feature at all (only NaN), so no rule asks about it; pass a sample with some values")
    why = explain_sample(data.model, rows, data.feature_names, data.label_names, threshold=data.threshold)
    if label is None:
        k = max(trees.open_labels, key=lambda k: (why.paths[k] is not None, why.total[k]))
    path = why.paths[k]
    if path is None:
        raise DataError(
            f"a written rule decides {data.label_names[k]} of this sample, so it has no path; "
            "pass another label or sample, or see explain"
        )
    conditions = path.rule.conditions
    ax = ax if ax is not None else canvas.new_axes(8.2, 0.62 * len(conditions) + 1.25)
    sample = _Sample(why.x, trees.rows_as_read(trees.arrays.X[ring_rows(trees.arrays, k)]), trees)
    for row, condition in enumerate(conditions):
        draw = _draw_texts if condition.feature in trees.columns else _draw_range
        draw(ax, sample, condition, row)
    n = len(conditions)
    _draw_share(ax, path.rule, n)
    words = [*(canvas.plain(condition.words()) for condition in conditions), f"then {canvas.plain(path.rule.then())}"]
    ax.set_yticks([row + 0.1 for row in range(n + 1)], words, fontsize=8.5)
    ax.tick_params(length=0)
    ax.set(xlim=(0.0, 1.38), ylim=(n + 0.55, -0.55), xticks=[])
    ax.spines[:].set_visible(False)
    ax.set_title(_title(why, path, k), loc="left", fontsize=10)
    return ax


def _title(why: Explanation, path: ThresholdPath, k: int) -> str:
    """Return the prediction of label `k`, and how far the rule of the `path` answers for it."""
    answer = "yes" if why.predicted[k] else "no"
    border = "" if why.threshold is None else f", threshold {why.borders[k]:.2g}"
    text = f"{canvas.plain(why.label_names[k])}: {answer} (output {why.total[k]:.2f}{border})"
    if path.share < FULL_WEIGHT:
        text += f"; near an edge, this rule has {weight_text(path.share)} of the answer"
    return text + ("" if path.weight >= FULL_WEIGHT else f"; threshold rules count {weight_text(path.weight)}")


def _draw_range(ax: "Axes", sample: _Sample, condition: ThresholdCondition, row: int) -> None:
    """Draw in this `row` where the `sample` is among recent rows, and for which values the `condition` holds."""
    j = sample.trees.features.index(condition.feature)
    recent, x = sample.recent, sample.x
    known, value = recent[~np.isnan(recent[:, j]), j], float(x[j])
    ends = [end for end in (condition.low, condition.high, value) if np.isfinite(end)]
    low, high = _span([*np.quantile(known, _SHOWN_RANGE), *ends] if len(known) else ends)
    bins = aligned_bins(low, high, _PATH_BINS, ends[0] if len(ends) > 1 or np.isnan(value) else None)
    low, high = float(bins[0]), float(bins[-1])
    counts = np.histogram(known, bins)[0]
    middles = 0.5 * (bins[1:] + bins[:-1])
    holds = (middles > condition.low) & (middles <= condition.high) & (condition.missing != NOTHING_ELSE)
    heights = np.sqrt(counts / max(int(counts.max()), 1)) * _HIGH
    ax.bar(
        (middles - low) / (high - low), -heights, 1.0 / len(counts), row + 0.25,
        color=[_PASSED if passed else _REST for passed in holds], zorder=1,
    )  # fmt: skip
    ax.plot([0.0, 1.0], [row + 0.25] * 2, color=canvas.GREY, lw=0.7, zorder=2)
    for end, width in ((condition.low, condition.low_width), (condition.high, condition.high_width)):
        if np.isfinite(end):
            at, half = (end - low) / (high - low), width / (high - low)
            ax.fill_between([at - half, at + half], row + 0.25, row - 0.25, color=canvas.VERMILION, alpha=0.2, lw=0)
            ax.plot([at] * 2, [row + 0.25, row - 0.25], color=canvas.VERMILION, lw=1.4, zorder=3)
            text = edge_text(end, width)
            ax.text(at, row - 0.27, text, ha="center", va="bottom", fontsize=7, color=canvas.VERMILION)
    if not np.isnan(value):
        ax.plot((value - low) / (high - low), row + 0.25, "o", color=canvas.BLACK, ms=6, zorder=4)
    ax.text(1.03, row + 0.1, "missing" if np.isnan(value) else f"{value:.4g}", va="center", fontsize=8.5)


def _draw_texts(ax: "Axes", sample: _Sample, condition: ThresholdCondition, row: int) -> None:
    """Draw the values of a categorical column as parts of a bar, by their shares among recent rows."""
    x, recent, trees = sample
    features = trees.columns[condition.feature]
    texts = [column_and_value(trees.features[j])[1] for j in features]
    values, x = recent[:, features], x[features]
    if condition.feature in flag_features(trees.features):
        texts, values, x = [FALSE, *texts], np.column_stack([1.0 - values, values]), np.append(1.0 - x, x)
    shares = np.nan_to_num(np.nanmean(values, axis=0)) if len(recent) else np.zeros(len(texts))
    shares = (shares + 0.02) / (shares + 0.02).sum()
    start, here = 0.0, "missing" if np.isnan(x).any() else "none"
    for text, value, share in zip(texts, x.tolist(), shares, strict=True):
        passed = not condition.texts or (text in condition.texts) != condition.excluded
        ax.barh(row + 0.1, share, 0.3, start, color=_PASSED if passed else _REST, edgecolor="white", zorder=1)
        room = canvas.plain(text, max(2, int(60 * share)))
        ax.text(start + 0.5 * share, row + 0.1, room, ha="center", va="center", fontsize=7, color="#333333", zorder=3)
        if value > 0.5:
            here = text
            ax.plot(start + 0.5 * share, row + 0.31, "o", color=canvas.BLACK, ms=6, zorder=4)
        start += share
    ax.text(1.03, row + 0.1, canvas.short(here), va="center", fontsize=8.5)


def _draw_share(ax: "Axes", rule: ThresholdRule, row: int) -> None:
    """Draw the share of the `rule` as a bar in the last `row`."""
    ax.barh(row + 0.1, 1.0, 0.3, color="white", edgecolor=canvas.BLUE, linewidth=0.8, zorder=1)
    ax.barh(row + 0.1, rule.share, 0.3, color=canvas.BLUE, zorder=2)
    number = "" if rule.number is None else f", rule {rule.number}"
    share = f"{canvas.short(rule.label)} {percent(rule.share)} of {samples(rule.support)}"
    ax.text(1.03, row + 0.1, f"{share}{number}", va="center", fontsize=8.5)


def _span(ends: list[float]) -> tuple[float, float]:
    """Return the least and the largest of `ends`, with a margin between which all of them can be drawn."""
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    margin = 0.04 * (high - low) or 0.5
    return low - margin, high + margin
