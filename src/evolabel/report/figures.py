"""Trend lines as figures (matplotlib): one idea each, told apart by colour and by stroke."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from evolabel.evaluate import METRICS, Repeated, Standing
from evolabel.explain.figures.canvas import COLOURS, STROKES, in_legend, new_axes, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def trend_lines(repeated: Repeated, metric: str, form: str = "cumulative", *, ax: "Axes | None" = None) -> "Axes":
    """Lines of one metric along the stream: the mean over the seeds, and the range from the worst to the best seed.

    Parameters
    ----------
    repeated : Repeated
    metric : str
        A metric of the run, or "rules".
    form : {"cumulative", "sliding", "current"}
    ax : matplotlib Axes, optional
        Where to draw; a new figure otherwise.
    """
    ax = ax if ax is not None else new_axes()
    for place, standing in enumerate(repeated.standings()):
        samples, values = repeated.trend(standing.learner, metric, form)
        if np.isfinite([v for row in values for v in row]).any():
            _line(ax, samples, values, legend(standing), place)
    ax.set_xlabel("samples answered")
    ax.set_ylabel(plain(name_of(metric)))
    ax.grid(alpha=0.3, linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    if ax.get_lines():
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def legend(standing: Standing) -> str:
    """The name of a learner, and the share of labels it has used if it asks for them."""
    name = in_legend(standing.learner)
    return name if standing.questions is None else f"{name}: {standing.questions}"


def name_of(metric: str) -> str:
    """How a metric is written on an axis."""
    return METRICS[metric].name if metric in METRICS else metric.replace("_", " ")


def _line(axes: "Axes", samples: Sequence[int], values: list[list[float]], name: str, place: int) -> None:
    colour, stroke = COLOURS[place % len(COLOURS)], STROKES[place % len(STROKES)]
    low, middle, high = zip(*((min(row), float(np.mean(row)), max(row)) for row in values), strict=True)
    width = 2.2 if place == 0 else 1.3
    axes.plot(samples, middle, color=colour, linestyle=stroke, linewidth=width, label=name, zorder=3 - 0.01 * place)
    if low != high:
        axes.fill_between(samples, low, high, color=colour, alpha=0.12, linewidth=0)
