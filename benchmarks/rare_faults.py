"""Rare faults of a plant: how soon one whose limit moves is reported and found again, and what is reported falsely.

    python benchmarks/rare_faults.py                       # seeds 48 to 59; continues an earlier run
    python benchmarks/rare_faults.py --seeds 36 37         # seeds by which settings were chosen; prints, writes nothing
    python benchmarks/rare_faults.py --only-tables         # prints the tables of the last run

Six sensors, four labels of 2 to 5 % of the rows. Rows are learned one after the other, each after it was predicted.
At half one fault changes, `MOVED`: vibration above a limit; for half of the seeds also a level below another one.

| kind           | what happens at half                                                                           |
|----------------|------------------------------------------------------------------------------------------------|
| wider          | the limit falls, so that of the present positives the old limit finds 18 %                     |
| narrower       | the limit rises: of four rows above the old limit one is a fault                               |
| lasting        | as wider; faults last: a sensor stays near one value for 15 rows on average                    |
| lasting, narrower | as narrower, faults last                                                                    |
| sensor         | the sensor reads other values, shifted by 2 to 5 deviations or rescaled; no label changes      |
| still          | nothing                                                                                        |
| lasting, still | nothing; faults last                                                                           |

Written are rows and positives until "drift" of the label, rows until 20 independent positives are found as before,
recall in between, and what was reported that is not so. Where faults last, 15 rows are one independent answer, and the
F1 is also measured on a tenth of the rows after half that was left out. The last answers are not used
(`memory=None`), so that only what was learned counts. Results are written to benchmarks/results/rare_faults.json.
"""

import argparse
import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from shared import result_files

from evolabel import EvolvingFuzzyClassifier
from evolabel.core.events import Event

SEEDS = tuple(range(48, 60))  # of all shares, with and without noise and a second condition
ROWS = 6_000  # of a stream
LASTING_ROWS = 24_000  # of a stream whose faults last
LASTS = 15  # rows for which a sensor stays near one value, on average
KINDS = ("wider", "narrower", "lasting", "lasting, narrower", "sensor", "still", "lasting, still")
SENSORS = ("pressure", "flow", "temperature", "vibration", "current", "level")
LABELS = ("bearing", "leak", "overheating", "valve")
MOVED, VIBRATION = 0, 3  # the label that changes, and the sensor that it depends on
SHARES = (0.02, 0.03, 0.05)  # of the label that changes, before
FOUND_BY_OLD_LIMIT = 0.18  # share of the new positives, where the limit falls
STILL_FAULTS = 0.25  # share of the old positives, where the limit rises
SECOND = 0.5  # share of the rows that have the second condition, where there is one: a level below its median
NOISE = 0.15  # deviations of what is read from what labels depend on, for every second three seeds
LEFT_OUT = 0.1  # of the rows, where faults last
POSITIVES = 20  # over which recall is looked at
AS_BEFORE = 0.1  # by which recall may be lower than before


class Plant(NamedTuple):
    """Rows of sensors with labels, the row at which something changes, and rows that one answer counts for."""

    X: np.ndarray
    Y: np.ndarray
    half: int
    lasts: int


def main() -> None:
    """Measure what the file does not have yet, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), metavar="KIND")
    parser.add_argument("--again", action="store_true", help="also what the file has already")
    parser.add_argument("--only-tables", action="store_true")
    options = parser.parse_args()
    kept = set(options.seeds) <= set(SEEDS)
    found: dict[str, Any] = result_files.read_if_any("rare_faults", {}) if kept else {}
    for kind in () if options.only_tables else options.kinds:
        for seed in options.seeds:
            runs = found.setdefault(kind, {})
            if options.again or str(seed) not in runs:
                runs[str(seed)] = measured(kind, seed)
                print(f"{kind:18} seed {seed}", runs[str(seed)], flush=True)
                if kept:
                    result_files.write("rare_faults", found)
    print(table(found))


# ---------------------------------------------------------------------- the plant


def make_plant(kind: str, seed: int) -> Plant:
    """Return the stream of this `kind`, drawn by `seed`."""
    rng = np.random.default_rng(seed)
    lasts = LASTS if "lasting" in kind else 1
    n = ROWS if lasts == 1 else LASTING_ROWS
    half = n // 2
    Z = rng.normal(size=(n, len(SENSORS))) if lasts == 1 else levels(rng, n)
    Z[:, 4] = 0.5 * Z[:, 3] + 0.87 * Z[:, 4]  # the current follows the vibration a little
    share, has_second = SHARES[seed % 3], seed // 6 % 2 == 1
    above = share / SECOND if has_second else share
    now = np.full(n, upper_limit(above))
    if kind in ("wider", "lasting"):
        now[half:] = upper_limit(above / FOUND_BY_OLD_LIMIT)
    elif "narrower" in kind:
        now[half:] = upper_limit(above * STILL_FAULTS)
    bearing = (Z[:, VIBRATION] > now) & (Z[:, 5] < upper_limit(1.0 - SECOND) if has_second else True)
    leak = (Z[:, 0] < -1.0) & (Z[:, 1] > 0.7)
    overheating = Z[:, 2] > upper_limit(0.03)
    valve = Z[:, 5] - 0.6 * Z[:, 1] > 2.1
    if seed // 3 % 2 == 1:
        Z = Z + NOISE * rng.normal(size=Z.shape)
    X = np.array([5.4, 3.2, 61.0, 2.2, 14.0, 1.5]) + np.array([0.5, 0.5, 8.0, 0.5, 2.0, 0.2]) * Z
    if kind == "sensor":
        move_sensor(X, half, rng)
    return Plant(X, np.column_stack([bearing, leak, overheating, valve]).astype(float), half, lasts)


def upper_limit(share: float) -> float:
    """Return the limit that this `share` of standard normal values exceeds."""
    return statistics.NormalDist().inv_cdf(1.0 - share)


def levels(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return `n` rows of sensors, each of which stays near one value for `LASTS` rows on average."""
    Z = np.empty((n, len(SENSORS)))
    for j in range(len(SENSORS)):
        starts = rng.random(n) < 1.0 / LASTS
        starts[0] = True
        Z[:, j] = rng.normal(size=n)[np.maximum.accumulate(np.where(starts, np.arange(n), 0))]
    return np.asarray(0.98 * Z + 0.2 * rng.normal(size=Z.shape))


def move_sensor(X: np.ndarray, half: int, rng: np.random.Generator) -> None:
    """Shift the vibration of the rows of `X` from `half` on by 2 to 5 deviations, or multiply it by 2.5 to 10."""
    if rng.random() < 0.5:
        X[half:, VIBRATION] += rng.choice([-1.0, 1.0]) * rng.uniform(2.0, 5.0) * 0.5
    else:
        X[half:, VIBRATION] *= rng.uniform(2.5, 10.0) ** rng.choice([-1.0, 1.0])


# ---------------------------------------------------------------------- what is measured


def measured(kind: str, seed: int) -> dict[str, Any]:
    """Return how the stream of this `kind` and `seed` was followed, and what was reported."""
    plant = make_plant(kind, seed)
    classifier = EvolvingFuzzyClassifier(memory=None)
    events: list[Event] = []
    outputs = classifier.test_then_train(plant.X, plant.Y, on_event=events.append)
    moves = kind not in ("sensor", "still", "lasting, still")
    found: dict[str, Any] = {"share": round(float(plant.Y[: plant.half, MOVED].mean()), 4)}
    found |= followed(plant, kind, outputs, events) if moves else {}
    if kind == "sensor":
        found["sensor moved"] = first(events, "sensor moved", plant.half, "x3")
    found["false drift"] = sum(is_false(event, plant, moves) for event in events)
    found["wrong recovery"] = sum(is_wrong_recovery(event, plant, outputs) for event in events)
    if plant.lasts > 1:
        found["F1 left out"] = left_out(plant)
    found["F1"] = [round(f1(plant.Y[:, b], outputs[:, b]), 4) for b in range(len(LABELS))]
    return found


def left_out(plant: Plant) -> list[float]:
    """Return the F1 of each label on a tenth of the rows after half, which was never learned."""
    out = np.random.default_rng(5).random(len(plant.X)) < LEFT_OUT
    asked = out & (np.arange(len(plant.X)) >= plant.half)
    found = EvolvingFuzzyClassifier(memory=None).partial_fit(plant.X[~out], plant.Y[~out]).predict(plant.X[asked])
    return [round(f1(plant.Y[asked, b], found[:, b]), 4) for b in range(len(LABELS))]


def followed(plant: Plant, kind: str, outputs: np.ndarray, events: Sequence[Event]) -> dict[str, Any]:
    """Return when the label that moved was reported, and predicted as before, in this stream of this `kind`.

    Where the limit falls, by the share of positives that are found; where it rises, by the share of alarms that are
    right.
    """
    y, said = plant.Y[:, MOVED] > 0.5, outputs[:, MOVED] >= 0.5
    counted, right = (np.flatnonzero(said), y) if "narrower" in kind else (np.flatnonzero(y), said)
    reported = first(events, "drift", plant.half, "label0")
    positives = np.flatnonzero(y[plant.half :])
    before = float(right[counted[counted < plant.half][-3 * POSITIVES * plant.lasts :]].mean())
    later, n = counted[counted >= plant.half], POSITIVES * plant.lasts
    mean = np.convolve(right[later], np.ones(n), "valid") / n
    good = np.flatnonzero(mean >= before - AS_BEFORE)
    spans = {"first 500": (0, 500), "500 to 1,500": (500, 1_500), "1,500 to 3,000": (1_500, 3_000)}
    found = {
        "drift": reported,
        "positives": None if reported is None else int((positives < reported).sum()),
        "back": int(later[good[0]] - plant.half) if len(good) else None,
        "before": round(before, 3),
    }
    for name, (start, end) in spans.items():
        rows = later[(later >= plant.half + start * plant.lasts) & (later < plant.half + end * plant.lasts)]
        part = slice(plant.half + start * plant.lasts, plant.half + end * plant.lasts)
        found[name] = round(float(right[rows].mean()), 3) if len(rows) else None
        found[f"F1, {name}"] = round(f1(plant.Y[part, MOVED], outputs[part, MOVED]), 3)
    return found


def first(events: Sequence[Event], kind: str, since: int, about: str) -> int | None:
    """Return after how many rows from `since` on the first of `events` of this `kind` came, None if none did.

    It is `about` a label or a feature.
    """
    rows = [event.sample - since for event in events if event.kind == kind and about in (event.label, event.feature)]
    return min((row for row in rows if row > 0), default=None)


def is_false(event: Event, plant: Plant, moves: bool) -> bool:
    """Return whether `event` says that a label has changed its meaning which has not."""
    true = moves and event.label == f"label{MOVED}" and event.sample > plant.half
    return event.kind == "drift" and not true


def is_wrong_recovery(event: Event, plant: Plant, outputs: np.ndarray) -> bool:
    """Return whether `event` says that a label is predicted as before which is not.

    Its error is more than twice the calm one, or of the last 10 positives fewer than half as many are found.
    """
    if event.kind != "recovered":
        return False
    label = int(str(event.label).removeprefix("label"))
    positives = np.flatnonzero(plant.Y[:, label] > 0.5)
    before = positives[positives < plant.half][-3 * POSITIVES :]
    last = positives[positives < event.sample][-10 * plant.lasts :]
    recall, usual = (float((outputs[rows, label] >= 0.5).mean()) for rows in (last, before))
    return event.after > 2.0 * event.before + 1e-3 or recall < 0.5 * usual


def f1(y: np.ndarray, outputs: np.ndarray) -> float:
    """Return the F1 of a label y by its `outputs`."""
    said, y = outputs >= 0.5, y > 0.5
    return float(2.0 * (said & y).sum() / max((said.sum() + y.sum()), 1))


# ---------------------------------------------------------------------- tables


def table(found: dict[str, Any]) -> str:
    """Return a line per kind: how many were reported, when, and what was reported falsely."""
    lines = []
    for kind, runs in found.items():
        all_runs = list(runs.values())
        line = f"{kind:18} n={len(all_runs)}"
        if "drift" in all_runs[0]:
            in_time = sum(
                r["drift"] is not None and (r["drift"] <= 300 or r["positives"] <= 15 * lasts_of(kind))
                for r in all_runs
            )
            soon = sum(r["back"] is not None and r["back"] <= 500 * lasts_of(kind) for r in all_runs)
            line += f" in time {in_time}, back in time {soon};"
            for name in ("drift", "positives", "back", "before", "first 500", "500 to 1,500", "F1, 500 to 1,500"):
                line += f" {name} {summary([r[name] for r in all_runs])};"
        if "sensor moved" in all_runs[0]:
            line += f" sensor moved {summary([r['sensor moved'] for r in all_runs])};"
        line += f" false drift {sum(r['false drift'] for r in all_runs)},"
        line += f" wrong recovery {sum(r['wrong recovery'] for r in all_runs)},"
        if "F1 left out" in all_runs[0]:
            line += f" F1 left out {np.mean([r['F1 left out'] for r in all_runs], axis=0).round(3).tolist()},"
        line += f" F1 {np.mean([r['F1'] for r in all_runs], axis=0).round(3).tolist()}"
        lines.append(line)
    return "\n".join(lines)


def lasts_of(kind: str) -> int:
    """Return the rows that one independent answer of the streams of this `kind` has."""
    return LASTS if "lasting" in kind else 1


def summary(values: Sequence[float | None]) -> str:
    """Return median and range of `values`, and how many there are of all."""
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    missing = f" ({len(known)} of {len(values)})" if len(known) < len(values) else ""
    return f"{statistics.median(known):g} [{min(known):g}, {max(known):g}]{missing}"


if __name__ == "__main__":
    main()
