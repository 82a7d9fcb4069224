"""
Ten minutes to the first stream
===============================

A stream brings one sample after the other, and each has several labels. This lesson learns one, measures it while it
learns, reads a rule, and saves the model.
"""

# %%
# A stream
# --------
# ``DriftingStream`` makes one: eight features, five labels. Your own data may be arrays, pandas or polars frames.

from evolabel import EvolvingFuzzyClassifier
from evolabel.streams import DriftingStream

X, Y = DriftingStream(drift="none", seed=0).take(2000)
print(X.shape, Y.shape)
print("labels of the first sample:", Y[0])

# %%
# Learn
# -----
# There is nothing to set. ``partial_fit`` takes any number of rows, in any number of calls. The first 80 rows are
# collected; with them the model chooses its scaling and its ridges, and starts its first rules.

clf = EvolvingFuzzyClassifier()
clf.partial_fit(X[:200], Y[:200])
print(clf.n_rules_, "rules after", clf.n_samples_seen_, "samples")

# %%
# Measure while it learns
# -----------------------
# ``test_then_train`` predicts each row and then learns it, so every prediction was made without its answer. Outputs of
# at least one half are predicted as 1. They rank labels, and are no probabilities: those come next.

import matplotlib.pyplot as plt
import numpy as np

outputs = clf.test_then_train(X[200:], Y[200:])
right = ((outputs >= 0.5) == Y[200:]).mean(axis=1)
frequent = np.maximum(Y.mean(axis=0), 1 - Y.mean(axis=0)).mean()
print(f"right labels: {right.mean():.3f}; by always predicting the more frequent value: {frequent:.3f}")

_, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.plot(np.convolve(right, np.ones(200) / 200, mode="valid"))
ax.set(xlabel="sample", ylabel="share of right labels, last 200 samples")

# %%
# Predict
# -------
# Labels, probabilities, and sets of what may be true: here each label of a sample may be 0, may be 1, or both.

x = X[-1:]
print("labels       ", clf.predict(x)[0])
print("probabilities", clf.predict_proba(x)[0].round(2))
print("may be 0     ", clf.predict_set(x)[0, :, 0])
print("may be 1     ", clf.predict_set(x)[0, :, 1])

# %%
# Read a rule
# -----------
# The rules are in the units of your features.

print(clf.rules_.top(1)[0])

# %%
# Keep it
# -------
# The file holds arrays and text, no code. The loaded model continues bit for bit.

from pathlib import Path
from tempfile import mkdtemp

file = Path(mkdtemp()) / "model.safetensors"
clf.save(file)
again = EvolvingFuzzyClassifier.load(file)
print("same outputs:", np.array_equal(again.decision_function(X), clf.decision_function(X)))
