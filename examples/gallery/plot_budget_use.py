"""
A budget that is never exceeded
===============================

The learner asks about at most 15 % of the samples seen so far, at every moment.
"""

import matplotlib.pyplot as plt

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.explain import figures
from evolabel.streams import DriftingStream

X, Y = DriftingStream(n_features=6, n_labels=4, drift_every=800, seed=2).take(2000)
learner = ActiveLearner(EvolvingFuzzyClassifier().fit(X[:200], Y[:200]), budget=0.15)
asked = []
for x, y in zip(X[200:], Y[200:], strict=True):
    query = learner.query(x)
    learner.update(query, y if query.asked else None)
    asked.append(query.asked)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
figures.budget_use(asked, 0.15, ax=ax)
