"""What all figures have in common: colours, Axes without windows, names as text, heat maps, and drawings as files.

Every name from outside passes `plain`, `short` or `in_legend` on its way to matplotlib, which would read `$` as
mathematics and a leading `_` in a legend as hidden.
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
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Hues that people with any kind of colour vision can tell apart (after Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
BLUE, VERMILION, GREEN, PINK, ORANGE, SKY, BLACK = COLOURS
GREY = "#8a8a8a"
STROKES = ("-", "--", "-.", ":")
SIGNED = "RdBu_r"  # blue below zero, red above: told apart by lightness as well

SIZE = (6.4, 3.4)
SHOWN = 20  # rules, features or labels at most, unless asked for more
LONGEST_NAME = 22  # letters at a tick
LONGEST_IN_LEGEND = 30  # longer ones would leave the Axes no room
LONGEST_LINE = 60
NO_GLYPH = "Glyph .* missing from|Matplotlib currently does not support"  # drawn as a box: no reason to fail
CELLS_WITH_NUMBERS = 12  # rows and columns of a heat map at most
DARK = 0.6  # share of the largest value from which numbers are written in white


def new_axes(width: float = SIZE[0], height: float = SIZE[1]) -> "Axes":
    """Axes of a figure that belongs to no window."""
    figure: Figure = load("matplotlib.figure", "plots", "a figure").Figure(
        figsize=(width, height), layout="constrained"
    )
    return figure.subplots()


def figure_of(ax: "Axes") -> "Figure":
    """The whole figure the Axes are on."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def tidy(ax: "Axes", title: str) -> None:
    """A title to the left, and no frame where there are no numbers."""
    ax.set_title(title, loc="left", fontsize=10)
    ax.spines[["top", "right"]].set_visible(False)


def legend_beside(ax: "Axes") -> None:
    """The legend to the right of the Axes, where it hides nothing."""
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)


def plain(name: str, longest: int = LONGEST_LINE) -> str:
    """`name` as matplotlib shows it letter by letter: on one line, cut to `longest` letters, `$` escaped."""
    line = one_line(name)
    return (line if len(line) <= longest else f"{line[: longest - 1]}…").replace("$", r"\$")


def short(name: str) -> str:
    """A name cut to what fits at a tick."""
    return plain(name, LONGEST_NAME)


def in_legend(name: str) -> str:
    """A name for a legend; matplotlib hides those that begin with an underscore, so a space comes before it."""
    return plain(f" {name}" if name.startswith("_") else name, LONGEST_IN_LEGEND)


def of_all(shown: int, total: int, things: str, which: str) -> str:
    """How to say in a title that not everything is shown: "20 of 103 features, those with ..."."""
    return f"all {total} {things}" if shown == total else f"{shown} of {total} {things}, {which}"


def heat_map(
    ax: "Axes | None", values: FloatArray, rows: Sequence[str], columns: Sequence[str], limit: float, meaning: str
) -> "Axes":
    """Signed values as colours, zero white, NaN left out; with numbers where there is room."""
    height, width = values.shape
    if ax is None:
        ax = new_axes(max(6.4, 2.6 + 0.3 * width), 1.6 + 0.27 * max(height, 5))
    image = ax.imshow(values, cmap=SIGNED, vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest")
    ax.set_xticks(range(width), [short(name) for name in columns], rotation=60, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(height), [short(name) for name in rows])
    ax.tick_params(length=0, labelsize=8)
    ax.spines[:].set_visible(False)
    figure_of(ax).colorbar(image, ax=ax, label=meaning, shrink=0.9)
    if max(values.shape) <= CELLS_WITH_NUMBERS:
        for i, j in np.argwhere(~np.isnan(values)):
            value = values[i, j]
            colour = "white" if abs(value) > DARK * limit else "black"
            ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=6.5, color=colour)
    return ax


def as_svg(figure: "Figure") -> str:
    """The drawing without the XML header, and without a date: the same figure gives the same bytes."""
    matplotlib = load("matplotlib", "plots", "a figure")
    text = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "evolabel"}), _without_glyph_warnings():
        figure.savefig(text, format="svg", metadata={"Date": None})
    _, tag, drawing = text.getvalue().partition("<svg")
    return tag + drawing


def as_png(figure: "Figure", dots_per_inch: int) -> bytes:
    """The drawing as pixels."""
    image = io.BytesIO()
    with _without_glyph_warnings():
        figure.savefig(image, format="png", dpi=dots_per_inch)
    return image.getvalue()


@contextmanager
def _without_glyph_warnings() -> Iterator[None]:
    """Let matplotlib draw a box for a letter its fonts lack, without a warning, which may be an error elsewhere."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", NO_GLYPH, UserWarning)
        yield
