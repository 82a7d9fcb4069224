"""`draw_timeline`: what changed in the plant, what was reported, and how well the faults were predicted meanwhile."""

from collections.abc import Mapping, Sequence

import numpy as np

from evolabel.core.events import Event
from evolabel.demo.standing import SCORED_FROM
from evolabel.typing import BoolArray, FloatArray
from evolabel.words.figures.canvas import BLACK, COLOURS, SHIFT_MARKS, Axes, new_axes, tidy

_WINDOW = 300  # rows over which the error is averaged
_TRUTH, _REPORT = -0.012, -0.028  # heights of the two lines of marks


def draw_timeline(
    decided: BoolArray, Y: FloatArray, names: Sequence[str], changes: Mapping[int, str], shifts: Sequence[Event]
) -> Axes:
    """Return Axes with the share of wrong decisions per label along the stream, and marks below it.

    `decided` and `Y` are the decisions and the labels called `names`, `changes` what changed in the plant at which row,
    `shifts` what was reported.
    """
    ax = new_axes(9.0, 3.6)
    wrong = decided != (Y > 0.5)
    rows = np.arange(SCORED_FROM + _WINDOW, SCORED_FROM + len(Y) + 1)
    for name, errors, colour in zip(names, wrong.T, COLOURS, strict=False):
        sums = np.concatenate([[0.0], np.cumsum(errors)])
        ax.plot(rows, (sums[_WINDOW:] - sums[:-_WINDOW]) / _WINDOW, color=colour, label=name)
    for row in changes:
        ax.axvline(row, color=BLACK, linewidth=0.8, linestyle=":")
        ax.plot([row], [_TRUTH], marker="|", color=BLACK, markersize=10)
    seen: set[str] = set()
    for event in (shift for shift in shifts if shift.kind in SHIFT_MARKS):
        marker, colour, legend = SHIFT_MARKS[event.kind]
        label = "_" if event.kind in seen else legend
        ax.plot([event.sample], [_REPORT], linestyle="", marker=marker, color=colour, markersize=7, label=label)
        seen.add(event.kind)
    ax.text(0.0, _TRUTH, "changed ", ha="right", va="center", fontsize=8)
    ax.text(0.0, _REPORT, "reported ", ha="right", va="center", fontsize=8)
    ax.set_xlim(0, SCORED_FROM + len(Y))
    ax.set_ylim(bottom=_REPORT * 1.4)
    ax.set_yticks([tick for tick in ax.get_yticks() if tick >= 0.0])
    ax.set_xlabel("row")
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
    tidy(ax, f"share of wrong predictions in the last {_WINDOW} rows")
    return ax
