"""The paper's figures, with panels in the paper's order."""

from math import ceil

import numpy as np

from evolabel._utils.optional import load
from evolabel.paper.reproduce.experiments import PAPER_SETS, Experiment, Panel
from evolabel.paper.reproduce.methods import METHODS, Profile
from evolabel.paper.reproduce.results import ProfileResults, ReproductionResults, Task
from evolabel.words.figures.canvas import Axes, Figure, plain

_PANELS_PER_ROW = 2
_PANEL_INCHES = (4.1, 2.7)
_LEGEND_INCHES = 0.45
_BAND = 0.15  # opacity of the band between the seeds
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
    """The figure of `experiment` with the `results` of one `profile`; None if none of its runs is there."""
    extra = [name for name in results.sizes if name not in PAPER_SETS]
    panels = [panel for panel in experiment.panels_for(extra) if panel.dataset in results.sizes]
    by_vigilance = experiment.kind == "vigilances"
    if not panels or (by_vigilance and all(task.vigilance is None for task in results.runs)):
        return None
    rows = ceil(len(panels) / _PANELS_PER_ROW)
    figure: Figure = load("matplotlib.figure", "plots", "a figure").Figure(
        figsize=(_PANELS_PER_ROW * _PANEL_INCHES[0], rows * _PANEL_INCHES[1] + _LEGEND_INCHES), layout="constrained"
    )
    grid = figure.subplots(rows, _PANELS_PER_ROW, squeeze=False).ravel()
    draw = _draw_vigilances if by_vigilance else _draw_lines
    for axes, panel in zip(grid, panels, strict=False):
        draw(axes, panel, experiment, results, profile)
        axes.set_title(plain(results.sizes[panel.dataset].stream), fontsize=10, loc="left", fontweight="bold")
        axes.tick_params(labelsize=8)
        axes.grid(alpha=0.25, linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    handles, titles = grid[0].get_legend_handles_labels()
    figure.legend(handles, titles, loc="outside lower center", ncols=min(len(titles), 4), frameon=False)
    return figure


def _draw_lines(
    axes: "Axes", panel: Panel, experiment: Experiment, results: ReproductionResults, profile: Profile
) -> None:
    """A line for each method: the mean over its seeds, with a band from the lowest to the highest."""
    found, size = ProfileResults(results, profile), results.sizes[panel.dataset]
    for method in experiment.methods:
        runs = [
            run
            for seed in found.seeds(panel.dataset, method)
            if (run := results.runs.get(Task(panel.dataset, profile, method, seed))) is not None
        ]
        if not runs:
            continue
        shared = size.labels if panel.metric == "rules" and method in ("ovr", "chain") else 1
        values = np.array([run.trend[panel.metric] for run in runs], np.float64) / shared  # None becomes NaN: a gap
        samples = np.array(runs[0].trend["sample"], np.float64)
        colour, dashes, width = _LINE_STYLES[method]
        title = METHODS[method].title
        axes.plot(samples, values.mean(0), color=colour, linestyle=dashes, linewidth=width, label=title)
        if len(runs) > 1:
            axes.fill_between(samples, values.min(0), values.max(0), color=colour, alpha=_BAND, linewidth=0)
    axes.set_xlabel("samples answered", fontsize=9)
    axes.set_ylabel(_AXIS_LABELS[panel.metric], fontsize=9)
    _scale_without_start(axes)


def _draw_vigilances(
    axes: "Axes", panel: Panel, experiment: Experiment, results: ReproductionResults, profile: Profile
) -> None:
    """Scores by the number of rules, a point for each vigilance and seed; the chosen vigilance has a ring."""
    runs = {t: run for t, run in results.runs.items() if t.dataset == panel.dataset and t.vigilance is not None}
    rules = np.array([run.rules for run in runs.values()])
    chosen = [results.searches[t._replace(vigilance=None)].params["vigilance"] == t.vigilance for t in runs]
    searched = [results.searches[task].score for task in runs]
    streamed = [run.pa for run in runs.values()]
    for title, colour, scores in (("in the search", "#56b4e9", searched), ("along the stream", "#0072b2", streamed)):
        values = np.array(scores, np.float64)
        axes.plot(rules, values, ".", color=colour, markersize=5, label=title)
        axes.plot(rules[chosen], values[chosen], "o", color="#d55e00", fillstyle="none")
    axes.set_xscale("log")
    axes.set_xlabel("rules at the end of the stream", fontsize=9)
    axes.set_ylabel(_AXIS_LABELS[panel.metric], fontsize=9)


def _scale_without_start(axes: "Axes") -> None:
    """Set the y limits without the first tenth of each line, where scores of few samples vary widely."""
    lines = [np.asarray(line.get_ydata(), np.float64) for line in axes.get_lines()]
    late = [float(value) for line in lines for value in line[len(line) // 10 :] if np.isfinite(value)]
    if late:
        margin = 0.06 * (max(late) - min(late)) or 0.05 * abs(max(late)) or 1.0
        axes.set_ylim(min(late) - margin, max(late) + margin)
