"""What the stored arrays of a scaler must be: knots and their scores rise."""

import numpy as np

from evolabel.core.array_checks import (
    FINITE,
    FURTHEST,
    Expected,
    check_arrays,
    flags,
    floats,
    require,
    size_of,
    whole,
)
from evolabel.stages.scaling.stage import variance_of
from evolabel.typing import Arrays


def _table(arrays: Arrays, p: int, kind: str) -> dict[str, Expected]:
    """Return what the `arrays` of the scaling of `p` features must be; the prior variance follows from its `kind`."""
    knots, variance = size_of(arrays, "x", 1), variance_of(kind)
    prior = floats(p, high=FURTHEST**2, positive=True) if variance is None else floats(p, low=variance, high=variance)
    return {
        "x": floats(p, knots, low=-FINITE, high=FINITE),
        "z": floats(p, knots),
        "used": whole(p, high=knots),
        "slope": floats(p, high=FINITE, positive=True),
        "prior": prior,
        "binary": flags(p),
    }


def check_scaler(arrays: Arrays, p: int, kind: str) -> None:
    """Check the `arrays` of the scaling of `p` features of this `kind`: knots and their scores rise."""
    check_arrays(arrays, _table(arrays, p, kind))
    x, z, used = arrays["x"], arrays["z"], arrays["used"]
    require(x.shape[1] > 0, "x", "one knot or more")
    in_use = np.arange(1, x.shape[1]) < used[:, None]
    for name, rows in (("x", x), ("z", z)):
        require((np.diff(rows, axis=1) >= 0.0) | ~in_use, name, "knots that rise")
