"""How the product follows drift: accuracy, events and time with `follow_drift` on and off.

    python benchmarks/drift.py                     # all parts; writes benchmarks/results/drift.json
    python benchmarks/drift.py rare time           # these parts; the others stay in the file as they are
    python benchmarks/drift.py --only-tables       # prints the tables of the last run

| part    | what is measured, seeds 13 to 17                                                                      |
|---------|-------------------------------------------------------------------------------------------------------|
| streams | accuracy from row 500 on and in the 1,000 rows after a drift, events, and rows until the first one    |
|         | after each drift (`drift_streams.py`)                                                                 |
| repeats | the same for the streams without drift and the flipped label, seeds 13 to 42: differences are small   |
| sets    | PA and AP on the five data sets as in `accuracy.py`, as they are and with two pairs of labels swapped |
| rare    | rows until "drift" when a rare label moves to the other tail, and false "drift" events if it stays    |
| time    | processor time over 10,000 rows (best of 3, in turns), and bytes of the saved model                   |
| asking  | accuracy with 10 % of the labels, or of the samples, answered, chosen and drawn at random, "drift"    |
|         | events, and how many answers a flipped label needs until "drift"                                      |

Beside them stand the figures of river's learners on seed 13 (`drift_peers.py`). The sets need EVOLABEL_DATA.
"""

import os

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import drift_tables
import numpy as np
import update_speed
from drift_streams import (
    GRADUAL,
    HALF,
    MORE,
    NINE,
    PLAIN,
    REGIONS_CHANGE,
    ROWS,
    SENSORS,
    Stream,
    make_stream,
    tail_label,
    with_pairs_swapped,
)
from joblib import Parallel, delayed
from shared import datasets, result_files

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import BudgetedLearner, RandomSelector, SimulatedAnnotator
from evolabel.core.events import Event
from evolabel.evaluate import average_precision, partial_accuracy

SEEDS = range(13, 18)
MANY_SEEDS = range(13, 43)
WARM_UP = 80
SHARES = (0.02, 0.035, 0.05, 0.1, 0.3)
BEFORE_FLIP = (3_000, HALF)  # rows whose accuracy is the level before the flip
AFTER_FLIP = {"200-500": (200, 500), "500-1000": (500, 1_000), "500-1500": (500, 1_500), "2000-3000": (2_000, 3_000)}
TIMED_STREAMS = ("sea", "ds-abrupt", "rbf", "led")
REPEATS = 3
NOTICING = ("drift", "sensor moved", "inputs moved")  # kinds of events by which a drift is noticed
ASKED_FROM, ASKED_SHARE = 500, 0.1  # initial batch, and share of the labels that may be asked for


class DriftEvent(NamedTuple):
    """An event at a row, counted from 1; the number of its label, None without one."""

    row: int
    kind: str
    label: int | None


class Followed(NamedTuple):
    """Outputs of a learner for every row, and its events."""

    outputs: np.ndarray
    events: list[DriftEvent]


Learner = Callable[[np.ndarray, np.ndarray, bool], Followed]
"""Answers and then learns rows X with labels Y, and follows drift or does not."""


def main() -> None:
    """Measure the parts that are named, write them, and print all tables."""
    parts: dict[str, Callable[[int], object]] = {
        "streams": measure_streams,
        "repeats": measure_many_seeds,
        "sets": measure_sets,
        "rare": measure_rare_labels,
        "time": lambda jobs: measure_times(),
        "asking": measure_asking,
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(parts)} (default: all)")
    parser.add_argument("--only-tables", action="store_true")
    parser.add_argument("--jobs", type=int, default=2, help="processes; time is always measured in one")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(parts):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(parts)}")
    for part in () if options.only_tables else options.parts or parts:
        found = result_files.read_if_any("drift", {})  # another part may have been written meanwhile
        result_files.write("drift", found | {"seeds": list(SEEDS), part: parts[part](options.jobs)})
    print(drift_tables.all_tables())


def product(X: np.ndarray, Y: np.ndarray, follow: bool) -> Followed:
    """Return outputs and events of the product; `follow` is its `follow_drift`."""
    classifier = EvolvingFuzzyClassifier(follow_drift=follow, threshold_rules=False, warm_up=WARM_UP)
    outputs = classifier.test_then_train(X, Y)
    return Followed(outputs, events_of(classifier))


def events_of(classifier: EvolvingFuzzyClassifier) -> list[DriftEvent]:
    """Return the events of `classifier`, with numbers of labels in place of their names."""
    numbers = {name: number for number, name in enumerate(classifier.label_names_)}
    return [DriftEvent(event.sample, event.kind, numbers.get(event.label, event.label)) for event in classifier.events_]


def delay(events: Iterable[DriftEvent], kind: str, label: int, start: int) -> int | None:
    """Return how many rows from `start` on, 1 or more, a learner needs for the first event of `kind` and `label`.

    `start` is an index from 0, as that of a drift in a stream: 1 is an event at the first row that has drifted. None
    if there is no such event.
    """
    return first_delay((event.row for event in events if (event.kind, event.label) == (kind, label)), start, ROWS)


def both(one: Callable[[bool], object]) -> dict[str, object]:
    """Return what `one` returns with following drift on and off."""
    return {"on": one(True), "off": one(False)}


def in_processes(
    jobs: int,
    measure: Callable[..., dict[str, object]],
    cases: Iterable[tuple[Any, ...]],
    seeds: Sequence[int] = SEEDS,
) -> dict[str, Any]:
    """Return, by case and then by "on" and "off", the runs of all `seeds`; `measure` is called as (*case, seed)."""
    named = list(cases)
    runs = Parallel(n_jobs=jobs)(delayed(measure)(*case, seed) for case in named for seed in seeds)
    found: dict[str, Any] = {}
    for number, run in enumerate(runs):
        of_case = found.setdefault(str(named[number // len(seeds)][0]), {})
        for way, value in run.items():
            of_case.setdefault(way, []).append(value)
    return found


# ---------------------------------------------------------------- streams


def measure_streams(jobs: int, learner: Learner = product) -> dict[str, Any]:
    """Return the runs of `learner` on all streams, by name, by way and seed by seed."""
    return in_processes(jobs, on_stream, ((name, learner) for name in (*NINE, *PLAIN, *MORE, *SENSORS)))


def measure_many_seeds(jobs: int) -> dict[str, Any]:
    """Return the runs of the product on the streams without drift and with a flipped label, for many seeds."""
    return in_processes(jobs, on_stream, ((name, product) for name in (*PLAIN, "flip")), MANY_SEEDS)


def on_stream(name: str, learner: Learner, seed: int) -> dict[str, object]:
    """Return scores and events of `learner` on the stream `name`; of the flipped label by itself if there is one."""
    stream = make_stream(name, seed)

    def run(follow: bool) -> dict[str, object]:
        outputs, events = learner(stream.X, stream.Y, follow)
        accuracy, after = stream.score(outputs)
        found = {"accuracy": rounded(accuracy), "after": rounded(after), "events": Counter(e.kind for e in events)}
        if follow and stream.drifts:
            found["noticed"] = first_events(events, beginnings(name, stream))
        return found | ({"flipped": flipped_label(outputs, stream.Y, events)} if name == "flip" else {})

    return both(run)


def beginnings(name: str, stream: Stream) -> tuple[int, ...]:
    """Return the rows at which the drifts of the `stream` of this `name` begin.

    Where one concept replaces another gradually, this is `GRADUAL` rows before both are equally frequent, when 2 % of
    the rows are of the new one. Regions change their labels every 1,000 rows.
    """
    if name in ("ds-abrupt", "ds-gradual"):
        return tuple(range(REGIONS_CHANGE, ROWS, REGIONS_CHANGE))
    return tuple(start - GRADUAL for start in stream.drifts) if name.endswith("-gradual") else stream.drifts


def first_events(events: list[DriftEvent], starts: Sequence[int]) -> dict[str, list[int | None]]:
    """Return, by kind of event, the rows from each of `starts` to the first of `events` before the next one or None."""
    spans = list(zip(starts, (*starts[1:], ROWS), strict=True))
    rows = {kind: [event.row for event in events if event.kind == kind] for kind in NOTICING}
    return {kind: [first_delay(rows[kind], *span) for span in spans] for kind in NOTICING}


def first_delay(rows: Iterable[int], start: int, end: int) -> int | None:
    """Return how many rows from the index `start` on the first of `rows` comes, None if none comes before `end`."""
    return min((row - start for row in rows if start < row <= end), default=None)


def flipped_label(outputs: np.ndarray, Y: np.ndarray, events: list[DriftEvent]) -> dict[str, float | None]:
    """Return the accuracy of label 0, which flips at half, before and after; rows until "drift" and "recovered"."""
    right = (outputs[:, 0] >= 0.5) == (Y[:, 0] > 0.5)
    noticed = delay(events, "drift", 0, HALF)
    followed = None if noticed is None else delay(events, "recovered", 0, HALF + noticed)
    return {
        "before": rounded(right[slice(*BEFORE_FLIP)].mean()),
        **{span: rounded(right[HALF + first : HALF + last].mean()) for span, (first, last) in AFTER_FLIP.items()},
        "drift": noticed,
        "recovered": None if noticed is None or followed is None else noticed + followed,
    }


def rounded(value: float) -> float | None:
    """Return `value` to four digits, None for NaN."""
    return None if np.isnan(value) else round(float(value), 4)


# ---------------------------------------------------------------- data sets


def measure_sets(jobs: int) -> dict[str, Any]:
    """Return the runs on the five data sets, "as it is" and "swapped"."""
    return {
        kind: in_processes(jobs, on_set, ((name, kind) for name in datasets.NAMES)) for kind in ("as it is", "swapped")
    }


def on_set(name: str, kind: str, seed: int) -> dict[str, object]:
    """Return PA, AP and events on the set `name`, shuffled by `seed`; its first fifth is the initial batch."""
    X, Y, initial = datasets.load(name, seed)
    if kind == "swapped":
        Y = with_pairs_swapped(Y)

    def run(follow: bool) -> dict[str, object]:
        classifier = EvolvingFuzzyClassifier(follow_drift=follow, threshold_rules=False).fit(X[:initial], Y[:initial])
        outputs = classifier.test_then_train(X[initial:], Y[initial:])
        half = len(X) // 2 - initial
        return {
            "pa": round(partial_accuracy(Y[initial:], outputs), 5),
            "ap": round(average_precision(Y[initial:], outputs), 5),
            "pa second half": round(partial_accuracy(Y[initial:][half:], outputs[half:]), 5),
            "events": Counter(event.kind for event in events_of(classifier)),
        }

    return both(run)


# ---------------------------------------------------------------- rare labels


def measure_rare_labels(jobs: int, learner: Learner = product) -> dict[str, Any]:
    """Return, by the share of the label, rows until "drift" and false "drift" events of `learner`, seed by seed."""
    return in_processes(jobs, on_rare_label, ((share, learner) for share in SHARES))


def on_rare_label(share: float, learner: Learner, seed: int) -> dict[str, object]:
    """Return the delay of "drift" if label 0 moves (None: never), and the "drift" events of label 0 if it stays."""
    moving, still = (tail_label(share, seed, moves=moves) for moves in (True, False))
    events = learner(moving.X, moving.Y, True).events
    false = [event for event in learner(still.X, still.Y, True).events if event.kind == "drift"]
    return {
        "delay": delay(events, "drift", 0, HALF),
        "false": sum(event.label == 0 for event in false),
        "false of other labels": sum(event.label != 0 for event in false),
    }


# ---------------------------------------------------------------- time


def measure_times() -> list[dict[str, object]]:
    """Return processor time over 10,000 rows and bytes of the saved model, on and off, at nine shapes."""
    streams = {name: update_speed.stream(p, K, ROWS) for name, (p, K, _) in update_speed.SHAPES.items()}
    streams |= {name: make_stream(name, SEEDS[0])[:2] for name in TIMED_STREAMS}
    for follow in (True, False):  # compiles the kernels
        product(*(rows[:200] for rows in streams["sea"]), follow)
    return [timed(name, X, Y) for name, (X, Y) in streams.items()]


def timed(name: str, X: np.ndarray, Y: np.ndarray) -> dict[str, object]:
    """Return microseconds per row, the best of several runs, and bytes, on and off; both ways take turns."""
    seconds: dict[bool, list[float]] = {True: [], False: []}
    sizes: dict[bool, int] = {}
    for _ in range(REPEATS):
        for follow, times in seconds.items():
            classifier = EvolvingFuzzyClassifier(follow_drift=follow, threshold_rules=False, warm_up=WARM_UP)
            start = time.process_time()
            classifier.test_then_train(X, Y)
            times.append(time.process_time() - start)
            sizes[follow] = saved_bytes(classifier)
    on, off = (1e6 * min(seconds[follow]) / len(X) for follow in (True, False))
    return {
        "stream": name,
        "features": X.shape[1],
        "labels": Y.shape[1],
        "us_on": round(on, 1),
        "us_off": round(off, 1),
        "ratio": round(on / off, 2),
        "bytes_on": sizes[True],
        "bytes_off": sizes[False],
    }


# ---------------------------------------------------------------- questions


def measure_asking(jobs: int) -> dict[str, Any]:
    """Return the runs of learners that ask for 10 % of labels or samples, by stream, by way and seed by seed."""
    return in_processes(jobs, on_asking, ((name,) for name in (*NINE, *PLAIN, "flip")))


class CountingAnnotator(SimulatedAnnotator):
    """Annotator that counts its answers label by label."""

    answers: np.ndarray | int = 0

    def answer(self, truth: np.ndarray, asked: np.ndarray) -> np.ndarray | None:
        """Return the answer for the labels `asked`, and count it."""
        self.answers = self.answers + asked.astype(int)
        return super().answer(truth, asked)

    def anew(self) -> "CountingAnnotator":
        """Return the annotator itself: it has not answered yet."""
        return self


def on_asking(name: str, seed: int) -> dict[str, object]:
    """Return accuracy and "drift" events if labels or samples are chosen, and if they are drawn at random."""
    stream = make_stream(name, seed)
    initial, rest = slice(0, ASKED_FROM), slice(ASKED_FROM, None)
    chance: dict[str, Any] = {"criteria": "ambiguity", "selection": RandomSelector(seed)}
    ways: dict[str, tuple[str, dict[str, Any]]] = {
        "chosen": ("labels", {}),
        "random": ("labels", chance),
        "chosen samples": ("samples", {}),
        "random samples": ("samples", chance),
    }
    found: dict[str, object] = {}
    for way, (per, settings) in ways.items():
        annotator = CountingAnnotator(seed=seed)
        learner = BudgetedLearner(None, ASKED_SHARE, per, annotator=annotator, **settings)
        learner.fit(stream.X[initial], stream.Y[initial])
        if name == "flip":
            outputs, answers = outputs_and_answers(learner, annotator, stream)
        else:
            outputs, answers = learner.test_then_train(stream.X[rest], stream.Y[rest]), None
        later = stream._replace(X=stream.X[rest], Y=stream.Y[rest])
        kinds = Counter(event.kind for event in learner.learner_.classifier.events_)
        found[way] = {
            "accuracy": rounded(later.right(outputs).mean()),
            "share": round(learner.share_, 4),
            "drift": kinds["drift"],
        } | ({} if answers is None else answers)
    return found


def outputs_and_answers(
    learner: BudgetedLearner, annotator: CountingAnnotator, stream: Stream
) -> tuple[np.ndarray, dict[str, int | None]]:
    """Return the outputs of `learner`, and the rows and answers from the flip of label 0 until its "drift"."""
    outputs = [learner.test_then_train(stream.X[ASKED_FROM:HALF], stream.Y[ASKED_FROM:HALF])]
    before, noticed = np.array(annotator.answers), {"answers": None, "rows": None}
    for row in range(HALF, len(stream.X)):
        events: list[Event] = []
        rows = slice(row, row + 1)
        outputs.append(learner.test_then_train(stream.X[rows], stream.Y[rows], on_event=events.append))
        flipped = learner.learner_.classifier.label_names_[0]
        if noticed["rows"] is None and any((e.kind, e.label) == ("drift", flipped) for e in events):
            noticed = {"answers": int((annotator.answers - before)[0]), "rows": row + 1 - HALF}
    return np.concatenate(outputs), noticed


def saved_bytes(classifier: EvolvingFuzzyClassifier) -> int:
    """Return the size of the file of `classifier`."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.safetensors"
        classifier.save(file)
        return file.stat().st_size


if __name__ == "__main__":
    main()
