"""`rule_map`: the regions of the rules on a plane."""

from collections.abc import Sequence

import numpy as np

from evolabel._utils.text import samples
from evolabel._utils.validation import check_number
from evolabel.errors import DataError
from evolabel.stages.rules.figures.figure_data import RuleDrawable, RuleFigureData
from evolabel.stages.rules.figures.planes import Plane, plane_of
from evolabel.typing import FloatArray, IntArray
from evolabel.words.figures import canvas
from evolabel.words.figures.canvas import Axes

_MAX_SAMPLES = 300  # drawn on a map
_MAIN_COLOURS = (canvas.BLACK, canvas.GREEN, canvas.PINK, canvas.ORANGE, "#8c510a", "#5e3c99")  # of the first rules
_SHADE = 0.1  # opacity of the inside of these
_CLEAR = 0.08  # of the size of the map: a name farther than this from other outlines is clear
_NAME_BOX = {"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 0.4}  # behind the name of a rule


def rule_map(
    classifier: RuleDrawable,
    features: Sequence[int | str] | None = None,
    *,
    X: object = None,
    Y: object = None,
    label: int | str | None = None,
    top: int = canvas.MAX_SHOWN,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the projection of every rule at one spread, over two features or the two best discriminants.

    The six best supported rules are in colours on top, with their samples in the legend; the others are thin and grey.

    Parameters
    ----------
    classifier : EvolvingFuzzyClassifier
    features : two names or column numbers, optional
        Axes in the units of the features; by default the two directions that separate the labels best, in standard
        deviations of the stream.
    X : array or frame of shape (n_samples, n_features), optional
        Samples to be drawn, at most 300 of them, evenly chosen.
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
    ax = ax if ax is not None else canvas.new_axes(7.6, 5.0)
    for rows, marker, colour, legend in groups:
        x, y = plane.project(data.model.scale(rows)).T
        ax.plot(x, y, marker, color=colour, markersize=2.5, markeredgewidth=0.6, alpha=0.35, label=legend, zorder=1)
    _draw_rules(ax, plane, slots)
    ax.set_xlabel(plane.names[0], fontsize=9)
    ax.set_ylabel(plane.names[1], fontsize=9)
    which = canvas.of_all(len(slots), data.rules.n_rules, "rules", "the best supported")
    canvas.tidy(ax, f"Rules at one spread: {which}")
    canvas.legend_beside(ax)
    return ax


def _sample_groups(
    data: RuleFigureData, X: object, Y: object, label: int | str | None
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
    """Draw the outlines of the rules in `slots`: the best supported in colours on top, the others thin and grey.

    Each has its name in its own colour where it hides no other name; the first have their samples in the legend.
    """
    data, support = plane.data, plane.data.rules.arrays.k
    outlines = [plane.outline(int(slot)) for slot in slots]
    extent = np.ptp(np.vstack(outlines), axis=0)
    scale = np.where(extent > 0.0, extent, 1.0)
    taken: list[FloatArray] = []
    for place, (slot, outline) in enumerate(zip(slots.tolist(), outlines, strict=True)):
        main = place < len(_MAIN_COLOURS)
        colour = _MAIN_COLOURS[place] if main else canvas.GREY
        name = data.rule_name(slot)
        ax.fill(
            *outline.T,
            facecolor=(colour, _SHADE if main else 0.0),
            edgecolor=colour,
            lw=1.0 + 1.6 * float(np.sqrt(support[slot] / support[slots].max())) if main else 0.7,
            ls="--" if data.rules.arrays.locked[slot] else "-",
            zorder=3.0 - 0.01 * place if main else 2.0,
            label=canvas.in_legend(f"{name}, {samples(float(support[slot]))}") if main else None,
        )
        spot = _free_spot(outline / scale, taken, [other / scale for other in outlines[:place]])
        taken.append(spot)
        x, y = spot * scale
        ax.text(
            x, y, canvas.short(name.removeprefix("rule ")),
            fontsize=9 if main else 7, color=colour, fontweight="bold" if main else "normal",
            ha="center", va="center", zorder=5.0 if main else 4.0, bbox=_NAME_BOX,
        )  # fmt: skip
    ax.autoscale_view()


def _free_spot(outline: FloatArray, taken: list[FloatArray], others: list[FloatArray]) -> FloatArray:
    """Return the point of an `outline` that is farthest from names so far, `taken`, and from the outlines of `others`.

    The topmost for the first. Where outlines cross, it would not be clear which of them a name belongs to.
    """
    if not taken:
        return np.asarray(outline[outline[:, 1].argmax()])
    from_names = np.linalg.norm(outline[:, None] - np.array(taken), axis=2).min(axis=1)
    from_outlines = np.linalg.norm(outline[:, None] - np.vstack(others), axis=2).min(axis=1)
    return np.asarray(outline[(from_names + np.minimum(from_outlines, _CLEAR)).argmax()])
