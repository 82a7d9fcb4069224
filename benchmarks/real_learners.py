"""Learners of `real_streams.py`: each predicts every row before it learns it, and answers for rows that were left out.

A learner takes a `Task` and returns `Outputs`. Targets are always a matrix of 0 and 1 with a column per class or label,
(n, K). Learners that cannot take a missing value get the mean of the feature over the rows so far. Learners that cannot
take several labels are one binary learner per label.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from drift_peers import LEARNERS

from evolabel import EvolvingFuzzyClassifier

WINDOW, REFITTED_EVERY = 3_000, 500
OURS: dict[str, dict[str, Any]] = {
    "evolabel": {},
    "without last answers": {"memory": None},
    "without following": {"memory": None, "follow_drift": False},
    "rules alone": {"memory": None, "follow_drift": False, "threshold_rules": False},
}
RIVALS = ("forest", "bagging", "logistic", "boosting")
SIMPLE = ("no change", "majority")


class Task(NamedTuple):
    """Rows X to learn in their order with targets Y, (n, K); rows `asked` at the end; classes if `one_label`."""

    X: np.ndarray
    Y: np.ndarray
    asked: np.ndarray
    one_label: bool


class Outputs(NamedTuple):
    """Outputs for each row before it was learned, (n, K), and for the rows asked at the end; events of either kind."""

    before: np.ndarray
    after: np.ndarray
    drifts: int | None = None
    sensors: int | None = None


def learn(name: str, task: Task) -> Outputs:
    """Return the outputs of the learner `name` for `task`."""
    if name in OURS:
        return ours(OURS[name], task)
    if name in SIMPLE:
        return {"no change": no_change, "majority": majority}[name](task)
    return boosting(task) if name == "boosting" else of_river(LEARNERS[name], task)


def ours(options: dict[str, Any], task: Task) -> Outputs:
    """Return the outputs of a classifier of these `options`; a plain `predict_proba` answers the rows asked."""
    classifier = EvolvingFuzzyClassifier(**options)
    classifier.partial_fit(task.X[:1], targets(task, slice(1)), **known_targets(task))
    before = np.vstack([np.full((1, task.Y.shape[1]), 0.5), classifier.test_then_train(task.X[1:], targets(task)[1:])])
    kinds = [event.kind for event in classifier.events_]
    after = np.asarray(classifier.predict_proba(task.asked))
    return Outputs(before, after, kinds.count("drift"), kinds.count("sensor moved"))


def targets(task: Task, rows: slice = slice(None)) -> np.ndarray:
    """Return the targets of `rows` as a classifier takes them: classes where each row has one label."""
    return task.Y[rows].argmax(axis=1) if task.one_label else task.Y[rows]


def known_targets(task: Task) -> dict[str, Any]:
    """Return the classes for a first `partial_fit`, so that every column of the outputs is there from the first row."""
    return {"classes": np.arange(task.Y.shape[1])} if task.one_label else {}


def no_change(task: Task) -> Outputs:
    """Return the last targets as outputs for the next row."""
    return Outputs(
        np.vstack([np.full((1, task.Y.shape[1]), 0.5), task.Y[:-1]]), np.tile(task.Y[-1], (len(task.asked), 1))
    )


def majority(task: Task) -> Outputs:
    """Return the shares of the targets so far."""
    n = np.arange(len(task.Y))[:, None]
    before = (np.cumsum(task.Y, axis=0) - task.Y + 0.5) / (n + 1.0)
    return Outputs(before, np.tile(task.Y.mean(axis=0), (len(task.asked), 1)))


def filled(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of `task` to learn, and those asked, with each missing value at the mean of the rows before."""
    known = np.isfinite(task.X)
    n = np.cumsum(known, axis=0)
    means = np.divide(np.cumsum(np.where(known, task.X, 0.0), axis=0), n, out=np.zeros(task.X.shape), where=n > 0)
    return np.where(known, task.X, means), np.where(np.isfinite(task.asked), task.asked, means[-1])


def of_river(make: Callable[[], Any], task: Task) -> Outputs:
    """Return the outputs of learners of river: one of all classes, or one per label."""
    X, asked = filled(task)
    K = task.Y.shape[1]
    states = [task.Y.argmax(axis=1)] if task.one_label else list(task.Y.T.astype(int))
    learners = [make() for _ in states]

    def scores(x: list[float]) -> np.ndarray:
        parts = [learner.predict_proba_one(dict(enumerate(x))) for learner in learners]
        if not task.one_label:
            return np.array([part.get(1, 0.0) for part in parts])
        found = np.array([parts[0].get(label, 0.0) for label in range(K)])
        return found / found.sum() if found.sum() > 0 else np.full(K, 1.0 / K)

    before = np.empty(task.Y.shape)
    for row, x in enumerate(X.tolist()):
        before[row] = scores(x)
        for learner, state in zip(learners, states, strict=True):
            learner.learn_one(dict(enumerate(x)), int(state[row]))
    return Outputs(before, np.array([scores(x) for x in asked.tolist()]))


def boosting(task: Task) -> Outputs:
    """Return the outputs of boosting, fitted to the last `WINDOW` rows after every `REFITTED_EVERY`."""
    before = np.empty(task.Y.shape)
    for start in range(0, len(task.X), REFITTED_EVERY):
        rows = slice(start, min(start + REFITTED_EVERY, len(task.X)))
        before[rows] = boosted(task, start, task.X[rows])
    return Outputs(before, boosted(task, len(task.X), task.asked))


def boosted(task: Task, end: int, asked: np.ndarray) -> np.ndarray:
    """Return the outputs for `asked` of boosting that was fitted to the `WINDOW` rows before `end`, (m, K)."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    window = slice(max(0, end - WINDOW), end)
    found = np.tile(task.Y[window].mean(axis=0) if end else np.full(task.Y.shape[1], 0.5), (len(asked), 1))
    if task.one_label:
        states = task.Y[window].argmax(axis=1)
        if len(np.unique(states)) > 1:
            fitted = HistGradientBoostingClassifier(random_state=0).fit(task.X[window], states)
            found = np.zeros(found.shape)
            found[:, fitted.classes_] = fitted.predict_proba(asked)
        return found
    for label in range(task.Y.shape[1]):
        if len(np.unique(task.Y[window, label])) > 1:
            fitted = HistGradientBoostingClassifier(random_state=0).fit(task.X[window], task.Y[window, label])
            found[:, label] = fitted.predict_proba(asked)[:, 1]
    return found
