"""The surface of a search as a heat map."""

from numbers import Real
from typing import Any, Protocol

import numpy as np

from evolabel.errors import ParameterError
from evolabel.tuning.searches import surface_of
from evolabel.typing import FloatArray
from evolabel.words.figures.canvas import Axes, figure_of, new_axes, plain, short


class Searched(Protocol):
    """A search with its points, each a dictionary of parameters and of its score, and the best parameters."""

    score: Any
    surface_: list[dict[str, Any]]
    best_params_: dict[str, Any]


def heat_map(search: Searched, across: str = "alpha", down: str = "beta", *, ax: "Axes | None" = None) -> "Axes":
    """Draw the scores of a search over two parameters, and return the Axes.

    Each cell is the best over all other parameters; the best cell is marked.

    Parameters
    ----------
    search : PaperGridSearch, or an object with its attributes
        A search that has run.
    across, down : str
        Parameters of its grid.
    ax : matplotlib Axes, optional
        Where to draw; a new figure otherwise.
    """
    columns, rows, table = _table(search, across, down)
    if ax is None:
        ax = new_axes(6.4, 4.4)
    image = ax.imshow(table, cmap="cividis", aspect="auto")
    ax.set_xticks(range(len(columns)), [_text(value) for value in columns])
    ax.set_yticks(range(len(rows)), [_text(value) for value in rows])
    ax.set_xlabel(plain(across))
    ax.set_ylabel(plain(down))
    best = np.unravel_index(np.nanargmax(table), table.shape)
    ax.plot(best[1], best[0], marker="o", markersize=10, markerfacecolor="none", color="white", markeredgewidth=2)
    score = plain(str(getattr(search.score, "__name__", search.score)))
    figure_of(ax).colorbar(image, ax=ax, label=f"best score ({score})")
    return ax


def _table(search: Searched, across: str, down: str) -> tuple[list[Any], list[Any], FloatArray]:
    """Return the values across, the values down, and the best score of each pair."""
    points = surface_of(search)
    for name in (across, down):
        if name not in search.best_params_:
            raise ParameterError(f"{name!r} was not searched; use two of {', '.join(search.best_params_)}")
    columns, rows = (_values(points, name) for name in (across, down))
    table = np.full((len(rows), len(columns)), np.nan)
    for point in points:
        cell = rows.index(point[down]), columns.index(point[across])
        table[cell] = np.fmax(table[cell], point["score"])
    return columns, rows, table


def _values(points: list[dict[str, Any]], name: str) -> list[Any]:
    """Return the values of the parameter `name`: numbers sorted, others in the order of the grid."""
    found = list(dict.fromkeys(point[name] for point in points))
    return sorted(found) if all(isinstance(value, Real) for value in found) else found


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, Real) else short(str(value))
