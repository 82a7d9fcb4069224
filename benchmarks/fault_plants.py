"""Plants with rare faults, for `few_answers.py`: sensors with gaps, texts, faults, a limit and a sensor that move.

A plant has `SENSORS` sensors, which three hidden states of the process drive together, each in its own units; some of
them are skewed. Texts (machine, product, shift) are columns of 0 and 1. Of the values of sensors `GAPS` are missing,
after faults were decided by the true ones. Of the faults `OVERLOOKED` are not in the labels.

| kind    | faults                                                                                                   |
|---------|----------------------------------------------------------------------------------------------------------|
| `three` | three of 1.6 to 7 %: two sensors beyond limits, the last on some machines only                           |
| `other` | 3 %: either one sensor beyond a limit, or another on one machine; .5 %: two limits; 4 %: a sum beyond one |

At half of the stream a limit of the first fault moves, and the readings of a sensor of the second fault shift, while
its true values, which decide, do not.
"""

from typing import NamedTuple

import numpy as np

ROWS = 5000
SENSORS = 12
STATES = 3
SKEWED = 3  # sensors
TEXTS = (4, 3, 3)  # machines, products, shifts
GAPS = 0.02
OVERLOOKED = 0.02
KINDS = ("three", "other")
MOVES_BY = 0.6  # standard deviations by which a limit, and the readings of a sensor, move


class Plant(NamedTuple):
    """Rows X, (n, p), NaN for gaps, with faults Y, (n, K), of 0 and 1."""

    X: np.ndarray
    Y: np.ndarray


def make_plant(seed: int, kind: str = "three", rows: int = ROWS) -> Plant:
    """Return the plant of this `kind` that `seed` draws, with so many `rows`."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    Z = rng.normal(size=(rows, STATES)) @ rng.normal(size=(STATES, SENSORS)) * 0.5 + rng.normal(size=(rows, SENSORS))
    Z /= Z.std(axis=0)
    machine, product, shift = (rng.integers(n, size=rows) for n in TEXTS)
    late = np.arange(rows) >= rows // 2
    places = rng.permutation(SENSORS)
    faults = {"three": three_faults, "other": other_faults}[kind](Z, machine, late, places, rng)
    Y = np.column_stack(faults) & (rng.random((rows, len(faults))) >= OVERLOOKED)
    read = Z.copy()
    read[late, places[2]] += MOVES_BY * rng.choice([-1.0, 1.0])
    read[:, :SKEWED] = np.exp(read[:, :SKEWED])
    X = read * 10.0 ** rng.uniform(-2.0, 3.0, SENSORS) + rng.normal(scale=100.0, size=SENSORS)
    X[rng.random(X.shape) < GAPS] = np.nan
    texts = [np.eye(n)[column] for n, column in zip(TEXTS, (machine, product, shift), strict=True)]
    return Plant(np.hstack([X, *texts]), Y.astype(float))


def three_faults(
    Z: np.ndarray, machine: np.ndarray, late: np.ndarray, places: np.ndarray, rng: np.random.Generator
) -> list[np.ndarray]:
    """Return the faults of `three` by the true values Z; those `late` are decided by the limit that has moved."""
    shares = np.exp(rng.uniform(np.log(0.016), np.log(0.07), 3))
    first = both(Z[:, places[0]] - MOVES_BY * late * rng.choice([-1.0, 1.0]), Z[:, places[1]], shares[0], rng)
    second = both(Z[:, places[2]], Z[:, places[3]], shares[1], rng)
    return [first, second, both(Z[:, places[4]], Z[:, places[5]], shares[2], rng, machine < 2)]


def other_faults(
    Z: np.ndarray, machine: np.ndarray, late: np.ndarray, places: np.ndarray, rng: np.random.Generator
) -> list[np.ndarray]:
    """Return the faults of `other` by the true values Z; those `late` are decided by the limit that has moved."""
    moved = Z[:, places[0]] - MOVES_BY * late * rng.choice([-1.0, 1.0])
    either = beyond(moved, 0.02) | beyond(np.where(machine == 0, Z[:, places[1]], -np.inf), 0.01)
    return [either, both(Z[:, places[2]], Z[:, places[3]], 0.005, rng), beyond(Z[:, places[4:7]].sum(axis=1), 0.04)]


def both(
    a: np.ndarray, b: np.ndarray, share: float, rng: np.random.Generator, where: np.ndarray | None = None
) -> np.ndarray:
    """Return the rows, a `share`, in which `a` and `b` are beyond limits; `where`: in these rows alone."""
    a, b = a * rng.choice([-1.0, 1.0]), b * rng.choice([-1.0, 1.0])
    inside = beyond(a, share ** rng.uniform(0.3, 0.6))
    return beyond(np.where(inside if where is None else inside & where, b, -np.inf), share)


def beyond(values: np.ndarray, share: float) -> np.ndarray:
    """Return the rows, a `share`, of the largest `values`; not those of minus infinity."""
    limit = np.sort(values)[-max(1, round(share * len(values)))]
    return (values >= limit) & np.isfinite(values)
