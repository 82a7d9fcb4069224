"""
When a label changes its meaning
================================

The events of the stream, drawn on the error of one label. The label becomes its opposite at row 1,500; the alarm comes
some rows later, and "recovered" when the label is predicted as well as before.
"""

import matplotlib.pyplot as plt
import numpy as np

from evolabel import EvolvingFuzzyClassifier
from evolabel.streams import DriftingStream

X, Y = DriftingStream(n_features=6, n_labels=2, drift="none", seed=5).take(3500)
Y[1500:, 1] = 1 - Y[1500:, 1]
clf = EvolvingFuzzyClassifier()
outputs = clf.test_then_train(X, Y)

wrong = (outputs[:, 1] >= 0.5) != Y[:, 1]
error = np.convolve(wrong, np.ones(100) / 100, mode="full")[: len(wrong)]
fig, ax = plt.subplots(figsize=(8, 3.5))
ax.plot(error, color="#2f6fb4")
colours = {"drift": "#c0392b", "renewed": "#e08a2e", "recovered": "#2e8b57"}
for event in clf.events_:
    if event.kind in colours:
        print(event)
        ax.axvline(event.sample, linestyle="--", color=colours[event.kind], label=event.kind)
ax.set(xlabel="row", ylabel="error of label1, last 100 rows", ylim=(0, 0.7), xlim=(1000, 2500))
ax.legend()
