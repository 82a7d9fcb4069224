"""
The life of rules
=================

When rules were created, merged and removed along a stream whose regions jump every 800 samples.
"""

import matplotlib.pyplot as plt

from evolabel import EvolvingFuzzyClassifier
from evolabel.explain import figures
from evolabel.streams import DriftingStream

X, Y = DriftingStream(n_features=6, n_labels=4, drift="abrupt", drift_every=800, seed=2).take(3000)
clf = EvolvingFuzzyClassifier(max_rules=12, novel_z=4.0, prune_after=400, threshold_rules=False).partial_fit(X, Y)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
figures.life_lines(clf, ax=ax)
