"""The paper's figures, panel by panel in the paper's arrangement."""

from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evolabel._utils.optional import load
from evolabel.explain.figures.canvas import plain
from evolabel.reproduce.experiments import SETS, Experiment, Panel
from evolabel.reproduce.methods import METHODS, Profile
from evolabel.reproduce.results import Findings, Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 2
PANEL = (4.1, 2.7)  # inches
LEGEND = 0.45
AXES = {"pa": "partial accuracy", "ap": "average precision", "rules": "rules"}


class LineStyle(NamedTuple):
    """How a line is drawn: told apart by colour and by stroke."""

    colour: str
    stroke: str
    width: float = 1.4


# After Okabe and Ito, so that nobody is left out.
LINE_STYLES: dict[str, LineStyle] = {
    "ours": LineStyle("#0072b2", "-", 2.2),
    "ovr": LineStyle("#d55e00", "--"),
    "chain": LineStyle("#009e73", "-."),
    "static": LineStyle("#555555", ":", 1.8),
    "rfwls": LineStyle("#cc79a7", "--"),
    "labels-30": LineStyle("#1b6b3a", "-"),
    "labels-20": LineStyle("#009e73", "--"),
    "labels-10": LineStyle("#56b4e9", "-."),
    "labels-10-instability": LineStyle("#d55e00", "-"),
    "samples-30": LineStyle("#1b6b3a", "-"),
    "samples-20": LineStyle("#009e73", "--"),
    "samples-10": LineStyle("#56b4e9", "-."),
    "random-10": LineStyle("#cc79a7", "--"),
}


def drawn(experiment: Experiment, findings: Findings, profile: Profile) -> "Figure | None":
    """The figure of an experiment; None if there is nothing to draw."""
    extra = [name for name in findings.sizes if name not in SETS]
    panels = [panel for panel in experiment.panels_for(extra) if panel.dataset in findings.sizes]
    if not panels:
        return None
    rows = ceil(len(panels) / COLUMNS)
    figure: Figure = load("matplotlib.figure", "plots", "a figure").Figure(
        figsize=(COLUMNS * PANEL[0], rows * PANEL[1] + LEGEND), layout="constrained"
    )
    grid = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for axes, panel in zip(grid, panels, strict=False):
        _draw_panel(axes, panel, experiment, findings, profile)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    handles, titles = grid[0].get_legend_handles_labels()
    figure.legend(handles, titles, loc="outside lower center", ncols=min(len(titles), 4), frameon=False)
    return figure


def _draw_panel(axes: "Axes", panel: Panel, experiment: Experiment, findings: Findings, profile: Profile) -> None:
    size = findings.sizes[panel.dataset]
    for method in experiment.methods:
        outcome = findings.outcomes.get(Task(panel.dataset, profile, method))
        if outcome is None:
            continue
        shared = size.labels if panel.metric == "rules" and method in ("ovr", "chain") else 1
        style = LINE_STYLES[method]
        axes.plot(
            outcome.trend["sample"],
            [value / shared for value in outcome.trend[panel.metric]],
            color=style.colour,
            linestyle=style.stroke,
            linewidth=style.width,
            label=METHODS[method].title,
        )
    axes.set_title(plain(size.stream), fontsize=10, loc="left", fontweight="bold")
    axes.set_xlabel("samples answered", fontsize=9)
    axes.set_ylabel(AXES[panel.metric], fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    _look_past_the_start(axes)


def _look_past_the_start(axes: "Axes") -> None:
    """The first few samples say little and swing widely: they do not set the scale."""
    lines = [np.asarray(line.get_ydata(), np.float64) for line in axes.get_lines()]
    late = [float(value) for line in lines for value in line[len(line) // 10 :]]
    if late:
        margin = 0.06 * (max(late) - min(late)) or 0.05 * abs(max(late)) or 1.0
        axes.set_ylim(min(late) - margin, max(late) + margin)
