"""What the stored rows of a warm-up must be."""

import numpy as np

from evolabel.core.array_checks import (
    HEAVIEST,
    Expected,
    check_arrays,
    check_samples,
    floats,
    require,
    whole,
)
from evolabel.typing import Arrays


def _table(kept: int, p: int, K: int, seen: int) -> dict[str, Expected]:
    """Return what the buffer of the cold start must be: `kept` of `seen` samples, `p` features, `K` labels."""
    return {
        "X": floats(kept, p, missing=True),
        "Y": floats(kept, K, low=0.0, high=1.0, missing=True),
        "weights": floats(kept, high=HEAVIEST, positive=True),
        "confidences": floats(kept, K, low=0.0, high=1.0),
        "numbers": whole(kept, low=1, high=seen),
    }


def check_warm_up(arrays: Arrays, kept: int, p: int, K: int, seen: int) -> None:
    """Check the `arrays` of the cold start: `kept` of `seen` samples, `p` features, `K` labels."""
    check_arrays(arrays, _table(kept, p, K, seen))
    Y = arrays["Y"]
    require((Y == 0.0) | (Y == 1.0) | np.isnan(Y), "Y", "labels of 0, 1 or NaN")
    require(~np.isnan(Y).all(axis=1), "Y", "an annotated label in every row")
    check_samples("X", arrays["X"])
    require(np.diff(arrays["numbers"]) > 0, "numbers", "rising numbers")
