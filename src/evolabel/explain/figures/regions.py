"""`rule_map`: the regions of the rules on a plane."""

from collections.abc import Sequence

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.errors import DataError
from evolabel.explain.figures import canvas
from evolabel.explain.figures.canvas import Axes
from evolabel.explain.figures.figure_data import Drawable, FigureData
from evolabel.explain.figures.planes import Plane, plane_of
from evolabel.typing import FloatArray, IntArray

_MAX_SAMPLES = 400  # drawn on a map
_NAME_BOX = {"facecolor": "white", "alpha": 0.9, "edgecolor": "none", "pad": 0.6}  # behind the name of a rule


def rule_map(
    classifier: Drawable,
    features: Sequence[int | str] | None = None,
    *,
    X: object = None,
    Y: object = None,
    label: int | str | None = None,
    top: int = canvas.MAX_SHOWN,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the projection of every rule at one spread, over two features or the two best discriminants.

    Parameters
    ----------
    classifier : EvolvingFuzzyClassifier
    features : two names or column numbers, optional
        Axes in the units of the features; by default the two directions that separate the labels best, in standard
        deviations of the stream.
    X : array or frame of shape (n_samples, n_features), optional
        Samples to be drawn, at most 400 of them, evenly chosen.
    Y : array or frame of shape (n_samples, n_labels), optional
        Their labels.
    label : name or column number, optional
        The label that colours the samples.
    top : int
        Rules drawn at most: the best supported.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure by default.
    """
    data = classifier.figure_data()
    check_number("top", top, 1, whole=True)
    plane, slots = plane_of(data, features), data.best_supported(top)
    groups = [] if X is None else _sample_groups(data, X, Y, label)
    if X is None and (Y is not None or label is not None):
        raise DataError("Y or label was given without X; pass X as well")
    ax = ax if ax is not None else canvas.new_axes(6.8, 4.8)
    for rows, marker, colour, legend in groups:
        x, y = plane.project(data.model.scale(rows)).T
        ax.plot(x, y, marker, color=colour, markersize=3, markeredgewidth=0.7, alpha=0.6, label=legend, zorder=1)
    _draw_rules(ax, plane, slots)
    ax.set_xlabel(plane.names[0], fontsize=9)
    ax.set_ylabel(plane.names[1], fontsize=9)
    which = canvas.of_all(len(slots), data.rules.n_rules, "rules", "the best supported")
    canvas.tidy(ax, f"Rules at one spread: {which}")
    if groups:
        canvas.legend_beside(ax)
    return ax


def _sample_groups(
    data: FigureData, X: object, Y: object, label: int | str | None
) -> list[tuple[FloatArray, str, str, str]]:
    """Return the samples grouped by the values of `label`: rows, marker, colour and legend of each group."""
    rows = data.read_rows(X)
    kept = np.unique(np.linspace(0, len(rows) - 1, min(_MAX_SAMPLES, len(rows))).astype(int))
    if label is None:
        if Y is not None:
            raise DataError("Y was given without label; name the label that colours the samples by `label`")
        return [(rows[kept], ".", canvas.GREY, "samples")]
    column = data.label_index(label)
    if Y is None:
        raise DataError(f"label={label!r} was given without Y; pass the label matrix as well")
    values, name = data.read_labels(Y, len(rows))[kept, column], data.label_names[column]
    groups = [
        (values > 0.5, "^", canvas.VERMILION, canvas.in_legend(name)),
        (values <= 0.5, "x", canvas.BLUE, canvas.in_legend(f"not {name}")),
        (np.isnan(values), ".", canvas.GREY, "not annotated"),
    ]
    return [(rows[kept][mine], *look) for mine, *look in groups if mine.any()]


def _draw_rules(ax: "Axes", plane: Plane, slots: IntArray) -> None:
    """Draw the outlines of the rules, thicker with more support, each with its name where it hides no other name."""
    data = plane.data
    support = data.rules.arrays.k
    outlines = [plane.outline(int(slot)) for slot in slots]
    extent = np.ptp(np.vstack(outlines), axis=0)
    scale = np.where(extent > 0.0, extent, 1.0)
    taken: list[FloatArray] = []
    for slot, outline in zip(slots, outlines, strict=True):
        width = 0.6 + 2.0 * np.sqrt(support[int(slot)] / support[slots].max())
        dashes = "--" if data.rules.arrays.locked[int(slot)] else "-"
        ax.fill(*outline.T, facecolor=(canvas.SKY, 0.08), edgecolor="#222222", lw=width, ls=dashes)
        spot = _free_spot(outline / scale, taken)
        taken.append(spot)
        name = canvas.short(data.rule_name(int(slot)).removeprefix("rule "))
        x, y = spot * scale
        ax.text(x, y, name, fontsize=8, ha="center", va="center", zorder=4, bbox=_NAME_BOX)
    ax.autoscale_view()


def _free_spot(outline: FloatArray, taken: list[FloatArray]) -> FloatArray:
    """Return the point of an outline that is farthest from all names so far; the topmost for the first."""
    if not taken:
        return np.asarray(outline[outline[:, 1].argmax()])
    apart = np.linalg.norm(outline[:, None] - np.array(taken), axis=2).min(axis=1)
    return np.asarray(outline[apart.argmax()])
