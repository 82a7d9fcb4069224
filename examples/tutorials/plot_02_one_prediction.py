"""
Reading one prediction
======================

A prediction is a sum of parts. This lesson takes one sample apart: which feature moved which label, which rule
answered, and what would have to change.
"""

# %%
# A pump with two faults. A leak follows two edges; wear grows with temperature.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from evolabel import EvolvingFuzzyClassifier
from evolabel.explain import figures

rng = np.random.default_rng(3)
names = ["pressure", "flow", "temperature", "noise"]
X = pd.DataFrame(rng.normal([6, 3, 50, 10], [1.5, 1, 8, 2], (4000, 4)).round(2), columns=names)
Y = pd.DataFrame(
    {
        "leak": (X.pressure < 5.2) & (X.flow > 2.8),
        "wear": X.temperature + rng.normal(0, 4, len(X)) > 58,
    }
).astype(float)
clf = EvolvingFuzzyClassifier().partial_fit(X, Y)

# %%
# One sample
# ----------
# The last sample with a leak, explained. The parts of a label add up to its output.

x = X[Y.leak == 1].tail(1)
print(x.to_string(index=False))
why = clf.explain(x)
print(why)

# %%
# The same as a picture
# ---------------------
# The rule that answers for the leak, its conditions among the values of recent rows, and the sample as dots.

_, ax = plt.subplots(figsize=(8, 4), layout="constrained")
figures.sample_path(clf, x, "leak", ax=ax)

# %%
# The whole label
# ---------------
# All threshold rules of the label: questions from left to right, and at the right how often the label was on.

_, ax = plt.subplots(figsize=(8, 4), layout="constrained")
figures.threshold_tree(clf, "leak", ax=ax)
