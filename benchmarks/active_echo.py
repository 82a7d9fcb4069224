"""What the echo of recent errors is worth: in streams that keep their order, in shuffled ones, and under drift.

    python benchmarks/active_echo.py                  # writes benchmarks/results/active_echo.json
    python benchmarks/active_echo.py --only-tables    # the table of the last run

Orders: water quality backwards, and begun elsewhere (the end joined to the beginning), each with five starts around the
first third; never in the order and from the start that `active_learning.py` reports. Shuffles 10-17 of four sets in
the benchmark protocol. Drifts: three synthetic streams of each kind (`active_robustness.py`). Numbers are points of PA
and AP below the classifier that learns all labels, without echo; "all answers" has an echo and learns all labels, too.
"""

from collections.abc import Iterator

import numpy as np
from active_learning import METRICS, asked, echoing, ends
from active_robustness import DRIFT, drifting, drifts
from datasets import Split, load, load_ordered, turned
from measuring import by_group, main
from threadpoolctl import threadpool_limits

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import BudgetedLearner
from evolabel.explain import markup

RESULTS = "active_echo"
BUDGETS = (0.1, 0.3)
KINDS = ("labels", "samples")
SHUFFLED, SHUFFLES, DRAWS = ("emotions", "yeast", "water-quality", "birds"), range(10, 18), range(3)
IN_ORDER, STARTS = "water-quality", (-20, -10, 0, 10, 20)
TURNS = {"forwards": (1 / 6, 1 / 3, 1 / 2, 2 / 3), "backwards": (0.0, 1 / 3)}

Run = dict[str, list[float]]
"""PA and AP of each learner on one stream."""


def measure(jobs: int) -> dict[str, list[Run]]:
    """Everybody on every stream."""
    return by_group(streams(), measured, jobs)


def streams() -> Iterator[tuple[str, Split]]:
    """Every stream, under the name of its group."""
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
    """Everybody on one stream."""
    with threadpool_limits(1):
        trained = EvolvingFuzzyClassifier().fit(split.X[: split.initial], split.Y[: split.initial])
        found = ends(split, trained)
        found["all answers"] = echoing(split)
        for budget in BUDGETS:
            for per in KINDS:
                for echo in (False, True):
                    learner = BudgetedLearner(budget=budget, per=per, error_feedback=echo)
                    found[row(budget, per, echo=echo)] = asked(split, learner)
    return {name: [outcome[metric][0] for metric in METRICS] for name, outcome in found.items()}


def row(budget: float, per: str, *, echo: bool) -> str:
    return f"{budget:.0%} {per}{'' if echo else ' without echo'}"


def table(results: dict[str, list[Run]]) -> str:
    """A line for every group of streams: points below full at 10 %, without and with echo."""
    told = [f"{per} {how} echo" for per in KINDS for how in ("without", "with")]
    columns = ["static", *(row(BUDGETS[0], per, echo=echo) for per in KINDS for echo in (False, True)), "all answers"]
    lines = []
    for name, runs in results.items():
        full = np.array([run["full"] for run in runs])
        below = {who: 100 * (full - [run[who] for run in runs]).mean(axis=0) for who in columns}
        lines.append([name, *(" / ".join(f"{value:.2f}" for value in below[who]) for who in columns)])
    return markup.table(["points below full, PA / AP", "static", *told, "all answers"], lines)


if __name__ == "__main__":
    main(RESULTS, __doc__, measure, table)
