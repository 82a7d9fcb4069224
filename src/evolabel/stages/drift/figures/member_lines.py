"""`member_weights`: the weights of the slow, the fast and the linear member along the stream, and its shifts."""

from evolabel.errors import DataError
from evolabel.stages.drift.figures.weight_trace import WeightTrace
from evolabel.stages.drift.label_drift import MEMBERS
from evolabel.words.figures import canvas
from evolabel.words.figures.canvas import Axes

_STYLES = dict(zip(MEMBERS, ((canvas.BLACK, "-"), (canvas.BLUE, "--"), (canvas.SKY, "-.")), strict=True))
_RENEWED = ("", canvas.BLUE, "rules renewed")  # no mark of its own in other figures


def member_weights(trace: WeightTrace, label: str | None = None, *, ax: "Axes | None" = None) -> "Axes":
    """Draw the weights of the slow, the fast and the linear member along the stream, and its shifts as vertical lines.

    Parameters
    ----------
    trace : WeightTrace
        Weights that were recorded while the classifier was trained, also by `follow_weights`.
    label : str, optional
        Name of a label: its weights, and the shifts that concern it; by default the mean over all labels, and all.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure by default.

    Examples
    --------
    >>> from evolabel import EvolvingFuzzyClassifier
    >>> from evolabel.explain.figures import follow_weights, member_weights
    >>> from evolabel.streams import DriftingStream
    >>> trace = follow_weights(EvolvingFuzzyClassifier(), *DriftingStream(seed=0).take(300))
    >>> [line.get_label() for line in member_weights(trace).get_lines()]
    ['slow', 'fast', 'linear']
    """
    if not trace.samples:
        raise DataError("the trace has no records; call its record after some rows were learned")
    weights = trace.weights(label)
    ax = ax if ax is not None else canvas.new_axes(7.4, 3.0)
    for member, values in zip(MEMBERS, weights.T, strict=True):
        colour, stroke = _STYLES[member]
        ax.plot(trace.samples, values, color=colour, linestyle=stroke, linewidth=1.6, label=member)
    _mark_shifts(ax, trace, label)
    ax.set(ylim=(-0.02, 1.02), xlabel="samples seen", ylabel="weight")
    whose = "mean over the labels" if label is None else canvas.plain(label)
    canvas.tidy(ax, f"Weights of the members: {whose}")
    canvas.legend_beside(ax)
    return ax


def _mark_shifts(ax: "Axes", trace: WeightTrace, label: str | None) -> None:
    """Draw the shifts since the first record as vertical lines, with one entry of the legend per kind."""
    events = [event for event in trace.shifts(label) if event.sample >= trace.samples[0]]
    for kind, (_, colour, legend) in {**canvas.SHIFT_MARKS, "renewed": _RENEWED}.items():
        places = [event.sample for event in events if event.kind == kind]
        if places:
            ax.vlines(places, 0.0, 1.0, color=colour, linestyle=":", linewidth=1.2, label=legend, zorder=1)
