"""Draw the picture of docs/explanations/persistence.md: what learners keep while states last (some minutes)."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from drift_peers import LEARNERS
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from persisting import TWO_CLASSES, Case, persisting

from evolabel import EvolvingFuzzyClassifier
from evolabel.words.figures.canvas import as_svg

FILE = Path(__file__).parents[1] / "docs" / "_static" / "persistence.svg"
RUN, SEED = 1000, 21
ASKED, EVERY = 300, 250
COLOURS = {"evolabel": "#2f6fb4", "adaptive forest": "#e08a2e", "adaptive tree": "#9aa3ab"}


def main() -> None:
    """Draw a panel for each stream."""
    figure = Figure(figsize=(11, 5.2), layout="constrained")
    panels = figure.subplots(2, 2, sharey=True).ravel()
    for ax, name in zip(panels, TWO_CLASSES, strict=True):
        draw_stream(ax, Case(name, RUN, change=False, seed=SEED))
    for ax in panels[::2]:
        ax.set_ylabel("right, on rows left out")
    for ax in panels[2:]:
        ax.set_xlabel("rows learned")
    panels[0].legend(loc="lower right", fontsize="small")
    FILE.write_text(as_svg(figure))
    print(f"{FILE.name}: {FILE.stat().st_size // 1000} kB")


def draw_stream(ax: Axes, case: Case) -> None:
    """Draw the shares of right answers of every learner, as it learns the stream of `case`, on `ax`."""
    X, y, _ = persisting(case)
    out = np.random.default_rng(5).permutation(len(X))[:ASKED]
    learned = np.setdiff1d(np.arange(len(X)), out)
    draw_states(ax, y[learned])
    known = X[learned], y[learned], X[out]
    answers = {
        "evolabel": of_evolabel(*known),
        "adaptive forest": of_river(LEARNERS["forest"](), *known),
        "adaptive tree": of_river(LEARNERS["adaptive tree"](), *known),
    }
    for name, found in answers.items():
        kept = [float((answer == y[out]).mean()) for answer in found]
        ax.plot(EVERY * (1 + np.arange(len(kept))), kept, label=name, color=COLOURS[name])
    ax.set(ylim=(0, 1.02), xlim=(0, len(learned)))
    ax.set_title(f"{case.name}; grey: rows of one class, white: of the other", fontsize="medium")


def draw_states(ax: Axes, y: np.ndarray) -> None:
    """Shade the rows of `y` that have the second class on `ax`."""
    ends = np.concatenate([[0], np.flatnonzero(np.diff(y)) + 1, [len(y)]])
    for start, end in itertools.pairwise(ends):
        if y[start] == 1:
            ax.axvspan(start, end, color="#e6e9ec", linewidth=0)


def of_evolabel(X: np.ndarray, y: np.ndarray, asked: np.ndarray) -> Iterator[np.ndarray]:
    """Yield what the default classifier predicts for the rows `asked`, after every `EVERY` rows of X."""
    classifier = EvolvingFuzzyClassifier()
    for start in range(0, len(X), EVERY):
        rows = slice(start, start + EVERY)
        classifier.partial_fit(X[rows], y[rows], classes=[0, 1])
        yield np.asarray(classifier.predict(asked))


def of_river(learner: Any, X: np.ndarray, y: np.ndarray, asked: np.ndarray) -> Iterator[np.ndarray]:
    """Yield what a `learner` of river predicts for the rows `asked`, after every `EVERY` rows of X."""
    named = [dict(enumerate(x)) for x in asked.tolist()]
    for row, (x, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True), start=1):
        learner.learn_one(dict(enumerate(x)), label)
        if row % EVERY == 0 or row == len(X):
            yield np.array([learner.predict_one(one) for one in named])


if __name__ == "__main__":
    main()
