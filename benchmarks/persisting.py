"""States that persist: what a learner keeps of a stream whose answers come in long runs.

    python benchmarks/persisting.py                                    # evolabel; continues an earlier run
    python benchmarks/persisting.py --learners "Hoeffding tree" boosting --seeds 21
    python benchmarks/persisting.py --only-tables                      # prints the tables of the last run

The rows of streams of `drift_streams.py` are put into runs of one class, of geometric length, mean 20, 200 or 1,000
rows: what a row means does not change by it. Without a change of meaning, or with one at half. Nine tenths of the rows
are learned in their order, each after it was predicted; then the others are predicted, those after the change where
there is one. Results are written to benchmarks/results/persisting.json after every learner and stream.

| stream                  | labels                        | change of meaning               |
|-------------------------|-------------------------------|---------------------------------|
| sea, agrawal, sine, mixed | two classes                 | another concept                 |
| flip                    | five, runs of the first       | the first becomes its opposite  |
| rbf                     | four classes                  | none                            |
| weak                    | two, each by one weak sensor  | none; runs of 300 or 1,000 rows |

The labels of `weak` persist by themselves, and a sensor reads one deviation more while its label is on.

River's learners and boosting are measured on the streams of two classes. Boosting is scikit-learn's
HistGradientBoostingClassifier, fitted anew to the last 3,000 rows after every 500.
"""

import argparse
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from drift_streams import HALF, make_stream
from shared import result_files

from evolabel import EvolvingFuzzyClassifier

SEEDS = (21, 22, 23, 24, 25, 26)
RUNS = (20, 200, 1000)
TWO_CLASSES = ("sea", "agrawal", "sine", "mixed")
OTHERS = ("flip", "rbf")
WEAK_SEEDS = tuple(range(10, 20))
WEAK_RUNS = {300: 6_000, 1000: 12_000}  # mean run -> rows
LEFT_OUT = 0.1
WINDOW, REFITTED_EVERY = 3_000, 500

OURS: dict[str, dict[str, Any]] = {
    "evolabel": {},
    "without following": {"follow_drift": False},
    "rules alone": {"follow_drift": False, "threshold_rules": False},
}
RIVALS = ("forest", "bagging", "adaptive tree", "Hoeffding tree", "logistic", "boosting")


class Case(NamedTuple):
    """A stream: its name, the mean length of its runs, whether it changes at half, and the seed that draws it."""

    name: str
    run: int
    change: bool
    seed: int

    def __str__(self) -> str:
        return f"{self.name}, runs of {self.run}, {'with' if self.change else 'no'} change, seed {self.seed}"


class Persisting(NamedTuple):
    """Rows X with labels Y or classes, and the row at which their meaning may change."""

    X: np.ndarray
    Y: np.ndarray
    half: int


def main() -> None:
    """Measure what the file does not have yet, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learners", nargs="+", choices=[*OURS, *RIVALS], default=list(OURS), metavar="NAME")
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--again", action="store_true", help="also what the file has already")
    parser.add_argument("--only-tables", action="store_true")
    options = parser.parse_args()
    chosen = [*cases(options.seeds), *weak_cases()]
    for case in () if options.only_tables else chosen:
        for learner in options.learners:
            is_known = learner in known().get(str(case), {})
            if (options.again or not is_known) and (learner in OURS or case.name in TWO_CLASSES):
                keep(case, learner, measured(case, learner))
    print(tables())


def cases(seeds: Sequence[int]) -> Iterator[Case]:
    """Yield all streams drawn by these `seeds`."""
    for seed in seeds:
        for change in (False, True):
            for run in RUNS:
                yield from (Case(n, run, change, seed) for n in (*TWO_CLASSES, *OTHERS) if n != "rbf" or not change)


def weak_cases() -> list[Case]:
    """Return the streams of weak sensors."""
    return [Case("weak", run, False, seed) for run in WEAK_RUNS for seed in WEAK_SEEDS]


# ---------------------------------------------------------------------- streams


def weak(case: Case) -> Persisting:
    """Return two labels, either of which changes with a row by one chance in `case.run`, and four sensors."""
    rng, n = np.random.default_rng(case.seed), WEAK_RUNS[case.run]
    Y = np.cumsum(rng.random((n, 2)) < 1.0 / case.run, axis=0) % 2.0
    X = rng.normal(size=(n, 4))
    X[:, :2] += Y
    return Persisting(X, Y, n // 2)


def persisting(case: Case) -> Persisting:
    """Return the stream of `case`."""
    if case.name == "weak":
        return weak(case)
    has_twin = case.name != "flip"
    made = make_stream(case.name if case.change or not has_twin else f"{case.name}-plain", case.seed)
    Y = made.Y.copy()
    if not has_twin and not case.change:
        Y[HALF:, 0] = 1.0 - Y[HALF:, 0]  # the flip taken back
    state = Y.argmax(axis=1) if made.one_label else Y[:, 0].astype(int)
    rng = np.random.default_rng(case.seed + case.run)
    first, second = in_runs(state[:HALF], case.run, rng), HALF + in_runs(state[HALF:], case.run, rng)
    order = np.concatenate([first, second])
    return Persisting(made.X[order], state[order] if made.one_label else Y[order], len(first))


def in_runs(state: np.ndarray, run: int, rng: np.random.Generator) -> np.ndarray:
    """Return an order of rows in which `state` comes in runs of geometric length, mean `run`.

    Rows of one state that are left at the end, when there are none of another, are dropped.
    """
    rows = {int(value): rng.permutation(np.flatnonzero(state == value)) for value in np.unique(state)}
    order: list[np.ndarray] = []
    last = -1
    while others := [value for value, left in rows.items() if len(left) and value != last]:
        sizes = np.array([len(rows[value]) for value in others], float)
        last = others[rng.choice(len(others), p=sizes / sizes.sum())]
        n = int(rng.geometric(1.0 / run))
        order.append(rows[last][:n])
        rows[last] = rows[last][n:]
    return np.concatenate(order)


# ---------------------------------------------------------------------- learners


def measured(case: Case, learner: str) -> dict[str, float | None]:
    """Return accuracy on the rows that were left out, and in test-then-train, of `learner`; its drift events."""
    X, Y, half = persisting(case)
    out = np.random.default_rng(5).random(len(X)) < LEFT_OUT
    asked = out & (np.arange(len(X)) >= (half if case.change else 0))
    learn = ours if learner in OURS else boosting if learner == "boosting" else of_river
    before, after, events = learn(learner, X[~out], Y[~out], X[asked])
    return {
        "left_out": round(float((after == Y[asked]).mean()), 4),
        "test_then_train": round(float((before == Y[~out]).mean()), 4),
        "drift_events": events,
    }


def ours(learner: str, X: np.ndarray, Y: np.ndarray, asked: np.ndarray) -> tuple[np.ndarray, np.ndarray, float | None]:
    """Return what a classifier predicts before it learns each row of X and for the rows `asked`; its drift events."""
    classifier = EvolvingFuzzyClassifier(**OURS[learner])
    outputs = classifier.test_then_train(X, Y)
    before = classifier.classes_[outputs.argmax(axis=1)] if Y.ndim == 1 else outputs >= 0.5
    return before, classifier.predict(asked), float(sum(event.kind == "drift" for event in classifier.events_))


def of_river(
    learner: str, X: np.ndarray, Y: np.ndarray, asked: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float | None]:
    """Return what a learner of river predicts before it learns each row of X, and for the rows `asked`."""
    from drift_peers import LEARNERS
    from river import tree

    made = tree.HoeffdingTreeClassifier() if learner == "Hoeffding tree" else LEARNERS[learner]()
    before = []
    for x, y in zip(X.tolist(), Y.tolist(), strict=True):
        named = dict(enumerate(x))
        before.append(made.predict_one(named))
        made.learn_one(named, y)
    after = [made.predict_one(dict(enumerate(x))) for x in asked.tolist()]
    return np.array([-1 if y is None else y for y in before]), np.array(after), None


def boosting(
    learner: str, X: np.ndarray, Y: np.ndarray, asked: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float | None]:
    """Return what boosting on a window predicts for the rows of X that follow, and at last for the rows `asked`."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    assert learner == "boosting"
    before, fitted = np.full(len(X), -1), None
    for start in range(0, len(X) + REFITTED_EVERY, REFITTED_EVERY):
        end = min(start + REFITTED_EVERY, len(X))
        window = slice(max(0, start - WINDOW), min(start, len(X)))
        if len(np.unique(Y[window])) > 1:
            fitted = HistGradientBoostingClassifier(random_state=0).fit(X[window], Y[window])
        if start < end:
            before[start:end] = Y[0] if fitted is None else fitted.predict(X[start:end])
    assert fitted is not None
    return before, fitted.predict(asked), None


# ---------------------------------------------------------------------- results


def known() -> dict[str, Any]:
    """Return what the file has, by stream and learner."""
    return dict(result_files.read_if_any("persisting", {}))


def keep(case: Case, learner: str, run: dict[str, float | None]) -> None:
    """Add the `run` of `learner` on the stream of `case` to the file as it is now, and print it."""
    found = known()
    found.setdefault(str(case), {})[learner] = run
    result_files.write("persisting", found)
    print(f"{case!s:52} {learner:18}", run, flush=True)


def tables() -> str:
    """Return one table per group of streams: a row per length of runs, a column per learner."""
    every, first = list(cases(SEEDS)), [case for case in cases(SEEDS[:1]) if case.name in TWO_CLASSES]
    groups = (
        ("All streams: left out / test-then-train; drift events", every, tuple(OURS)),
        (f"Two classes, seed {SEEDS[0]}: left out / test-then-train", first, (*OURS, *RIVALS)),
        ("Weak sensors: left out / test-then-train; drift events", weak_cases(), tuple(OURS)),
    )
    return "\n\n".join(table(*group) for group in groups)


def table(title: str, chosen: Sequence[Case], learners: Sequence[str]) -> str:
    """Return the table of the streams `chosen`: a row per length of runs, a column for each of `learners`."""
    lines = [f"{title}\n", f"{'mean run, change':18}" + "".join(f"{name:>24}" for name in learners)]
    for change, run in sorted({(case.change, case.run) for case in chosen}):
        of_row = [case for case in chosen if (case.change, case.run) == (change, run)]
        row = f"{run}, {'yes' if change else 'no'}"
        lines.append(f"{row:18}" + "".join(f"{cell(of_row, learner):>24}" for learner in learners))
    return "\n".join(lines)


def cell(chosen: Sequence[Case], learner: str) -> str:
    """Return the means of `learner` over the streams `chosen` in words; "-" unless all of them were measured."""
    found = known()
    runs = [found.get(str(case), {}).get(learner) for case in chosen]
    if None in runs:
        return "-"
    means = [float(np.mean([one[part] for one in runs])) for part in ("left_out", "test_then_train")]
    text = f"{means[0]:.3f} / {means[1]:.3f}"
    events = [one["drift_events"] for one in runs if one["drift_events"] is not None]
    return f"{text}; {np.mean(events):.1f}" if events else text


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
