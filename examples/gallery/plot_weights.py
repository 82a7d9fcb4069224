"""
What each feature means for each label
======================================

The weights of the global model. Red raises a label, blue lowers it; with ``rule=`` the weights of one rule.
"""

import matplotlib.pyplot as plt

from evolabel import EvolvingFuzzyClassifier
from evolabel.explain import figures
from evolabel.streams import DriftingStream

X, Y = DriftingStream(n_features=8, n_labels=5, drift="none", seed=0).take(1500)
clf = EvolvingFuzzyClassifier().partial_fit(X, Y)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
figures.consequent_map(clf, ax=ax)
