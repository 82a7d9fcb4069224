"""
Where the rules are
===================

A rule is a region of the feature space. The map shows the regions in the units of two features, and the samples with
and without one label.
"""

import matplotlib.pyplot as plt

from evolabel import EvolvingFuzzyClassifier
from evolabel.explain import figures
from evolabel.streams import DriftingStream

X, Y = DriftingStream(n_features=4, n_labels=3, drift="none", seed=1).take(1500)
clf = EvolvingFuzzyClassifier(max_rules=8).partial_fit(X, Y)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
figures.rule_map(clf, ("x0", "x1"), X=X[-400:], Y=Y[-400:], label="label1", ax=ax)
