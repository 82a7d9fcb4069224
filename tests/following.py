"""Streams that drift or stay, and models that follow them, for the tests of the members."""

import numpy as np

from evolabel import EvolvingFuzzyClassifier
from evolabel.core.options import Options
from evolabel.core.rows import Batch
from evolabel.model.stream_model import StreamModel

ALONE: dict[str, object] = {"max_rules": 8, "threshold_rules": False, "memory": None}  # rules and members only

MAJOR = ("drift", "recovered", "settled", "renewed", "sensor moved", "inputs moved")


def bent_stream(rows, seed=0, p=4, K=3, noise=0.02):
    """Rows with labels that follow the features, the first along a bend; a few labels are wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, p)) @ (np.eye(p) + 0.3 * rng.normal(size=(p, p)))
    S = X / X.std(axis=0)
    T = S @ rng.normal(size=(p, K))
    T[:, 0] += 1.6 * (np.abs(S[:, 1]) - 0.8)
    Y = (T > 0.0).astype(float)
    return X, np.abs(Y - (rng.random(Y.shape) < noise))


def flipped(rows, at, seed=0, label=0, **sizes):
    """A stream whose `label` has the opposite meaning from the row `at` on."""
    X, Y = bent_stream(rows, seed, **sizes)
    Y[at:, label] = 1.0 - Y[at:, label]
    return X, Y


def gappy(X, Y, seed=0, features=0.05, labels=0.1):
    """Copies with missing features and labels, and some rows without any label."""
    rng = np.random.default_rng(seed)
    X, Y = X.copy(), Y.copy()
    X[rng.random(X.shape) < features] = np.nan
    X[np.isnan(X).all(axis=1)] = 0.0
    Y[rng.random(Y.shape) < labels] = np.nan
    Y[::31] = np.nan
    return X, Y


def model_of(X, Y, batch=80, **changes):
    """A model past its batch phase, from the first rows of a stream."""
    model = StreamModel(X.shape[1], Y.shape[1], Options(**{**ALONE, **changes}).check())
    model.fit(Batch(X[:batch].copy(), Y[:batch].copy()))
    return model


def classifier_of(X, Y, batch=80, **changes):
    """A classifier past its batch phase, from the first rows of a stream."""
    return EvolvingFuzzyClassifier(**{**ALONE, **changes}).fit(X[:batch], Y[:batch])


def learned(X, Y, batch=80, **changes):
    """A model that has learned the whole stream."""
    model = model_of(X, Y, batch, **changes)
    model.learn(Batch(X[batch:], Y[batch:]))
    return model


def state_of(model):
    """The bytes of all arrays of a trained model."""
    rules = model.trained()
    arrays = {**rules.arrays._asdict(), **{f"members.{name}": a for name, a in rules.beside.arrays._asdict().items()}}
    used = rules.n_rules + 1
    shared = ("counters", "winner_stats")
    found = {
        name: array.tobytes() if name in shared or name.startswith("members.") else array[:used].tobytes()
        for name, array in arrays.items()
    }
    return {**found, "answers": model.n_answers.tobytes(), "events": list(rules.events)}


def shifts(model):
    """Kinds, labels, features and samples of what has happened to the stream."""
    return [(e.kind, e.label, e.feature, e.sample) for e in model.trained().events if e.kind in MAJOR]


def in_runs(X, Y, run, seed=0, label=0):
    """The rows in an order in which one answer of `label` follows the other in runs of geometric length, mean `run`."""
    rng, order, value = np.random.default_rng(seed), [], 0
    left = {v: rng.permutation(np.flatnonzero(Y[:, label] == v)) for v in (0, 1)}
    while len(left[value]):
        n = int(rng.geometric(1.0 / run))
        order.append(left[value][:n])
        left[value] = left[value][n:]
        value = 1 - value
    order = np.concatenate(order)
    return X[order], Y[order]
