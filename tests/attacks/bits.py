"""Outputs of many models, as hashes: what must be the same bits in every process of one machine.

python tests/attacks/bits.py [forward | backward]      # prints one JSON object, name -> hash
"""

import hashlib
import json
import sys

import numpy as np
from profiles import classifier_of

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.streams import DriftingStream

PROFILES = {
    "default": EvolvingFuzzyClassifier,
    "pruned": lambda: EvolvingFuzzyClassifier(prune_after=60, max_rules=8),
    "touching": lambda: classifier_of(merging="touching", max_rules=12, ridge=10.0),
    "rotated": lambda: classifier_of(covariance="full", max_rules=6),
    "paper": lambda: EvolvingFuzzyClassifier.paper(ridge="press", local_ridge=0.5, vigilance=0.6),
    "condition": lambda: EvolvingFuzzyClassifier(ridge="condition", max_rules=3),
    "coupled": lambda: classifier_of(alpha=1e-3, beta=1e-2, max_rules=6),
}
SHAPES = [(3, 2), (9, 4), (20, 6), (48, 14), (90, 9)]
WIDE = [("condition", 128, 2), ("default", 260, 3), ("paper", 128, 2), ("rotated", 128, 3)]  # BLAS uses threads here
ROWS = [1, 15, 64, 200]


def stream(p, K):
    """Samples of which some features and labels are missing."""
    rng = np.random.default_rng(p)
    X, Y = DriftingStream(n_features=p, n_labels=K, drift_every=150, seed=p).take(360)
    X[200:, 0][rng.random(160) < 0.1] = np.nan
    Y[200:][rng.random((160, K)) < 0.1] = np.nan
    return X, Y


def outputs(profile, p, K):
    """Names and arrays of all that one model computes."""
    X, Y = stream(p, K)
    clf = PROFILES[profile]().fit(X[:160], Y[:160])
    yield "tested", clf.test_then_train(X[160:320], Y[160:320])
    for rows in ROWS:
        yield f"answers of {rows}", clf.decision_function(np.resize(X, (rows, p)))
    yield "rules", np.concatenate([rule.weights.ravel() for rule in clf.rules_])
    yield "memberships", clf.memberships(X)
    yield "state", np.concatenate([array.ravel() for array in clf.inner.any_model.rules.arrays]).astype(np.float64)
    other = clf.sibling().partial_fit(X[320:], Y[320:])
    yield "merged", clf.merge(other).decision_function(X)
    for per in ("samples", "labels"):
        learner = ActiveLearner(clf, 0.3, per)
        for x, y in zip(X[300:], Y[300:], strict=True):
            query = learner.query(x)
            learner.update(query, y if query.asked else None)
        yield f"asked {per}", np.concatenate([clf.decision_function(X).ravel(), [learner.bucket.asked]])


def hashes(names):
    """Hash of every output of the models with these names."""
    found = {}
    for profile, p, K in names:
        for what, array in outputs(profile, p, K):
            found[f"{profile} {p}x{K} {what}"] = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    return found


MODELS = [(profile, p, K) for profile in PROFILES for p, K in SHAPES] + WIDE

if __name__ == "__main__":
    sys.stdout.write(json.dumps(hashes(MODELS[::-1] if sys.argv[1:] == ["backward"] else MODELS)))
