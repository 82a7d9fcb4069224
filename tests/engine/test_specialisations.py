"""Every kernel is compiled once for each profile, and profiles do not disturb each other."""

import hashlib
import json
import subprocess
import sys

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.streams import DriftingStream

PROFILES = {"default": EvolvingFuzzyClassifier, "paper": EvolvingFuzzyClassifier.paper}

COMPILED = """
import importlib, json, pkgutil, sys
sys.path.insert(0, {tests!r})
from test_specialisations import walk
outputs = walk({profile!r})
import evolabel
found = {{}}
for module in pkgutil.walk_packages(evolabel.__path__, "evolabel."):
    if ".loops." not in module.name and ".engine." not in module.name:
        continue
    for name, kernel in vars(importlib.import_module(module.name)).items():
        if hasattr(kernel, "overloads") and kernel.__module__ == module.name:
            found[module.name + "." + name] = [str(signature) for signature in kernel.overloads]
print(json.dumps({{"kernels": found, "outputs": outputs}}))
"""


def walk(profile):
    """A hash of the outputs of what a user does first: fit, predict, learn rows one by one and with gaps, query."""
    X, Y = DriftingStream(n_features=4, n_labels=3, seed=2).take(260)
    clf = PROFILES[profile]().fit(X[:60], Y[:60])
    found = [clf.decision_function(X[:rows]) for rows in (1, 20, 100)]
    for i in range(60, 80):
        clf.partial_fit(X[i : i + 1], Y[i : i + 1])
    gaps, missing = X[80:120].copy(), Y[80:120].copy()
    gaps[::3, 1], missing[::2, 0] = np.nan, np.nan
    found.append(clf.test_then_train(gaps, missing))
    learner = ActiveLearner(clf, 0.5, per="labels")
    for x, y in zip(X[120:160], Y[120:160], strict=True):
        query = learner.query(x)
        learner.update(query, y if query.asked else None)
    found += [clf.decision_function(gaps), learner.classifier.decision_function(X)]
    return hashlib.sha256(b"".join(outputs.tobytes() for outputs in found)).hexdigest()


@pytest.mark.compiled
@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_every_kernel_has_one_signature(profile, request):
    code = COMPILED.format(tests=str(request.config.rootpath / "tests" / "engine"), profile=profile)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    alone = json.loads(done.stdout)
    assert not {name: found for name, found in alone["kernels"].items() if len(found) > 1}
    for mixed in ("default", "paper", profile):
        outputs = walk(mixed)
    assert outputs == alone["outputs"]


def test_profiles_alternate():
    first = {profile: walk(profile) for profile in PROFILES}
    assert {profile: walk(profile) for profile in PROFILES} == first
