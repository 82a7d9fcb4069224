"""
Figure 3 of the paper: two kinds of ambiguity
=============================================

Left, two classes overlap inside one rule; right, a sample lies between two rules of different classes. Inside the band
an output lies between 0.4 and 0.6, and eq. (30) asks for the label.
"""

import matplotlib.pyplot as plt
import numpy as np

from evolabel.paper import PaperClassifier

rng = np.random.default_rng(1)
across, up = np.meshgrid(np.linspace(-4.0, 4.0, 120), np.linspace(-3.0, 3.0, 90))
grid = np.column_stack([across.ravel(), up.ravel()])
panels = (("inside one rule", 0.9, 0.9, 4.0, (0.1, -0.6)), ("between two rules", 2.2, 0.5, 1.0, (0.1, -0.5)))

_, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharey=True)
for ax, (title, apart, spread, vigilance, sample) in zip(axes, panels, strict=True):
    one, other = (rng.normal((side * apart, 0.0), (spread, 0.8), (120, 2)) for side in (-1, 1))
    X, Y = np.vstack([one, other]), np.repeat(np.eye(2), 120, axis=0)
    order = rng.permutation(len(X))
    clf = PaperClassifier(vigilance=vigilance).fit(X[order], Y[order])
    outputs = clf.decision_function(grid)[:, 0].reshape(across.shape)
    ax.contourf(across, up, outputs, levels=[0.4, 0.6], colors=["#f0e442"], alpha=0.6)
    ax.contour(across, up, outputs, levels=[0.5], colors="#555555", linestyles="--")
    for rows, marker, colour in ((one, "o", "#0072b2"), (other, "s", "#009e73")):
        ax.plot(*rows.T, marker, color=colour, ms=3, alpha=0.7)
    ax.plot(*sample, "o", ms=13, color="#d55e00", markeredgecolor="black")
    answer = clf.decision_function([sample])[0]
    ax.set(xlabel="first feature", title=f"{title}: {clf.n_rules_} rules, outputs {answer[0]:.2f} and {answer[1]:.2f}")
axes[0].set_ylabel("second feature")
