"""
Membership functions
====================

How much each rule answers along one feature. The bands are the words that rules are printed in: very low, low, medium,
high, very high, each a fifth of the stream.
"""

import matplotlib.pyplot as plt

from evolabel import EvolvingFuzzyClassifier
from evolabel.explain import figures
from evolabel.streams import DriftingStream

X, Y = DriftingStream(n_features=4, n_labels=3, drift="none", seed=1).take(1500)
clf = EvolvingFuzzyClassifier(max_rules=8).partial_fit(X, Y)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
figures.membership_functions(clf, ax=ax)
print(clf.rules_[0])
