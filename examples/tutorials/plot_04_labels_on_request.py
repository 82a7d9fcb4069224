"""
Labels on request, with a budget
================================

Labels cost a person's time. The learner reads the whole stream and asks about few labels of few samples.
"""

# %%
# A question
# ----------
# ``query`` changes nothing. It returns the labels that are worth a question, if any, and the reasons. Only the labels
# asked for are answered; the others stay unknown (NaN).

import numpy as np

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner, BudgetedLearner, RandomSelection, SimulatedAnnotator
from evolabel.streams import DriftingStream

X, Y = DriftingStream(n_features=6, n_labels=4, drift="none", seed=4).take(3000)
clf = EvolvingFuzzyClassifier().fit(X[:100], Y[:100])
learner = ActiveLearner(clf, budget=0.1, per="labels")

shown = False
for x, y in zip(X[100:1000], Y[100:1000], strict=True):
    query = learner.query(x)
    if query.asked and not shown:
        print(query)
        shown = True
    learner.update(query, np.where(query.labels, y, np.nan) if query.asked else None)

# %%
# The account
# -----------
# At every moment at most a tenth of the labels was asked for.

print(learner.ledger)
print(f"share of labels asked for: {learner.bucket.share:.4f}")

# %%
# An annotator who errs
# ---------------------
# People are late, skip questions and err. ``SimulatedAnnotator`` does this on purpose, so that you can try a budget
# before you spend it.

import matplotlib.pyplot as plt

careful = SimulatedAnnotator()
hasty = SimulatedAnnotator(noise=0.1, refusals=0.1, delay=(0, 50), seed=1)
learners = {
    "chosen, careful annotator": BudgetedLearner(budget=0.1, per="labels", annotator=careful),
    "chosen, hasty annotator": BudgetedLearner(budget=0.1, per="labels", annotator=hasty),
    "random, careful annotator": RandomSelection(budget=0.1, per="labels", annotator=careful),
}
_, ax = plt.subplots(figsize=(8, 4), layout="constrained")
for name, one in learners.items():
    one.fit(X[:100], Y[:100])
    right = ((one.test_then_train(X[100:], Y[100:]) >= 0.5) == Y[100:]).mean(axis=1)
    ax.plot(np.convolve(right, np.ones(400) / 400, mode="valid"), label=name)
    print(f"{name}: {right.mean():.3f} right, {one.share_:.3f} of the labels asked for")
ax.set(xlabel="sample", ylabel="share of right labels, last 400")
ax.legend()
