"""
Sets that hold the truth as often as asked
==========================================

``predict_set`` returns for each label whether it may be off and whether it may be on. A set of both says: not certain.
More coverage means more uncertain labels, and the share that holds the truth is the one that was asked for.
"""

import matplotlib.pyplot as plt
import numpy as np

from evolabel import EvolvingFuzzyClassifier
from evolabel.evaluate import set_coverage
from evolabel.streams import DriftingStream

X, Y = DriftingStream(n_labels=4, drift="none", noise=0.1, seed=2).take(3000)
clf = EvolvingFuzzyClassifier().partial_fit(X[:2000], Y[:2000])
levels = np.array([0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.99])
sets = [clf.predict_set(X[2000:], coverage=level) for level in levels]

fig, ax = plt.subplots(figsize=(6, 4))
ax.plot(levels, levels, color="grey", linewidth=1, label="asked for")
ax.plot(levels, [set_coverage(Y[2000:], s) for s in sets], "o-", label="sets that hold the truth")
ax.plot(levels, [s.all(axis=2).mean() for s in sets], "s--", label="labels left open")
ax.set(xlabel="coverage asked for", ylabel="share", ylim=(0, 1.02))
ax.legend()
