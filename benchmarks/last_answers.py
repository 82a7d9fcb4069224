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
    """A line of `results` for every group of streams: points above the classifier with neither."""
    headings = list(LEARNERS)[1:]
    lines = []
    for name, runs in results.items():
        neither = np.array([run["neither"] for run in runs])
        above = (100 * (np.array([run[who] for run in runs]) - neither).mean(axis=0) for who in headings)
        lines.append([name, *(" / ".join(f"{value:.2f}" for value in pair) for pair in above)])
    return markup.table(["points above neither, PA / AP", *headings], lines)


if __name__ == "__main__":
    main(RESULTS, __doc__, measure, table)
