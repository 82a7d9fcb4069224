"""
A rule written by a person
==========================

This kind of fault is in no sample yet, but a person can describe it. The written rule answers from the first row on.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from evolabel import EvolvingFuzzyClassifier

rng = np.random.default_rng(7)
X = pd.DataFrame(rng.normal([60, 4], [10, 1.2], (400, 2)), columns=["temperature", "flow"])
Y = pd.DataFrame({"fault": X.temperature < 45}).astype(float)
clf = EvolvingFuzzyClassifier().fit(X, Y)

grid = np.stack(np.meshgrid(np.linspace(30, 90, 120), np.linspace(0, 8, 120)), axis=-1)
fig, panels = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
for ax, title in zip(panels, ("learned", "with the written rule"), strict=True):
    if title != "learned":
        clf.rulebook.add('IF temperature ABOVE 70 AND flow BELOW 3 THEN fault LIKELY CALLED "hot and slow"')
    p = clf.predict_proba(pd.DataFrame(grid.reshape(-1, 2), columns=X.columns))[:, 0].reshape(120, 120)
    drawn = ax.pcolormesh(grid[..., 0], grid[..., 1], p, vmin=0, vmax=1, cmap="Blues")
    ax.set(title=title, xlabel="temperature")
panels[0].set_ylabel("flow")
fig.colorbar(drawn, ax=panels, label="probability of the fault")
