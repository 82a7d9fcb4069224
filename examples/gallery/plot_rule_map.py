"""
Where the rules are
===================

A rule is a region of the feature space. The map shows the regions over two features, and the samples that were learned.
"""

from evolabel import EvolvingFuzzyClassifier
from evolabel.explain import figures
from evolabel.streams import DriftingStream

X, Y = DriftingStream(n_features=4, n_labels=3, drift="none", seed=1).take(1500)
clf = EvolvingFuzzyClassifier(max_rules=8).partial_fit(X, Y)
figures.rule_map(clf)
