"""Last answers beside error feedback, where all labels are learned at once.

    python benchmarks/last_answers.py                  # writes benchmarks/results/last_answers.json
    python benchmarks/last_answers.py --only-tables    # the table of the last run

Streams of `active_feedback.py`. Numbers are points of PA and AP above a classifier with neither.
"""

import numpy as np
from active_feedback import streams
from active_learning import METRICS, scores
from shared.datasets import Split
from shared.measuring import by_group, main
from threadpoolctl import threadpool_limits

from evolabel import EvolvingFuzzyClassifier
from evolabel.baselines import FeedbackClassifier
from evolabel.words import markup

RESULTS = "last_answers"
LEARNERS = {
    "neither": lambda: EvolvingFuzzyClassifier(memory=None),
    "error feedback": FeedbackClassifier,
    "last answers": EvolvingFuzzyClassifier,
}

Run = dict[str, list[float]]
"""PA and AP of each learner on one stream."""


def measure(jobs: int) -> dict[str, list[Run]]:
    """Measure every learner on every stream, in `jobs` processes."""
    return by_group(streams(), measured, jobs)


def measured(split: Split) -> Run:
    """Scores of every learner on the stream `split`."""
    found, start = {}, split.initial
    with threadpool_limits(1):
        for name, make in LEARNERS.items():
            learner = make().fit(split.X[:start], split.Y[:start])
            outcome = scores(split, [learner.test_then_train(split.X[start:], split.Y[start:])])
            found[name] = [outcome[metric][0] for metric in METRICS]
    return found


def table(results: dict[str, list[Run]]) -> str:
    """Points above the classifier with neither: the first group of `results`, then least and most of the others."""
    headings = list(LEARNERS)[1:]
    first, *others = [[above(runs, who) for who in headings] for runs in results.values()]
    ends = [
        [f"{min(ends):.2f} to {max(ends):.2f}" for ends in zip(*column, strict=True)]
        for column in zip(*others, strict=True)
    ]
    lines = [[next(iter(results)), *(" / ".join(f"{value:.2f}" for value in pair) for pair in first)]]
    lines.append([f"{len(others)} shuffled or drifting streams", *map(" / ".join, ends)])
    return markup.table(["points above neither, PA / AP", *headings], lines)


def above(runs: list[Run], who: str) -> list[float]:
    """Mean points of PA and AP by which the learner `who` is above the classifier with neither."""
    gains = np.array([run[who] for run in runs]) - [run["neither"] for run in runs]
    return [float(gain) for gain in 100 * gains.mean(axis=0)]


if __name__ == "__main__":
    main(RESULTS, __doc__, measure, table)
