"""Draw the picture of README.md: a label that changes its meaning, and why one sample has a label (a few seconds)."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evolabel import EvolvingFuzzyClassifier
from evolabel.explain import figures
from evolabel.streams import DriftingStream
from evolabel.words.figures.canvas import as_svg

FILE = Path(__file__).parents[1] / "docs" / "_static" / "at-work.svg"
CHANGE, WINDOW = 1500, 200
COLOURS = {"drift": "#c0392b", "renewed": "#e08a2e", "recovered": "#2e8b57"}


def draw_drift(ax: Axes) -> None:
    """Draw the share of right predictions of a label that becomes its opposite, and the events, on `ax`."""
    X, Y = DriftingStream(n_features=6, n_labels=2, drift="none", seed=5).take(3500)
    Y[CHANGE:, 1] = 1 - Y[CHANGE:, 1]
    following = EvolvingFuzzyClassifier()
    scores = {
        "evolabel": following.test_then_train(X, Y),
        "without following": EvolvingFuzzyClassifier(follow_drift=False, threshold_rules=False).test_then_train(X, Y),
    }
    for (name, outputs), colour in zip(scores.items(), ("#2f6fb4", "#9aa3ab"), strict=True):
        right = (outputs[:, 1] >= 0.5) == Y[:, 1]
        share = np.convolve(right, np.ones(WINDOW) / WINDOW, mode="valid")
        ax.plot(np.arange(len(share))[::10] + WINDOW, share[::10], label=name, color=colour)
    for event in following.events_:
        if event.kind in COLOURS:
            ax.axvline(event.sample, linestyle=":", color=COLOURS[event.kind], label=f"{event.kind}: {event.sample}")
    ax.set(
        xlabel="row",
        ylabel=f"right, last {WINDOW} rows",
        ylim=(0, 1),
        title="A label becomes its opposite at row 1,500",
    )
    ax.legend(loc="lower right", fontsize="small")


def draw_reason(ax: Axes) -> None:
    """Draw why one sample is a leak on `ax`."""
    rng = np.random.default_rng(3)
    X = rng.normal([6, 3, 50, 10], [1.5, 1, 8, 2], (4000, 4)).round(2)
    Y = np.column_stack([(X[:, 0] < 5.2) & (X[:, 1] > 2.8), X[:, 2] > 58]).astype(float)
    clf = EvolvingFuzzyClassifier().partial_fit(X, Y)
    clf.name_columns(["pressure", "flow", "temperature", "noise"], ["leak", "wear"])
    figures.sample_path(clf, X[np.flatnonzero(Y[:, 0])[-1]], "leak", ax=ax)


def main() -> None:
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw_drift(left)
    draw_reason(right)
    FILE.write_text(as_svg(figure))
    print(f"{FILE.name}: {FILE.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
