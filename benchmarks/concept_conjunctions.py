"""Labels that are conjunctions of thresholds: on 5 of 100 features, and the rare faults of a plant."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

ROWS = 8_000
HALF = ROWS // 2

Edges = Mapping[str, tuple[float, ...]]
"""Features that decide a label, and where their thresholds stand (none where there are no thresholds)."""

SENSORS = {  # mean and deviation
    "pressure": (6.0, 1.2),
    "flow": (2.5, 0.8),
    "temperature": (70.0, 8.0),
    "load": (50.0, 15.0),
    "vibration": (2.0, 0.6),
    "speed": (1500.0, 200.0),
    "current": (12.0, 3.0),
    "voltage": (400.0, 6.0),
    "humidity": (45.0, 12.0),
    "level": (3.0, 0.8),
    "torque": (30.0, 7.0),
    "noise": (60.0, 5.0),
}
MACHINES = {"machine=M-01": 0.3, "machine=M-02": 0.25, "machine=M-03": 0.2, "machine=M-04": 0.15, "machine=M-05": 0.1}
"""Columns of the category "machine", and the share of the rows of each."""


class Condition(NamedTuple):
    """A feature is above, or else below, the quantile `share` of its values."""

    feature: int
    above: bool
    share: float


FAULTS = {  # conditions, and the machine that is excepted
    "leak": ((Condition(0, False, 0.18), Condition(1, True, 0.80)), 0),
    "overheating": ((Condition(2, True, 0.85), Condition(3, True, 0.78)), 2),
    "wear": ((Condition(4, True, 0.75), Condition(5, False, 0.30), Condition(6, True, 0.50)), 1),
}
MOVED = 0.5  # quantile at which the edges of the first fault stand from half on, if they move


class Conjunctions(NamedTuple):
    """Rows, labels, their names, and what decides each label."""

    X: np.ndarray
    Y: np.ndarray
    features: tuple[str, ...]
    labels: tuple[str, ...]
    truths: tuple[Edges, ...]


def five(seed: int) -> Conjunctions:
    """Return three labels that are conjunctions of thresholds on 5 of 100 features."""
    rng = np.random.default_rng(seed + 900)
    X = rng.normal(size=(ROWS, 100)) @ (np.eye(100) + 0.15 * rng.normal(size=(100, 100)) / 10)
    a, b, c, d, e = rng.choice(100, 5, replace=False).tolist()
    rules = [
        (Condition(a, True, 0.6), Condition(b, False, 0.35)),
        (Condition(b, True, 0.5), Condition(c, False, 0.45), Condition(d, True, 0.4)),
        (Condition(d, False, 0.4), Condition(e, True, 0.55), Condition(a, False, 0.6)),
    ]
    Y = np.column_stack([np.all([holds(X, condition) for condition in rule], axis=0) for rule in rules])
    truths = tuple({f"x{c.feature}": (edge(X, c),) for c in rule} for rule in rules)
    return Conjunctions(X, Y.astype(np.float64), numbered(100), ("a", "b", "c"), truths)


def plant(seed: int, *, moves: bool) -> Conjunctions:
    """Return three rare faults of five machines, drawn by `seed`; `moves`: the edges of the first move at half.

    Each of twelve sensors is silent in about 4 % of its rows, at random and in three gaps of 60 rows.
    """
    rng = np.random.default_rng(seed + 500)
    readings = sensor_readings(rng)
    machine = rng.choice(len(MACHINES), ROWS, p=list(MACHINES.values()))
    faults, truths = [], []
    for label, (conditions, excepted) in FAULTS.items():
        later = [c._replace(share=MOVED) if moves and label == "leak" else c for c in conditions]
        at_first, at_last = (np.all([holds(readings, c) for c in rule], axis=0) for rule in (conditions, later))
        faults.append(np.where(np.arange(ROWS) < HALF, at_first, at_last) & (machine != excepted))
        truths.append(edges_of(readings, [*conditions, *later]) | dict.fromkeys(MACHINES, ()))
    X = np.c_[silenced(readings, rng), np.eye(len(MACHINES))[machine]]
    Y = np.column_stack(faults).astype(np.float64)
    return Conjunctions(X, Y, (*SENSORS, *MACHINES), tuple(FAULTS), tuple(truths))


def edges_of(readings: np.ndarray, conditions: list[Condition]) -> dict[str, tuple[float, ...]]:
    """Return the different thresholds of `conditions` by the name of the sensor."""
    found: dict[str, tuple[float, ...]] = {}
    for condition in conditions:
        name, threshold = list(SENSORS)[condition.feature], edge(readings, condition)
        known = found.get(name, ())
        found[name] = known if threshold in known else (*known, threshold)
    return found


def sensor_readings(rng: np.random.Generator) -> np.ndarray:
    """Return readings of all sensors, which three hidden factors correlate."""
    means, deviations = np.array(list(SENSORS.values())).T
    loadings = rng.normal(size=(len(SENSORS), 3)) * 0.6
    scores = rng.normal(size=(ROWS, 3)) @ loadings.T + rng.normal(size=(ROWS, len(SENSORS)))
    scores /= np.sqrt((loadings**2).sum(axis=1) + 1)
    return np.asarray(means + deviations * scores)


def silenced(readings: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return `readings` with NaN where a sensor is silent."""
    heard = readings.copy()
    heard[rng.random(heard.shape) < 0.02] = np.nan
    for column in heard.T:
        for start in rng.integers(0, ROWS, 3):
            column[start : start + 60] = np.nan
    return heard


def edge(X: np.ndarray, condition: Condition) -> float:
    """Return the threshold of `condition` over the rows `X`."""
    return float(np.quantile(X[:, condition.feature], condition.share))


def holds(X: np.ndarray, condition: Condition) -> np.ndarray:
    """Return for every row of `X` whether `condition` holds."""
    values, threshold = X[:, condition.feature], edge(X, condition)
    return np.asarray(values > threshold if condition.above else values < threshold)


def numbered(number: int) -> tuple[str, ...]:
    """Return the names x0, x1, ... of `number` features."""
    return tuple(f"x{j}" for j in range(number))
