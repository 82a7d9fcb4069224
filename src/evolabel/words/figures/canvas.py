"""Shared parts of all figures: colours, Axes without windows, names as text, heat maps, and figures as files.

Names from users pass `plain`, `short` or `in_legend` on their way to matplotlib, which would read `$` as mathematics
and a leading `_` in a legend as hidden.
"""

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from evolabel._utils.optional import load
from evolabel._utils.text import one_line
from evolabel.typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
else:  # matplotlib may be missing; other modules take both types from here
    Axes = Figure = object

# Hues that people with any kind of colour vision can distinguish (after Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
BLUE, VERMILION, GREEN, PINK, ORANGE, SKY, BLACK = COLOURS
GREY = "#8a8a8a"
STROKES = ("-", "--", "-.", ":")
_SIGNED = "RdBu_r"  # blue below zero, red above

# Marker, colour and legend of each shift of the stream (`core.events`) that figures show.
SHIFT_MARKS = {
    "drift": ("v", VERMILION, "label drifted"),
    "recovered": ("^", GREEN, "label recovered"),
    "settled": ("s", GREY, "label settled"),
    "sensor moved": ("D", PINK, "sensor moved, corrected"),
    "inputs moved": ("d", ORANGE, "inputs moved"),
    "correction dropped": ("x", PINK, "correction dropped"),
}

MAX_SHOWN = 20  # rules, features or labels, unless `top` is given
_SIZE = (6.4, 3.4)  # inches
_MAX_AT_TICK = 22  # letters
_MAX_IN_LEGEND = 30  # letters; longer names would make the Axes too narrow
_MAX_IN_LINE = 60  # letters
_NO_GLYPH = "Glyph .* missing from|Matplotlib currently does not support"  # drawn as a box: no reason to fail
_MAX_CELLS_WITH_NUMBERS = 12  # rows and columns of a heat map
_DARK = 0.6  # share of the largest value from which numbers are written in white


def new_axes(width: float = _SIZE[0], height: float = _SIZE[1]) -> "Axes":
    """Return Axes of a new figure of `width` times `height` inches that belongs to no window."""
    figure: Figure = load("matplotlib.figure", "plots", "a figure").Figure(
        figsize=(width, height), layout="constrained"
    )
    return figure.subplots()


def figure_of(ax: "Axes") -> "Figure":
    """Return the whole figure that the Axes `ax` are on."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def tidy(ax: "Axes", title: str) -> None:
    """Set a left-aligned `title` on the Axes `ax`, and hide the frame at the top and right."""
    ax.set_title(title, loc="left", fontsize=10)
    ax.spines[["top", "right"]].set_visible(False)


def legend_beside(ax: "Axes") -> None:
    """Place the legend to the right of the Axes `ax`, where it hides nothing."""
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)


def plain(name: str, longest: int = _MAX_IN_LINE) -> str:
    """Return `name` as matplotlib shows it unchanged: on one line, cut to `longest` letters, `$` escaped."""
    line = one_line(name)
    return (line if len(line) <= longest else f"{line[: longest - 1]}…").replace("$", r"\$")


def short(name: str) -> str:
    """Return `name` cut to what fits at a tick."""
    return plain(name, _MAX_AT_TICK)


def in_legend(name: str) -> str:
    """Return `name` for a legend, a space before a leading underscore: matplotlib hides names that begin with one."""
    return plain(f" {name}" if name.startswith("_") else name, _MAX_IN_LEGEND)


def of_all(shown: int, total: int, things: str, which: str) -> str:
    """Return how many of `total` `things` are `shown`, and `which`: "20 of 103 features, those with ..."."""
    return f"all {total} {things}" if shown == total else f"{shown} of {total} {things}, {which}"


def draw_heat_map(
    ax: "Axes | None",
    values: FloatArray,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    limit: float,
    meaning: str,
) -> "Axes":
    """Draw signed values as colours, and return the Axes; zero is white, NaN is left out.

    `values` (rows, columns) are drawn on `ax`, or on a new figure if it is None, with numbers if there are at most 12
    rows and columns. `rows` and `columns` are their names, `limit` the absolute value of the darkest colours, and
    `meaning` the label of the colour bar.
    """
    height, width = values.shape
    if ax is None:
        ax = new_axes(max(6.4, 2.6 + 0.3 * width), 1.6 + 0.27 * max(height, 5))
    image = ax.imshow(values, cmap=_SIGNED, vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest")
    ax.set_xticks(range(width), [short(name) for name in columns], rotation=60, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(height), [short(name) for name in rows])
    ax.tick_params(length=0, labelsize=8)
    ax.spines[:].set_visible(False)
    figure_of(ax).colorbar(image, ax=ax, label=meaning, shrink=0.9)
    if max(values.shape) <= _MAX_CELLS_WITH_NUMBERS:
        for i, j in np.argwhere(~np.isnan(values)):
            value = values[i, j]
            colour = "white" if abs(value) > _DARK * limit else "black"
            ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=6.5, color=colour)
    return ax


def as_svg(figure: "Figure") -> str:
    """Return `figure` as SVG without XML header and date: the same figure gives the same bytes."""
    matplotlib = load("matplotlib", "plots", "a figure")
    text = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "evolabel"}), _without_glyph_warnings():
        figure.savefig(text, format="svg", metadata={"Date": None})
    _, tag, drawing = text.getvalue().partition("<svg")
    return tag + drawing


def as_png(figure: "Figure", dots_per_inch: int) -> bytes:
    """Return `figure` as PNG with the resolution `dots_per_inch`."""
    image = io.BytesIO()
    with _without_glyph_warnings():
        figure.savefig(image, format="png", dpi=dots_per_inch)
    return image.getvalue()


@contextmanager
def _without_glyph_warnings() -> Iterator[None]:
    """Ignore the warning that a font lacks a letter (drawn as a box): callers may turn warnings into errors."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _NO_GLYPH, UserWarning)
        yield
