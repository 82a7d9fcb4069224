"""The ridge where rows keep their order: by leave-one-out, some steps of the grid larger, and by leaving out blocks.

    python benchmarks/ridge_in_order.py                  # writes benchmarks/results/ridge_in_order.json
    python benchmarks/ridge_in_order.py --only-tables    # the table of the last run

Water quality started at 16 rows, forwards and backwards, none of them near the beginning of its file; three blocks
of mediamill's rows. The first third of each is the initial batch. Measured are the classifier, static and with all
labels, and the active learner at 10 % of the labels.
"""

from collections.abc import Iterator

import numpy as np
from active_learning import METRICS, asked, ends
from datasets import FIRST_THIRD, Split, load_ordered, turned
from measuring import by_group, main
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import BudgetedLearner
from evolabel.core.options import Options
from evolabel.model.start.ridge import GRID, filled, press_ridge, stretches_left_out
from evolabel.stages.scaling.stage import fit_scaler
from evolabel.words import markup

RESULTS = "ridge_in_order"
TURNS = np.linspace(0.1, 0.9, 16)
BEGINNINGS, ROWS = (0, 10_000, 20_000), 6_000  # of mediamill's blocks
STEPS = (0, 2, 4)
ALONE = "leave-one-out"
LEARNERS = ("static", "full", "labels", "samples")

Run = dict[str, dict[str, list[float]]]
"""By way to choose the ridge and by learner: the mean of log10 of the ridge, PA and AP."""


def measure(jobs: int) -> dict[str, list[Run]]:
    """Measure every learner on every stream, in `jobs` processes."""
    return by_group(streams(), measured, jobs)


def streams() -> Iterator[tuple[str, Split]]:
    """Every stream, under the name of its set."""
    for turn in TURNS:
        for backwards in (False, True):
            yield "water-quality", turned(load_ordered("water-quality"), turn, backwards=backwards)
    rows = load_ordered("mediamill")
    for start in BEGINNINGS:
        part = slice(start, start + ROWS)
        yield "mediamill", Split(rows.X[part], rows.Y[part], round(FIRST_THIRD * ROWS))


def measured(split: Split) -> Run:
    """Scores of every learner on the stream `split`, with every ridge."""
    found: Run = {}
    with threadpool_limits(1):
        for way, ridge in ridges(split).items():
            classifier = EvolvingFuzzyClassifier(ridge=ridge)
            runs = ends(split, clone(classifier).fit(split.X[: split.initial], split.Y[: split.initial]))
            for per in ("labels", "samples"):
                runs[per] = asked(split, BudgetedLearner(classifier, budget=0.1, per=per))
            found[way] = {who: [np.log10(ridge), *(runs[who][metric][0] for metric in METRICS)] for who in LEARNERS}
    return found


def ridges(split: Split) -> dict[str, float]:
    """The ridge of each way to choose it, from the initial batch."""
    X, Y = split.X[: split.initial], split.Y[: split.initial]
    options, last = Options(), len(GRID) - 1
    Z = fit_scaler(X, options.scaling, options.n_knots).transform(X)
    disorder = np.random.default_rng(0).permutation(
        len(Z)
    )  # shuffled, so that leave-one-out cannot use the order of rows
    alone = int(np.argmin(np.abs(GRID - press_ridge(Z[disorder], Y[disorder]))))
    found = {f"{steps} steps more" if steps else ALONE: float(GRID[min(alone + steps, last)]) for steps in STEPS}
    free = GRID[int(np.argmin(stretches_left_out(filled(Z, 0.0), Y, GRID)))]
    return {**found, "stretches left out": float(free), "the same, two steps at most": press_ridge(Z, Y)}


def table(results: dict[str, list[Run]]) -> str:
    """Means over the streams of each set, in points; other ridges by how much they differ from leave-one-out's."""
    lines = []
    for name, runs in results.items():
        for way in runs[0]:
            alone, found = (np.array([[run[one][who] for who in LEARNERS] for run in runs]) for one in (ALONE, way))
            points = 100 * (found if way == ALONE else found - alone)[:, :, 1:].mean(axis=0)
            sign = "" if way == ALONE else "+"
            cells = [" / ".join(f"{value:{sign}.2f}" for value in pair) for pair in points]
            lines.append([f"{name}, {way}", f"{10 ** found[:, 0, 0].mean():.0f}", *cells])
    return markup.table(["PA / AP in points", "ridge", *LEARNERS], lines)


if __name__ == "__main__":
    main(RESULTS, __doc__, measure, table)
