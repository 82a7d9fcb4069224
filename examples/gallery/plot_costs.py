"""
When a miss costs more than a false alarm
=========================================

``class_weight`` moves decisions and nothing else. A missed fault that costs 20 false alarms is predicted earlier.
"""

import matplotlib.pyplot as plt
import numpy as np

from evolabel import EvolvingFuzzyClassifier
from evolabel.streams import DriftingStream

X, Y = DriftingStream(n_labels=2, drift="none", noise=0.02, seed=6).take(2500)
costs = [1, 2, 5, 10, 20, 50]
missed, alarms = [], []
for cost in costs:
    clf = EvolvingFuzzyClassifier(class_weight={"label0": cost}).partial_fit(X[:1500], Y[:1500])
    predicted, true = clf.predict(X[1500:])[:, 0] == 1, Y[1500:, 0] == 1
    missed.append(np.mean(~predicted[true]))
    alarms.append(np.mean(predicted[~true]))

fig, ax = plt.subplots(figsize=(6, 4))
ax.plot(costs, missed, "o-", label="faults missed")
ax.plot(costs, alarms, "s-", label="false alarms")
ax.set(xscale="log", xlabel="cost of a miss in false alarms", ylabel="share", xticks=costs, xticklabels=costs)
ax.legend()
