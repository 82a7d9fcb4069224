"""Trends of metrics as figures (matplotlib); lines differ by colour and by stroke."""

from collections.abc import Sequence

import numpy as np

from evolabel.evaluate import METRICS, Repeated
from evolabel.words.figures.canvas import COLOURS, SHIFT_MARKS, STROKES, Axes, in_legend, new_axes, plain


def trend_lines(repeated: Repeated, metric: str, form: str = "cumulative", *, ax: "Axes | None" = None) -> "Axes":
    """Draw one metric along the stream, the mean and the range over the seeds, and return the Axes.

    Marks on the line of the first learner are the shifts of the stream that it has reported: labels that have drifted
    and recovered, sensors that have moved.

    Parameters
    ----------
    repeated : Repeated
        Results of one or more seeds.
    metric : str
        A metric of the run, or "rules".
    form : {"cumulative", "sliding", "current"}
        "current" for "rules", one of the others for metrics.
    ax : matplotlib Axes, optional
        Where to draw; a new figure otherwise.
    """
    ax = ax if ax is not None else new_axes()
    for position, row in enumerate(repeated.ranking()):
        samples, values = repeated.trend(row.learner, metric, form)
        if np.isfinite([v for seeds in values for v in seeds]).any():
            asked = "" if row.questions is None else f": {row.questions}"  # share of labels, of those that query them
            _line(ax, samples, values, in_legend(row.learner) + asked, position)
            if position == 0:
                _mark_shifts(ax, repeated, samples, [float(np.mean(seeds)) for seeds in values])
    ax.set(xlabel="samples answered", ylabel=plain(metric_title(metric)))
    ax.grid(alpha=0.3, linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    if ax.get_lines():
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def metric_title(metric: str) -> str:
    """Return the text for `metric` on an axis or in a table."""
    return METRICS[metric].name if metric in METRICS else metric.replace("_", " ")


def _line(axes: "Axes", samples: Sequence[int], values: list[list[float]], name: str, position: int) -> None:
    colour, stroke = COLOURS[position % len(COLOURS)], STROKES[position % len(STROKES)]
    low, middle, high = zip(*((min(row), float(np.mean(row)), max(row)) for row in values), strict=True)
    width = 2.2 if position == 0 else 1.3
    axes.plot(samples, middle, color=colour, linestyle=stroke, linewidth=width, label=name, zorder=3 - 0.01 * position)
    if low != high:
        axes.fill_between(samples, low, high, color=colour, alpha=0.12, linewidth=0)


def _mark_shifts(axes: "Axes", repeated: Repeated, samples: Sequence[int], middle: Sequence[float]) -> None:
    """Draw a mark for each shift of the first learner on its line, through the values `middle` at `samples`."""
    events = [event for seed in repeated.shifts(repeated.learners[0]).values() for event in seed]
    for kind, (marker, colour, legend) in SHIFT_MARKS.items():
        places = [event.sample - repeated.settings["initial"] for event in events if event.kind == kind]
        if places:
            heights = np.interp(places, samples, middle)
            axes.scatter(places, heights, marker=marker, color=colour, s=28, linewidths=0, label=legend, zorder=4)
