"""
Members take over after a drift
===============================

Rules from all rows, rules from recent rows and a linear part answer together. One of two labels becomes its opposite at
row 1,500: the fast member takes over, then the rules are renewed from it.
"""

import matplotlib.pyplot as plt

from evolabel import EvolvingFuzzyClassifier
from evolabel.explain import figures
from evolabel.streams import DriftingStream

X, Y = DriftingStream(n_features=6, n_labels=2, drift="none", seed=5).take(3500)
Y[1500:, 1] = 1 - Y[1500:, 1]
trace = figures.follow_weights(EvolvingFuzzyClassifier(), X, Y, every=20)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
figures.member_weights(trace, ax=ax)
ax.set_xlim(1200, 2200)
