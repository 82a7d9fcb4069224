"""
With river
==========

In river, samples and labels are dictionaries. The adapter takes them as they come: labels and features may appear and
disappear.
"""

# %%
# Progressive validation
# ----------------------

import matplotlib.pyplot as plt
from river import evaluate, metrics
from river.datasets import synth

from evolabel.adapters.river import RiverEvolvingFuzzyClassifier, RiverSingleLabelClassifier

model = RiverEvolvingFuzzyClassifier()
metric = metrics.multioutput.MicroAverage(metrics.Jaccard())
evaluate.progressive_val_score(synth.Logical(n_tiles=100, seed=42), model, metric)
print(metric)

# %%
# Row by row
# ----------

for x, y in synth.Logical(n_tiles=1, seed=1):
    print(x, "->", model.predict_one(x), "true:", y)

# %%
# One class per sample
# --------------------
# Agrawal's functions have sharp thresholds. After 2,000 rows the function changes. Beside it river's Hoeffding tree.

from itertools import chain

from river import tree, utils

first, then = (synth.Agrawal(classification_function=number, seed=number) for number in (0, 3))
learners = {"evolabel": RiverSingleLabelClassifier(), "Hoeffding tree": tree.HoeffdingTreeClassifier()}
_, ax = plt.subplots(figsize=(8, 4), layout="constrained")
for name, learner in learners.items():
    recent, shares = utils.Rolling(metrics.Accuracy, window_size=300), []
    for x, y in chain(first.take(2000), then.take(2000)):
        recent.update(y, learner.predict_one(x))
        shares.append(recent.get())
        learner.learn_one(x, y)
    ax.plot(shares, label=name)
ax.set(xlabel="row", ylabel="accuracy of the last 300 rows")
ax.legend()
