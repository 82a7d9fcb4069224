"""
Saving, merging, continuing
===========================

Rules are sums of statistics. So a model can stop and go on without loss, and models of two sites can be added up.
"""

# %%
# Stop and go on
# --------------

from pathlib import Path
from tempfile import mkdtemp

import numpy as np

from evolabel import EvolvingFuzzyClassifier
from evolabel.streams import DriftingStream

X, Y = DriftingStream(n_features=6, n_labels=3, drift="none", seed=1).take(3000)
file = Path(mkdtemp()) / "model.safetensors"

clf = EvolvingFuzzyClassifier().partial_fit(X[:1000], Y[:1000])
clf.save(file)
clf.partial_fit(X[1000:2000], Y[1000:2000])

again = EvolvingFuzzyClassifier.load(file).partial_fit(X[1000:2000], Y[1000:2000])
print("same bits:", np.array_equal(clf.decision_function(X), again.decision_function(X)))
print(f"{file.stat().st_size / 1e6:.1f} MB")

# %%
# Two sites
# ---------
# ``sibling`` makes an empty model with the same scaling and ridges. Each site learns its own rows, and one takes in the
# other.

north = EvolvingFuzzyClassifier().fit(X[:200], Y[:200])
south = north.sibling()
north.partial_fit(X[200:1000], Y[200:1000])
south.partial_fit(X[1000:2000], Y[1000:2000])


def accuracy(model):
    return ((model.decision_function(X[2000:]) >= 0.5) == Y[2000:]).mean()


print(f"north {accuracy(north):.3f}, south {accuracy(south):.3f}")
north.merge(south)
print(f"merged {accuracy(north):.3f}, {north.n_samples_seen_} samples, {north.n_rules_} rules")

# %%
# Where the rules came from
# -------------------------

import matplotlib.pyplot as plt

from evolabel.explain import figures

_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
figures.life_lines(north, ax=ax)
