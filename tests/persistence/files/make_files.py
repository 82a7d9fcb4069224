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


MODELS = {"classifier": classifier, "warming": warming, "learner": learner}


def main(name: str) -> None:
    """Write the files of each of `MODELS`, compressed, and the probabilities and the outputs that each gives."""
    answers, X = {}, stream(120)[0][100:]
    for kind, make in MODELS.items():
        model, file = make(), HERE / f"{name}-{kind}"
        model.save(file)
        file.with_suffix(".gz").write_bytes(gzip.compress(file.read_bytes(), 9, mtime=0))
        file.unlink()
        answers[kind] = {"outputs": model.decision_function(X).tolist()}
        if hasattr(model, "predict_proba"):
            answers[kind]["probabilities"] = model.predict_proba(X).tolist()
    (HERE / f"{name}.json").write_text(json.dumps(answers) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1])
