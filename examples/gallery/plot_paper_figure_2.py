"""
Figure 2 of the paper: novelty content
======================================

Three samples (large) lie outside the range of influence of every rule (line): eq. (5) asks for their labels, although
each is far on one side of the decision boundary. The colour is the distance to the nearest rule over that at which a
sample is novel.
"""

import matplotlib.pyplot as plt
import numpy as np

from evolabel.paper import PaperClassifier

rng = np.random.default_rng(2)
turned = np.array([[0.9, 0.5], [-0.25, 0.45]])
left, right = rng.normal(size=(150, 2)) @ turned, rng.normal(size=(150, 2)) @ turned.T + (5.0, 1.0)
X, Y = np.vstack([left, right]), np.repeat(np.eye(2), 150, axis=0)
clf = PaperClassifier(vigilance=2.0, space="input").fit(X, Y)
new = np.array([[-3.0, 3.0], [2.4, -3.0], [8.5, 3.2]])

across, up = np.meshgrid(np.linspace(-5.0, 10.0, 40), np.linspace(-5.0, 5.0, 30))
checks = [clf.explain(point).novelty for point in np.column_stack([across.ravel(), up.ravel()])]
novelty = np.reshape([check.distance / check.border for check in checks], across.shape)

_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
filled = ax.contourf(across, up, novelty, levels=np.linspace(0.0, 3.0, 13), cmap="Blues", extend="max")
ax.contour(across, up, novelty, levels=[1.0], colors="#d55e00", linewidths=2)
for label, marker in ((0, "o"), (1, "s")):
    ax.plot(*X[Y[:, label] == 1].T, marker, color="#555555", ms=3)
for point in new:
    asked = clf.explain(point).novelty.novel
    ax.plot(*point, "o", ms=13, color="#d55e00" if asked else "#009e73", markeredgecolor="black")
plt.colorbar(filled, ax=ax, label="distance to the nearest rule, 1: novel")
ax.set(xlabel="first feature", ylabel="second feature", title=f"{clf.n_rules_} rules")
