"""
Accuracy along a drifting stream
================================

The regions of the labels jump every 1,000 rows. The model that follows drift recovers; the one that learned only the
first rows does not.
"""

import matplotlib.pyplot as plt

from evolabel.evaluate import prequential, repeat
from evolabel.learners import make_learner
from evolabel.report.figures import trend_lines
from evolabel.streams import DriftingStream


def once(seed):
    stream = DriftingStream(n_features=6, n_labels=4, drift="abrupt", drift_every=1000, seed=seed)
    learners = {name: make_learner(name, seed) for name in ("evolabel", "static")}
    return prequential(learners, stream.dataset(4000, "drift"), initial=300, metrics=("pa",), window=400, every=40)


_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
trend_lines(repeat(once, range(2)), "pa", "sliding", ax=ax)
