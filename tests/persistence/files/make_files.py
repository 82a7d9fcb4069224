"""Model files of the evolabel on PYTHONPATH, with its answers: `python make_files.py NAME` (see README.md)."""

import gzip
import json
import sys
import warnings
from pathlib import Path

import numpy as np

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner

HERE = Path(__file__).parent


def stream(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return `rows` of two features, and two labels that follow from them."""
    X = np.random.default_rng(0).integers(-20, 21, size=(rows, 2)) / 10.0
    return X, np.stack([X[:, 0] > 0.0, X[:, 1] > 0.5], axis=1).astype(float)


def fitted() -> EvolvingFuzzyClassifier:
    """Return a small classifier fitted to the first rows of the stream."""
    X, Y = stream(40)
    return EvolvingFuzzyClassifier(max_rules=2).fit(X, Y).name_columns(["pressure", "flow"], ["leak", "wear"])


def classifier() -> EvolvingFuzzyClassifier:
    """Return a classifier that has learned 100 rows."""
    X, Y = stream(100)
    return fitted().partial_fit(X[40:], Y[40:])


def warming() -> EvolvingFuzzyClassifier:
    """Return a classifier that still collects samples."""
    return EvolvingFuzzyClassifier(max_rules=2).partial_fit(*stream(30))


def learner() -> ActiveLearner:
    """Return a learner with answers, refusals and pending questions."""
    X, Y = stream(100)
    made = ActiveLearner(fitted(), budget=0.5)
    for i in range(40, 100):
        query = made.query(X[i])
        if query.asked and i % 5 == 0:
            made.mark_pending(query)
        else:
            made.update(query, Y[i] if query.asked and i % 3 else None)
    return made


def regions() -> EvolvingFuzzyClassifier:
    """Return a classifier with three rules of a person, which older versions made regions of the rule base.

    The text of "lost" names a column that has another name now, and the last edit can be undone.
    """
    X, Y = stream(100)
    X = np.column_stack([X, X[::-1, 0]])
    made = EvolvingFuzzyClassifier(max_rules=12, threshold_rules=False).fit(X[:40], Y[:40])
    book = made.name_columns(["pressure", "flow", "temp"], ["leak", "wear"]).rulebook
    book.add('IF pressure ABOVE 1 THEN leak 90%, wear 30% WITH CONFIDENCE 0.8 WEIGHT 30 CALLED "high"')
    book.lock("high")
    book.add('IF temp ABOVE 1 THEN leak 70%, wear 70% CALLED "lost"')
    made.name_columns(["pressure", "flow", "heat"], ["leak", "wear"]).partial_fit(X[40:], Y[40:])
    book.add("IF flow BELOW -1 THEN leak 20%, wear UNLIKELY")
    return made


def other(**parameters: object) -> EvolvingFuzzyClassifier:
    """Return a classifier with other `parameters`, which schema 2 had."""
    X, Y = stream(100)
    return EvolvingFuzzyClassifier(max_rules=2, **parameters).fit(X[:40], Y[:40]).partial_fit(X[40:], Y[40:])


def paper() -> EvolvingFuzzyClassifier:
    """Return a classifier with the formulas of the paper."""
    X, Y = stream(100)
    return EvolvingFuzzyClassifier.paper(max_rules=2).fit(X[:40], Y[:40]).partial_fit(X[40:], Y[40:])


def paper_learner() -> ActiveLearner:
    """Return a learner with the formulas of the paper."""
    X, Y = stream(140)
    made = ActiveLearner(paper(), budget=0.5)
    for i in range(100, 140):
        query = made.query(X[i])
        made.update(query, Y[i] if query.asked else None)
    return made


MODELS = {
    "classifier": classifier,
    "warming": warming,
    "learner": learner,
    "regions": regions,
    "paper": paper,
    "paper-learner": paper_learner,
    "coupled": lambda: other(beta=1.0, follow_drift=False, threshold_rules=False),
    "knots": lambda: other(n_knots=8),
    "few-knots": lambda: EvolvingFuzzyClassifier(n_knots=8).partial_fit(*stream(30)),
    "spread": lambda: other(prior_variance=0.5),
    "rotated": lambda: other(covariance="full"),
}
OF_EVERY_SCHEMA = ("classifier", "warming", "learner")


def main(name: str, *kinds: str) -> None:
    """Write the files of these `kinds` of `MODELS`, compressed, with the probabilities and outputs that each gives."""
    answers = {}
    for kind in kinds or OF_EVERY_SCHEMA:
        model, file = MODELS[kind](), HERE / f"{name}-{kind}"
        X = stream(120)[0][100:, [0, 1, 0] if kind == "regions" else [0, 1]]
        model.save(file)
        file.with_suffix(".gz").write_bytes(gzip.compress(file.read_bytes(), 9, mtime=0))
        file.unlink()
        answers[kind] = {"outputs": model.decision_function(X).tolist()}
        if hasattr(model, "predict_proba"):
            answers[kind]["probabilities"] = model.predict_proba(X).tolist()
    (HERE / f"{name}.json").write_text(json.dumps(answers) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
