"""Gain by active learning where answers are wrong, missing or late, and where the stream drifts.

    python benchmarks/active_robustness.py                  # writes benchmarks/results/active_robustness.json
    python benchmarks/active_robustness.py --only-tables    # the tables of the last run

Defaults at 10 %, labels and samples, beside random queries under the same conditions; three shuffles of three sets
(benchmark protocol), and three drifting streams of each kind. Numbers are shares of the gap between a static model and
one that learns all labels, correct and without delay, from means over shuffles; then the mean over the sets.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from shared.datasets import Split, load
from shared.measuring import main
from threadpoolctl import threadpool_limits

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import AnnotatorPool, BudgetedLearner, RandomSelector, SimulatedAnnotator
from evolabel.evaluate import average_precision, partial_accuracy
from evolabel.streams import DRIFT_KINDS, DriftingStream
from evolabel.words import markup

RESULTS = "active_robustness"
BUDGET = 0.1
SEEDS = range(3)
SETS = ("emotions", "yeast", "water-quality")
DRIFT, ROWS, INITIAL, DRIFT_EVERY = "drift:", 3000, 500, 500
KINDS = ("labels", "samples")
METRICS = ("pa", "ap")
LEARNERS = [f"{who}{per}" for per in KINDS for who in ("", "random ")]
CLEAN, TWO = "right answers at once", "two who differ, 10 % and 20 % wrong"
REFERENCES = ("static", "full")


class TwoAnnotators(SimulatedAnnotator):
    """Two who answer each question by themselves, wrong in 10 % and 20 % of the labels; their votes are combined."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed=seed)
        self._people = {"anna": SimulatedAnnotator(0.1, seed=seed), "bob": SimulatedAnnotator(0.2, seed=seed + 1000)}
        self._pool = AnnotatorPool()

    def answer(self, truth: np.ndarray, asked: np.ndarray) -> np.ndarray | None:
        """The vote about the labels `asked` for; NaN where the two differ and are believed alike."""
        rows = [person.answer(truth, asked) for person in self._people.values()]
        return self._pool.vote(rows, list(self._people))[0]

    def anew(self) -> "TwoAnnotators":
        """The same two at the beginning of the stream."""
        return TwoAnnotators(self.seed)


CONDITIONS: dict[str, dict[str, Any]] = {
    CLEAN: {},
    "5 % of answers wrong": {"noise": 0.05},
    "10 % wrong": {"noise": 0.1},
    "20 % wrong": {"noise": 0.2},
    "10 % of questions refused": {"refusals": 0.1},
    "30 % refused": {"refusals": 0.3},
    "50 % refused": {"refusals": 0.5},
    "answers 1 sample late": {"delay": (1, 1)},
    "10 samples late": {"delay": (10, 10)},
    "100 samples late": {"delay": (100, 100)},
    "1 to 100 samples late": {"delay": (1, 100)},
    "1 to 1,000 samples late": {"delay": (1, 1000)},
    TWO: {},
}
"""How the annotator answers."""

LATE = ("10 samples late", "100 samples late", "1 to 1,000 samples late")
SHOWN = (CLEAN, "5 % of answers wrong", "20 % wrong", "50 % refused", *LATE, TWO)
"""Conditions in the table of the docs."""

Records = list[dict[str, Any]]
"""One for each run: stream, seed, condition, learner, pa, ap, and the share asked."""


def measure(jobs: int) -> Records:
    """All runs on all streams."""
    tasks = [(name, seed) for name in (*SETS, *drifts()) for seed in SEEDS]
    records: Records = []
    for part in Parallel(n_jobs=jobs, return_as="generator")(delayed(measured)(*task) for task in tasks):
        records += part
        print(f"{part[0]['stream']} {part[0]['seed']} done", flush=True)
    return records


def drifts() -> list[str]:
    """Names of the drifting streams."""
    return [f"{DRIFT}{kind}" for kind in DRIFT_KINDS]


def measured(name: str, seed: int) -> Records:
    """All runs on one shuffle of a set, or on one drifting stream."""
    with threadpool_limits(1):
        split = drifting(name, seed) if name.startswith(DRIFT) else load(name, seed)
        conditions = {CLEAN: CONDITIONS[CLEAN]} if name.startswith(DRIFT) else CONDITIONS
        runs = [
            *references(split),
            *(run for condition_name in conditions for run in asking(split, condition_name, seed)),
        ]
    return [{"stream": name, "seed": seed, **run} for run in runs]


def drifting(name: str, seed: int) -> Split:
    """A synthetic stream in its own order."""
    stream = DriftingStream(drift=name.removeprefix(DRIFT), drift_every=DRIFT_EVERY, noise=0.05, seed=seed)
    return Split(*stream.take(ROWS), INITIAL)


def references(split: Split) -> Iterator[dict[str, Any]]:
    """Scores on `split` if nothing is learned after the initial batch, and if everything is."""
    trained = EvolvingFuzzyClassifier(memory=None).fit(split.X[: split.initial], split.Y[: split.initial])
    rows, labels = split.X[split.initial :], split.Y[split.initial :]
    yield {"condition": CLEAN, "learner": "static", **scores(labels, trained.decision_function(rows))}
    yield {"condition": CLEAN, "learner": "full", **scores(labels, trained.test_then_train(rows, labels))}


def asking(split: Split, condition_name: str, seed: int) -> Iterator[dict[str, Any]]:
    """Scores of the defaults and of random queries under one condition."""
    rows, labels = split.X[split.initial :], split.Y[split.initial :]
    for name in LEARNERS:
        chance = {"criteria": "ambiguity", "selection": RandomSelector(seed)} if name.startswith("random") else {}
        two, answers = condition_name == TWO, CONDITIONS[condition_name]
        person = TwoAnnotators(seed) if two else SimulatedAnnotator(**answers, seed=seed)
        learner = BudgetedLearner(None, BUDGET, name.split()[-1], annotator=person, **chance)
        learner.fit(split.X[: split.initial], split.Y[: split.initial])
        found = scores(labels, learner.test_then_train(rows, labels))
        yield {"condition": condition_name, "learner": name, **found, "share": learner.share_}


def scores(truth: np.ndarray, outputs: np.ndarray) -> dict[str, float]:
    """PA and AP of the stream's answers."""
    return {
        "pa": round(float(partial_accuracy(truth, outputs)), 6),
        "ap": round(float(average_precision(truth, outputs)), 6),
    }


# ---------------------------------------------------------------------- tables


def tables(records: Records) -> str:
    """Both tables."""
    return f"{conditions_table(records)}\n\n{drifts_table(records)}"


def conditions_table(records: Records) -> str:
    """Share of the gap in PA / AP under the conditions that are SHOWN, mean over the sets."""
    return _table(records, {condition: [(name, condition) for name in SETS] for condition in SHOWN})


def drifts_table(records: Records) -> str:
    """Share of the gap in PA / AP on drifting streams, mean over the kinds of drift."""
    cells = [(name, CLEAN) for name in drifts()]
    return _table(records, {f"{len(cells)} kinds of drift": cells})


def _table(records: Records, rows: dict[str, list[tuple[str, str]]]) -> str:
    lines = [[title, *(_mean_share(records, cells, learner) for learner in LEARNERS)] for title, cells in rows.items()]
    return markup.table(["share of the gap, PA / AP", *LEARNERS], lines)


def _mean_share(records: Records, cells: list[tuple[str, str]], learner: str) -> str:
    """Over some streams, as text."""
    found = [[share(records, *cell, learner, metric) for cell in cells] for metric in METRICS]
    return " / ".join(f"{np.mean(shares):.2f}" for shares in found)


def share(records: Records, stream: str, condition: str, learner: str, metric: str) -> float:
    """Of the gap between static and full on one stream."""
    static, full = (mean(records, stream, CLEAN, end, metric) for end in REFERENCES)
    return (mean(records, stream, condition, learner, metric) - static) / (full - static)


def mean(records: Records, stream: str, condition: str, learner: str, metric: str) -> float:
    """Over the seeds."""
    key = (stream, condition, learner)
    return float(np.mean([r[metric] for r in records if (r["stream"], r["condition"], r["learner"]) == key]))


if __name__ == "__main__":
    main(RESULTS, __doc__, measure, tables)
