"""
Figure 1 of the paper: why weights are local
============================================

Two classes share the region of rule 1, a third fills that of rule 2. Regressions of 0 and 1 on the feature: by the
rules of the classifier, which weigh samples by membership (solid), and by all samples alike (dashed). The square class
never wins without weights.
"""

import matplotlib.pyplot as plt
import numpy as np

from evolabel.paper import PaperClassifier

rng = np.random.default_rng(0)
circles, squares, triangles = rng.normal(-2.4, 0.5, 150), rng.normal(-1.2, 0.4, 60), rng.normal(4.0, 0.7, 400)
X = np.concatenate([circles, squares, triangles])[:, None]
Y = np.repeat(np.eye(3), [len(circles), len(squares), len(triangles)], axis=0)
order = [*rng.permutation(210), *range(210, len(X))]  # the triangles come last, and start a rule
clf = PaperClassifier(vigilance=4.0, alpha=0.0, beta=0.0, space="input").fit(X[order], Y[order])

grid = np.linspace(-4.0, 6.0, 200)[:, None]
together, *_ = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), Y, rcond=None)
lines = np.column_stack([grid, np.ones(len(grid))]) @ together
_, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for label, (name, marker, colour) in enumerate(
    (("circles", "o", "#0072b2"), ("squares", "s", "#d55e00"), ("triangles", "^", "#009e73"))
):
    ax.plot(X[Y[:, label] == 1], np.full(int(Y[:, label].sum()), -0.06 - 0.06 * label), marker, color=colour, ms=3)
    ax.plot(grid, clf.decision_function(grid)[:, label], color=colour, label=f"{name}, weighted by membership")
    ax.plot(grid, lines[:, label], "--", color=colour, label=f"{name}, all samples alike")
for rule in clf.rules_:
    ax.axvspan(float(rule.low[0]), float(rule.high[0]), color="#555555", alpha=0.08)
ax.set(xlabel="feature", ylabel="output", ylim=(-0.3, 1.2), title=f"{clf.n_rules_} rules")
ax.legend(fontsize=8, ncols=2, loc="upper center")
