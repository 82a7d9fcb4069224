"""
Good questions against random ones
==================================

The same number of answered labels, chosen by the learner or drawn at random.
"""

import matplotlib.pyplot as plt
import numpy as np

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import BudgetedLearner, RandomSelection
from evolabel.streams import DriftingStream

X, Y = DriftingStream(n_features=6, n_labels=4, drift="none", seed=4).take(2500)
learners = {
    "all labels": EvolvingFuzzyClassifier(),
    "5 %, chosen": BudgetedLearner(budget=0.05, per="labels"),
    "5 %, random": RandomSelection(budget=0.05, per="labels"),
}
fig, ax = plt.subplots(figsize=(7, 4))
for name, learner in learners.items():
    learner.fit(X[:100], Y[:100])
    right = ((learner.test_then_train(X[100:], Y[100:]) >= 0.5) == Y[100:]).mean(axis=1)
    ax.plot(np.convolve(right, np.ones(300) / 300, mode="valid"), label=name)
ax.set(xlabel="samples seen", ylabel="share of right labels, last 300 samples")
ax.legend()
