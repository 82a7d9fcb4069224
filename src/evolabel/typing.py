"""Array types of the whole library."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
AnyArray = np.ndarray[Any, Any]
Arrays = dict[str, AnyArray]
