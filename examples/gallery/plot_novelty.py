"""
Samples unlike all others
=========================

The distance of a sample to the nearest rule, in units of the distance from which it counts as novel.
"""

import matplotlib.pyplot as plt

from evolabel import EvolvingFuzzyClassifier
from evolabel.explain import figures
from evolabel.streams import DriftingStream

X, Y = DriftingStream(n_features=4, n_labels=3, drift="none", seed=1).take(1500)
clf = EvolvingFuzzyClassifier(max_rules=8).partial_fit(X, Y)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
figures.novelty_map(clf, ax=ax)
