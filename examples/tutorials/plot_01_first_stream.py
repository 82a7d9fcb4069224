"""
Ten minutes to the first stream
===============================

A stream brings one sample after the other, and each has several labels. This lesson learns one, measures it while it
learns, reads a rule, and asks why a sample was predicted as it was.
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
# There is nothing to set. ``partial_fit`` takes any number of rows, in any number of calls.

clf = EvolvingFuzzyClassifier()
clf.partial_fit(X[:200], Y[:200])
print(clf.n_rules_, "rules after", clf.n_samples_seen_, "samples")
