"""Gain by error feedback in streams that keep their order, in shuffled ones, and under drift.

    python benchmarks/active_feedback.py                  # writes benchmarks/results/active_feedback.json
    python benchmarks/active_feedback.py --only-tables    # the table of the last run

Orders: water quality backwards, and rotated (the end joined to the beginning), each with five starts around the
first third; never in the order and from the start that `active_learning.py` reports. Shuffles 10-17 of four sets in
the benchmark protocol. Drifts: three synthetic streams of each kind (`active_robustness.py`). Numbers are points of PA
and AP below the classifier that learns all labels without error feedback and last answers. `last_answers.py` has error
feedback where all labels are learned.
"""

from collections.abc import Iterator

import numpy as np
from active_learning import METRICS, asked, ends
from active_robustness import DRIFT, drifting, drifts
from shared.datasets import Split, load, load_ordered, turned
from shared.measuring import by_group, main
from threadpoolctl import threadpool_limits

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import BudgetedLearner
from evolabel.words import markup

RESULTS = "active_feedback"
BUDGETS = (0.1, 0.3)
KINDS = ("labels", "samples")
SHUFFLED, SHUFFLES, DRAWS = ("emotions", "yeast", "water-quality", "birds"), range(10, 18), range(3)
IN_ORDER, STARTS = "water-quality", (-20, -10, 0, 10, 20)
TURNS = {"forwards": (1 / 6, 1 / 3, 1 / 2, 2 / 3), "backwards": (0.0, 1 / 3)}

Run = dict[str, list[float]]
"""PA and AP of each learner on one stream."""


def measure(jobs: int) -> dict[str, list[Run]]:
    """Measure every learner on every stream, in `jobs` processes."""
    return by_group(streams(), measured, jobs)


def streams() -> Iterator[tuple[str, Split]]:
    """Every stream, with the name of its group."""
    for start in STARTS:
        rows = load_ordered(IN_ORDER, start)
        for way, turns in TURNS.items():
            for turn in turns:
                yield f"{IN_ORDER}, other orders", turned(rows, turn, backwards=way == "backwards")
    for name in SHUFFLED:
        for seed in SHUFFLES:
            yield f"{name}, shuffled", load(name, seed)
    for name in drifts():
        for seed in DRAWS:
            yield f"{name.removeprefix(DRIFT)} drift", drifting(name, seed)


def measured(split: Split) -> Run:
    """Scores of every learner on the stream `split`."""
    with threadpool_limits(1):
        trained = EvolvingFuzzyClassifier(memory=None).fit(split.X[: split.initial], split.Y[: split.initial])
        found = ends(split, trained)
        for budget in BUDGETS:
            for per in KINDS:
                for feedback in (False, True):
                    learner = BudgetedLearner(budget=budget, per=per, error_feedback=feedback)
                    found[row(budget, per, feedback=feedback)] = asked(split, learner)
    return {name: [outcome[metric][0] for metric in METRICS] for name, outcome in found.items()}


def row(budget: float, per: str, *, feedback: bool) -> str:
    return f"{budget:.0%} {per}{'' if feedback else ' without feedback'}"


def table(results: dict[str, list[Run]]) -> str:
    """A line of `results` for every group of streams: points below full at 10 %, without and with error feedback."""
    headings = [f"{per} {how} feedback" for per in KINDS for how in ("without", "with")]
    columns = ["static", *(row(BUDGETS[0], per, feedback=feedback) for per in KINDS for feedback in (False, True))]
    lines = []
    drifting_runs = [run for name, runs in results.items() if name.endswith(" drift") for run in runs]
    shown = {name: runs for name, runs in results.items() if not name.endswith(" drift")}
    for name, runs in {**shown, "five kinds of drift": drifting_runs}.items():
        full = np.array([run["full"] for run in runs])
        below = {who: 100 * (full - [run[who] for run in runs]).mean(axis=0) for who in columns}
        lines.append([name, *(" / ".join(f"{value:.2f}" for value in below[who]) for who in columns)])
    return markup.table(["points below full, PA / AP", "static", *headings], lines)


if __name__ == "__main__":
    main(RESULTS, __doc__, measure, table)
