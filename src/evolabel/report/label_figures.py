"""Figures of the labels of one learner: ROC curves, precision-recall curves, and how probabilities hold."""

from collections.abc import Callable

from evolabel.evaluate.label_statistics import Curve, LabelScores, LabelStatistics
from evolabel.words.figures.canvas import (
    BLUE,
    COLOURS,
    GREY,
    STROKES,
    Axes,
    in_legend,
    legend_beside,
    new_axes,
    of_all,
    tidy,
)

_MOST_LINES = 7  # labels; there are as many colours

Drawn = tuple["Axes | None", str]
"""The Axes, None if there is nothing to draw, and the caption."""


def roc_curves(counts: LabelStatistics) -> Drawn:
    """Draw the ROC curves of the labels with most support in `counts`; return Axes and caption."""
    ax, which = _curves(counts, counts.roc_curve, lambda row: row.roc_auc)
    if ax is not None:
        ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
        ax.set(xlabel="share of false alarms", ylabel="share found (recall)")
        tidy(ax, "ROC")
    return ax, f"ROC curves, {which}; in brackets the area below. The diagonal is guessing."


def pr_curves(counts: LabelStatistics) -> Drawn:
    """Draw the precision-recall curves of the labels with most support in `counts`; return Axes and caption."""
    ax, which = _curves(counts, counts.pr_curve, lambda row: row.pr_auc)
    if ax is not None:
        ax.set(xlabel="recall", ylabel="precision")
        tidy(ax, "precision and recall")
    return ax, f"Precision at each recall, {which}; in brackets the average precision."


def calibration_figure(counts: LabelStatistics) -> Drawn:
    """Draw how often labels of each probability in `counts` were true; return Axes and caption."""
    found = counts.calibration()
    if found is None:
        return None, ""
    ax = new_axes()
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
    sizes = 12 + 120 * found.pairs / found.pairs.max()
    ax.plot(found.promised, found.found, color=BLUE, linewidth=1.3)
    ax.scatter(found.promised, found.found, s=sizes, color=BLUE, linewidths=0)
    ax.set(xlabel="probability", ylabel="share of true labels", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    tidy(ax, f"calibration, expected error {found.error:.3f}")
    return ax, "How often labels of each probability were true, all labels together; larger dots: more predictions."


LABEL_FIGURES: dict[str, Callable[[LabelStatistics], Drawn]] = {
    "roc": roc_curves,
    "precision-recall": pr_curves,
    "calibration": calibration_figure,
}
"""Functions that draw the figures, by the names of their files."""


def _curves(counts: LabelStatistics, curve: Callable[[int], Curve], area: Callable[[LabelScores], float]) -> Drawn:
    """Draw `curve` of the labels with most support, `area` in the legend; return Axes, and which labels are drawn."""
    rows = counts.rows()
    defined = [k for k, row in enumerate(rows) if area(row) == area(row)]
    kept = sorted(sorted(defined, key=lambda k: -rows[k].support)[:_MOST_LINES])
    if not kept:
        return None, ""
    ax = new_axes()
    for position, k in enumerate(kept):
        x, y = curve(k)
        label = f"{in_legend(rows[k].label)} ({area(rows[k]):.2f})"
        style = STROKES[position % len(STROKES)]
        ax.plot(x, y, color=COLOURS[position % len(COLOURS)], linestyle=style, linewidth=1.3, label=label)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    legend_beside(ax)
    return ax, of_all(len(kept), len(rows), "labels", "those with most support")
