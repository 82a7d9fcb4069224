"""How often each label was answered.

| symbol  | array  | meaning                                                   |
|---------|--------|-----------------------------------------------------------|
| Y       | (n, K) | labels of rows, NaN if unknown                            |
| weights | (n,)   | of the rows, which are not learned at 0; empty: all are 1 |
| a       | (K,)   | answers by label                                          |
"""

import numpy as np

from evolabel.kernels.compile import kernel
from evolabel.typing import FloatArray


@kernel
def count_answers(Y: FloatArray, weights: FloatArray, a: FloatArray) -> None:
    """Add the answers of the rows that are learned to a."""
    for i in range(Y.shape[0]):
        if weights.shape[0] == 0 or weights[i] > 0.0:
            for k in range(Y.shape[1]):
                if not np.isnan(Y[i, k]):
                    a[k] += 1.0
