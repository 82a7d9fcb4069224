"""
The threshold tree of a label
=============================

Some labels follow sharp edges: this leak happens where pressure is low and flow is high. The classifier finds the edges
on the stream, and the tree shows its questions with their uncertainty.
"""

import matplotlib.pyplot as plt
import numpy as np

from evolabel import EvolvingFuzzyClassifier
from evolabel.explain import figures

rng = np.random.default_rng(3)
X = rng.normal([6, 3, 50, 10], [1.5, 1, 8, 2], (4000, 4)).round(2)
leak = (X[:, 0] < 5.2) & (X[:, 1] > 2.8)
wear = X[:, 2] > 58
Y = np.column_stack([leak, wear]).astype(float)

clf = EvolvingFuzzyClassifier().partial_fit(X, Y)
clf.name_columns(["pressure", "flow", "temperature", "noise"], ["leak", "wear"])
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
figures.threshold_tree(clf, "leak", ax=ax)
