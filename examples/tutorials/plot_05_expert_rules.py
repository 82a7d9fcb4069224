"""
Rules from an expert
====================

A person expects a fault that the data do not show yet. This lesson writes the rule down, lets the data correct it, and
takes an edit back.
"""

# %%
# Data without the fault
# ----------------------

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from evolabel import EvolvingFuzzyClassifier

rng = np.random.default_rng(7)


def day(n):
    X = pd.DataFrame({"temperature": rng.normal(60, 10, n), "flow": rng.gamma(4, 1, n), "noise": rng.normal(0, 1, n)})
    return X, pd.DataFrame({"fault_a": X.flow < 2, "fault_b": X.noise > 1}).astype(float)


X, Y = day(400)
clf = EvolvingFuzzyClassifier(max_rules=10).fit(X, Y)
hot_idle = pd.DataFrame({"temperature": [78.0], "flow": [3.5], "noise": [0.0]})
print("before:", clf.predict_proba(hot_idle).round(2))

# %%
# The rule
# --------
# Terms such as "very high" are fifths of the stream; numbers are in the units of the feature.

book = clf.rulebook
number = book.add(
    "IF temperature IS very high AND flow BETWEEN 2 AND 5 THEN fault_a LIKELY "
    'WITH CONFIDENCE 0.8 WEIGHT 20 CALLED "hot idle"'
)
print("rule", number)
print(book.form("hot idle"))
print("after: ", clf.predict_proba(hot_idle).round(2))

# %%
# The data disagree
# -----------------
# The next days have no fault there. The rule counts for 20 samples. After a few samples without the fault it is
# contradicted beyond doubt and does not answer for this label any more; an event reports it.

X, Y = day(2500)
hot = (X.temperature > 68) & X.flow.between(2, 5)  # about where the rule holds
outputs = []
for row in range(200):
    outputs.append(clf.decision_function(hot_idle)[0, 0])
    clf.partial_fit(X[row : row + 1], Y[row : row + 1])
clf.partial_fit(X[200:], Y[200:])
print(*[event for event in clf.events_ if event.rule == number], sep="\n")
print("later: ", clf.predict_proba(hot_idle).round(2))

_, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.plot(outputs, label="output of fault_a for a hot, idle sample")
ax.plot(np.flatnonzero(hot[:200]), np.zeros(hot[:200].sum()), "x", label="rows like it, without the fault")
ax.set(xlabel="rows since the rule was written", ylim=(-0.05, 1))
ax.legend()

# %%
# Lock it
# -------
# A locked rule answers as it was written, whatever comes. The last edit can be undone.

book.lock("hot idle")
book.undo()
print(book.form("hot idle"))
