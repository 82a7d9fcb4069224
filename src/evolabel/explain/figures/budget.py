"""`budget_use`: the share of questions asked along the stream, beside the budget."""

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.errors import DataError
from evolabel.typing import FloatArray
from evolabel.words.figures.canvas import BLACK, BLUE, VERMILION, Axes, legend_beside, new_axes, tidy

_MAX_POINTS = 400  # of the line
_SETTLED = 0.1  # share of the stream before which the numbers mean little: the first are 0 or 1


def budget_use(asked: object, budget: float, *, possible: object = 1, ax: "Axes | None" = None) -> "Axes":
    """Draw the share of possible questions asked so far, along the stream, and the budget as a line.

    Where more was asked than the budget allows, the excess is shaded, except in the first tenth of the stream.

    Parameters
    ----------
    asked : array of shape (n_samples,)
        What was asked at each sample: 0 or 1, or how many labels.
    budget : float
        Share that may be asked, above 0.
    possible : int or array of shape (n_samples,)
        What could have been asked at each sample: 1, or the number of labels.
    ax : matplotlib Axes, optional
        Axes to draw on; a new figure by default.

    Examples
    --------
    >>> from evolabel.explain.figures import budget_use
    >>> ax = budget_use([1, 0, 0, 0, 1, 0, 0, 0], budget=0.25)
    >>> print(ax.get_lines()[0].get_ydata().round(2))
    [1.   0.5  0.33 0.25 0.4  0.33 0.29 0.25]
    """
    check_number("budget", budget, 0, 1, open_low=True)
    counts = _counts(asked, "asked")
    chances = _counts(possible, "possible")
    if chances.ndim == 0:
        chances = np.full(counts.shape, chances)
    if counts.ndim != 1 or not len(counts) or chances.shape != counts.shape:
        raise DataError(f"asked has shape {counts.shape}, possible {chances.shape}; expected one number per sample")
    if (counts > chances).any() or not (chances > 0.0).all():
        raise DataError("more was asked than possible, or nothing was possible; `possible` is what could be asked")
    share = np.cumsum(counts) / np.cumsum(chances)
    kept = np.unique(np.linspace(0, len(share) - 1, min(_MAX_POINTS, len(share))).astype(int))
    ax = ax if ax is not None else new_axes()
    ax.plot(kept + 1, share[kept], color=BLUE, linewidth=1.8, label="asked so far")
    ax.axhline(budget, color=BLACK, linestyle="--", linewidth=1.0, label=f"budget: {budget:.0%}")
    over = (share[kept] > budget) & (kept >= _SETTLED * len(share))
    if over.any():
        excess = ax.fill_between(kept + 1, budget, share[kept], where=over.tolist(), color=VERMILION, alpha=0.25)
        excess.set_label("over budget")
    top = max(1.4 * budget, 1.1 * float(share[int(_SETTLED * len(share)) :].max()))
    ax.set(ylim=(0.0, min(1.02, top)), xlabel="samples seen", ylabel="share asked")
    tidy(ax, f"Questions: {counts.sum():.0f} of {chances.sum():.0f} asked ({share[-1]:.1%})")
    legend_beside(ax)
    return ax


def _counts(values: object, name: str) -> FloatArray:
    counts = np.asarray(values, dtype=np.float64)
    if not (counts >= 0.0).all():
        raise DataError(f"{name} has negative or missing numbers; expected how many questions there were, 0 for none")
    return counts
