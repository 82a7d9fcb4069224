"""Learn a small drifting stream in one pass and print how it goes: `make demo`."""

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from evolabel import EvolvingFuzzyClassifier
from evolabel.evaluate import average_precision, partial_accuracy
from evolabel.streams import DriftingStream

INITIAL, SAMPLES, STEP = 200, 4000, 400


def main() -> None:
    """Initial batch, then test-then-train; one line of the table per 400 samples."""
    console = Console()
    X, Y = DriftingStream(n_features=8, n_labels=5, drift_every=1000, seed=0).take(SAMPLES)
    console.print("Stream: 8 features, 5 labels, an abrupt drift every 1000 samples.")
    console.print("The first call compiles the kernels (about half a minute, once); then they come from disk.")
    classifier = EvolvingFuzzyClassifier().fit(X[:INITIAL], Y[:INITIAL])
    prior = Y[:INITIAL].mean(axis=0)
    table = Table("samples", "PA", "AP", "rules", "PA of guessing by frequency", title="Test-then-train, per window")
    for start in track(range(INITIAL, SAMPLES, STEP), description="learning", console=console):
        x, y = X[start : start + STEP], Y[start : start + STEP]
        scores = classifier.test_then_train(x, y)
        guess = np.broadcast_to(prior, y.shape)
        table.add_row(
            f"{start}-{start + len(x)}",
            f"{partial_accuracy(y, scores):.3f}",
            f"{average_precision(y, scores):.3f}",
            str(classifier.n_rules_),
            f"{partial_accuracy(y, guess):.3f}",
        )
    console.print(table)
    console.print(f"{len(classifier.events_)} events; the last: {classifier.events_[-1]}")
    console.print("The best supported rule:")
    console.print(str(max(classifier.rules_, key=lambda rule: rule.support)))


if __name__ == "__main__":
    main()
