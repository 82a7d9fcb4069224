"""`rule_map`: where the rules are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from evolabel._utils.optional import load
from evolabel._utils.validation import check_number
from evolabel.errors import DataError
from evolabel.explain.figures.canvas import (
    BLUE,
    GREY,
    SHOWN,
    SKY,
    VERMILION,
    in_legend,
    legend_beside,
    new_axes,
    of_all,
    short,
    tidy,
)
from evolabel.explain.figures.figure_data import Anatomy, Drawable
from evolabel.explain.figures.planes import Plane, plane_of
from evolabel.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 400  # samples drawn at most
PLATE = {"facecolor": "white", "alpha": 0.9, "edgecolor": "none", "pad": 0.6}  # behind the name of a rule


def rule_map(
    classifier: Drawable,
    features: Sequence[int | str] | None = None,
    *,
    X: object = None,
    Y: object = None,
    label: int | str | None = None,
    top: int = SHOWN,
    ax: "Axes | None" = None,
) -> "Axes":
    """Every rule as the shadow of its region at one spread, over two features or the two best discriminants.

    Parameters
    ----------
    classifier : EvolvingFuzzyClassifier
    features : two names or places, optional
        Axes in the units of the features; without, the two directions that tell the labels apart best, in standard
        deviations of the stream.
    X : array or frame of shape (n_samples, n_features), optional
        Samples to be drawn, at most 400 of them, evenly chosen.
    Y : array or frame of shape (n_samples, n_labels), optional
        Their labels; `label` says which one colours them.
    top : int
        Rules drawn at most: the best supported.
    """
    anatomy = classifier.figure_data()
    check_number("top", top, 1, whole=True)
    plane, slots = plane_of(anatomy, features), anatomy.best_supported(top)
    kinds = [] if X is None else _kinds(anatomy, X, Y, label)
    if X is None and (Y is not None or label is not None):
        raise DataError("labels colour samples, and there are none; pass X as well")
    ax = ax if ax is not None else new_axes(6.8, 4.8)
    for rows, marker, colour, told in kinds:
        x, y = plane.place(anatomy.model.scale(rows)).T
        ax.plot(x, y, marker, color=colour, markersize=3, markeredgewidth=0.7, alpha=0.6, label=told, zorder=1)
    _draw_rules(ax, plane, slots)
    ax.set_xlabel(plane.names[0], fontsize=9)
    ax.set_ylabel(plane.names[1], fontsize=9)
    tidy(ax, f"Rules at one spread: {of_all(len(slots), anatomy.rules.n_rules, 'rules', 'the best supported')}")
    if kinds:
        legend_beside(ax)
    return ax


def _kinds(anatomy: Anatomy, X: object, Y: object, label: int | str | None) -> list[tuple[FloatArray, str, str, str]]:
    """Samples by the label that colours them: rows, marker, colour, words for the legend."""
    rows = anatomy.samples(X)
    kept = np.unique(np.linspace(0, len(rows) - 1, min(POINTS, len(rows))).astype(int))
    if label is None:
        if Y is not None:
            raise DataError("one label colours the samples; say which by `label`")
        return [(rows[kept], ".", GREY, "samples")]
    place = anatomy.label(label)
    if Y is None:
        raise DataError(f"label {label!r} shall colour the samples, but there is no Y; pass the label matrix as well")
    values, name = anatomy.answers(Y, len(rows))[kept, place], anatomy.label_names[place]
    groups = [
        (values > 0.5, "^", VERMILION, in_legend(name)),
        (values <= 0.5, "x", BLUE, in_legend(f"not {name}")),
        (np.isnan(values), ".", GREY, "not annotated"),
    ]
    return [(rows[kept][mine], *look) for mine, *look in groups if mine.any()]


def _draw_rules(ax: "Axes", plane: Plane, slots: IntArray) -> None:
    """Outlines, the best supported with the thickest line, each with its name where it hides no other name."""
    anatomy = plane.anatomy
    support = anatomy.rules.arrays.k
    Polygon = load("matplotlib.patches", "plots", "a figure").Polygon
    outlines = [plane.outline(int(slot)) for slot in slots]
    extent = np.ptp(np.vstack(outlines), axis=0)
    scale = np.where(extent > 0.0, extent, 1.0)
    taken: list[FloatArray] = []
    for slot, outline in zip(slots, outlines, strict=True):
        width = 0.6 + 2.0 * np.sqrt(support[int(slot)] / support[slots].max())
        dashes = "--" if anatomy.rules.arrays.locked[int(slot)] else "-"
        ax.add_patch(
            Polygon(outline, fill=True, facecolor=(*_rgb(SKY), 0.08), edgecolor="#222222", lw=width, ls=dashes)
        )
        spot = _free_spot(outline / scale, taken)
        taken.append(spot)
        told = short(anatomy.name_of(int(slot)).removeprefix("rule "))
        x, y = spot * scale
        ax.text(x, y, told, fontsize=8, ha="center", va="center", zorder=4, bbox=PLATE)
    ax.autoscale_view()


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = load("matplotlib.colors", "plots", "a figure").to_rgb(colour)
    return red, green, blue


def _free_spot(outline: FloatArray, taken: list[FloatArray]) -> FloatArray:
    """The point of an outline that is farthest from all names so far; the topmost for the first."""
    if not taken:
        return np.asarray(outline[outline[:, 1].argmax()])
    apart = np.linalg.norm(outline[:, None] - np.array(taken), axis=2).min(axis=1)
    return np.asarray(outline[apart.argmax()])
