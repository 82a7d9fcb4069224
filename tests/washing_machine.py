"""A washing machine whose mode is a column of texts."""

import numpy as np
import pandas as pd

from evolabel import EvolvingFuzzyClassifier
from evolabel.streams import from_frame

MODES = ("idle", "spin", "wash", "very slow")
SCALINGS = ("quantile", "standard", "minmax", "none")


def machine(rows=240, seed=7):
    """The mode decides about leaks."""
    rng = np.random.default_rng(seed)
    mode = rng.choice(MODES, rows, p=[0.4, 0.2, 0.3, 0.1])
    heat = np.where(mode == "wash", 60.0, 20.0) + rng.normal(0.0, 5.0, rows)
    return pd.DataFrame({"mode": mode, "heat": heat, "lag=1": rng.integers(0, 2, rows), "leak": (mode == "spin") * 1.0})


def frames(table):
    """Features, one per text, and labels."""
    data = from_frame(table, ["leak"])
    return pd.DataFrame(data.X, columns=list(data.feature_names)), pd.DataFrame(data.Y, columns=list(data.label_names))


def learned(make=EvolvingFuzzyClassifier, **parameters):
    """A classifier that knows the machine."""
    return make(max_rules=6, **parameters).fit(*frames(machine()))


def of_mode(mode):
    """Other samples of one mode."""
    table = machine(300, seed=1)
    return frames(table)[0][table["mode"] == mode]
