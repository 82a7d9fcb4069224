"""The paper's figures, with panels in the paper's order."""

from math import ceil

import numpy as np

from evolabel._utils.optional import load
from evolabel.paper.reproduce.experiments import PAPER_SETS, Experiment, Panel
from evolabel.paper.reproduce.methods import METHODS, Profile
from evolabel.paper.reproduce.results import ReproductionResults, Task
from evolabel.words.figures.canvas import Axes, Figure, plain

_PANELS_PER_ROW = 2
_PANEL_INCHES = (4.1, 2.7)
_LEGEND_INCHES = 0.45
_AXIS_LABELS = {"pa": "partial accuracy", "ap": "average precision", "rules": "rules"}


# Colour, dash pattern and width of each line; the palette of Okabe and Ito, which colour-blind readers can distinguish.
_LINE_STYLES: dict[str, tuple[str, str, float]] = {
    "ours": ("#0072b2", "-", 2.2),
    "ovr": ("#d55e00", "--", 1.4),
    "chain": ("#009e73", "-.", 1.4),
    "static": ("#555555", ":", 1.8),
    "rfwls": ("#cc79a7", "--", 1.4),
    "labels-30": ("#1b6b3a", "-", 1.4),
    "labels-20": ("#009e73", "--", 1.4),
    "labels-10": ("#56b4e9", "-.", 1.4),
    "labels-10-instability": ("#d55e00", "-", 1.4),
    "samples-30": ("#1b6b3a", "-", 1.4),
    "samples-20": ("#009e73", "--", 1.4),
    "samples-10": ("#56b4e9", "-.", 1.4),
    "random-10": ("#cc79a7", "--", 1.4),
}


def draw_experiment(experiment: Experiment, results: ReproductionResults, profile: Profile) -> "Figure | None":
    """The figure of `experiment` with the `results` of one `profile`; None if none of its data sets was run."""
    extra = [name for name in results.sizes if name not in PAPER_SETS]
    panels = [panel for panel in experiment.panels_for(extra) if panel.dataset in results.sizes]
    if not panels:
        return None
    rows = ceil(len(panels) / _PANELS_PER_ROW)
    figure: Figure = load("matplotlib.figure", "plots", "a figure").Figure(
        figsize=(_PANELS_PER_ROW * _PANEL_INCHES[0], rows * _PANEL_INCHES[1] + _LEGEND_INCHES), layout="constrained"
    )
    grid = figure.subplots(rows, _PANELS_PER_ROW, squeeze=False).ravel()
    for axes, panel in zip(grid, panels, strict=False):
        _draw_panel(axes, panel, experiment, results, profile)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    handles, titles = grid[0].get_legend_handles_labels()
    figure.legend(handles, titles, loc="outside lower center", ncols=min(len(titles), 4), frameon=False)
    return figure


def _draw_panel(
    axes: "Axes", panel: Panel, experiment: Experiment, results: ReproductionResults, profile: Profile
) -> None:
    size = results.sizes[panel.dataset]
    for method in experiment.methods:
        run = results.runs.get(Task(panel.dataset, profile, method))
        if run is None:
            continue
        shared = size.labels if panel.metric == "rules" and method in ("ovr", "chain") else 1
        colour, dashes, width = _LINE_STYLES[method]
        axes.plot(
            np.array(run.trend["sample"], np.float64),
            np.array(run.trend[panel.metric], np.float64) / shared,  # None becomes NaN: a gap in the line
            color=colour,
            linestyle=dashes,
            linewidth=width,
            label=METHODS[method].title,
        )
    axes.set_title(plain(size.stream), fontsize=10, loc="left", fontweight="bold")
    axes.set_xlabel("samples answered", fontsize=9)
    axes.set_ylabel(_AXIS_LABELS[panel.metric], fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    _scale_without_start(axes)


def _scale_without_start(axes: "Axes") -> None:
    """Set the y limits without the first tenth of each line, where scores of few samples vary widely."""
    lines = [np.asarray(line.get_ydata(), np.float64) for line in axes.get_lines()]
    late = [float(value) for line in lines for value in line[len(line) // 10 :] if np.isfinite(value)]
    if late:
        margin = 0.06 * (max(late) - min(late)) or 0.05 * abs(max(late)) or 1.0
        axes.set_ylim(min(late) - margin, max(late) + margin)
