"""
Following a drift
=================

Labels change their meaning and sensors are replaced. The classifier notices, follows, and reports what happened.
"""

# %%
# A stream with two changes
# -------------------------
# At row 1,500 the label ``fault`` becomes its opposite. At row 3,000 a sensor is replaced by one that reads higher.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from evolabel import EvolvingFuzzyClassifier
from evolabel.explain import figures
from evolabel.streams import DriftingStream

X, Y = DriftingStream(n_features=6, n_labels=2, drift="none", seed=5).take(4500)
Y[1500:, 1] = 1 - Y[1500:, 1]
X[3000:, 0] += 6 * X[:3000, 0].std()
X = pd.DataFrame(X, columns=["pressure", "flow", "temperature", "speed", "load", "noise"])
Y = pd.DataFrame(Y, columns=["idle", "fault"])

# %%
# Learn, and print what happens
# -----------------------------
# ``on_event`` is called when something happens. Births and merges of rules are events as well; here only the changes of
# the stream are printed.

changes = ("drift", "recovered", "renewed", "settled", "sensor moved", "inputs moved")


def report(event):
    if event.kind in changes:
        print(event)


clf = EvolvingFuzzyClassifier()
outputs = clf.test_then_train(X, Y, on_event=report)

# %%
# What it cost
# ------------
# The same stream without following, for comparison.

plain = EvolvingFuzzyClassifier(follow_drift=False, threshold_rules=False).test_then_train(X, Y)
_, ax = plt.subplots(figsize=(8, 3.5), layout="constrained")
for name, scores in {"follows drift": outputs, "does not": plain}.items():
    right = ((scores >= 0.5) == Y.to_numpy())[:, 1]
    ax.plot(np.convolve(right, np.ones(200) / 200, mode="valid"), label=name)
    print(f"{name}: {right.mean():.3f} of the rows right for the label fault")
ax.set(xlabel="row", ylabel="fault right, last 200 rows")
ax.legend()

# %%
# Who answered
# ------------
# Three members answer each row: rules from all rows (slow), rules from recent rows (fast), and a linear rule.

trace = figures.follow_weights(EvolvingFuzzyClassifier(), X, Y, every=20)
_, ax = plt.subplots(figsize=(8, 4), layout="constrained")
figures.member_weights(trace, "fault", ax=ax)

# %%
# The state of each label now:

for label, state in clf.drift_.items():
    print(label, state)
