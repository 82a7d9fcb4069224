"""How often each label was answered.

| symbol | array  | meaning                                             |
|--------|--------|-----------------------------------------------------|
| Y      | (n, K) | labels of rows that are learned, NaN if unknown     |
| a      | (K,)   | answers by label                                    |
"""

import numpy as np

from evolabel.kernels._compile import kernel
from evolabel.kernels.state import FloatArray


@kernel
def count_answers(Y: FloatArray, weights: FloatArray, a: FloatArray) -> None:
    """Add the answers of rows to a; `weights` may be empty, and rows of weight 0 are not learned."""
    for i in range(Y.shape[0]):
        if weights.shape[0] == 0 or weights[i] > 0.0:
            for k in range(Y.shape[1]):
                if not np.isnan(Y[i, k]):
                    a[k] += 1.0
