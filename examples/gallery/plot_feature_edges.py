"""
Edges among the values of a feature
===================================

Values of the pressure in recent rows with and without the label, and the edge that separates them; the true edge is
5.2.
"""

import matplotlib.pyplot as plt
import numpy as np

from evolabel import EvolvingFuzzyClassifier
from evolabel.explain import figures

rng = np.random.default_rng(3)
X = rng.normal([6, 3, 50, 10], [1.5, 1, 8, 2], (4000, 4)).round(2)
Y = np.column_stack([(X[:, 0] < 5.2) & (X[:, 1] > 2.8), X[:, 2] > 58]).astype(float)

clf = EvolvingFuzzyClassifier().partial_fit(X, Y)
clf.name_columns(["pressure", "flow", "temperature", "noise"], ["leak", "wear"])
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
figures.feature_edges(clf, "pressure", "leak", ax=ax)
