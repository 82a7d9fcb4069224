"""A small stream with a fault that is a conjunction: low pressure and high flow, except on machine M-01."""

import numpy as np

FEATURES = ["pressure", "flow", "noise", "machine=M-01", "machine=M-02", "machine=M-03"]
LABELS = ["leak", "idle"]


def pump_rows(n=2500, seed=0, missing=0.0):
    """Features and labels; `missing` is the share of missing values of the pressure."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    machine = rng.integers(0, 3, n)
    leak = (x[:, 0] < -0.5) & (x[:, 1] > 0.4) & (machine != 0)
    idle = x[:, 2] + 0.3 * rng.normal(size=n) > 0.0
    x[rng.random(n) < missing, 0] = np.nan
    return np.column_stack([x, np.eye(3)[machine]]), np.column_stack([leak, idle]).astype(float)
