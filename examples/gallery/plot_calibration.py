"""
Are the probabilities right?
============================

Among all predictions of about 0.3, about 30 % should be true. Each point is a tenth of the predictions of the stream,
made before the row was learned.
"""

import matplotlib.pyplot as plt
import numpy as np

from evolabel import EvolvingFuzzyClassifier
from evolabel.streams import DriftingStream

X, Y = DriftingStream(n_labels=4, drift="none", noise=0.1, seed=2).take(4000)
answers = EvolvingFuzzyClassifier().answer_then_train(X, Y)
p, y = answers.probabilities[500:].ravel(), Y[500:].ravel()

fig, ax = plt.subplots(figsize=(4.5, 4.5))
ax.plot([0, 1], [0, 1], color="grey", linewidth=1)
for part in np.array_split(np.argsort(p), 10):
    ax.plot(p[part].mean(), y[part].mean(), "o", color="#2f6fb4")
ax.set(xlabel="mean probability of a tenth", ylabel="share that was true", aspect="equal")
