"""Errors that are expected of labels without an answer, by those of the labels of the same row that have one.

Of labels whose errors go together, one answer says something of the other. With the covariances S of the errors, the
answered labels a of a row, and their errors e, the error that is expected of a label b is S_ba (S_aa)^-1 e.
"""

import numpy as np

from evolabel.engine.compile import inner
from evolabel.stages.drift.arrays import FINAL, Members
from evolabel.stages.drift.loops.members import clipped
from evolabel.typing import FloatArray


@inner
def expect_errors(y: FloatArray, share: float, members: Members) -> None:
    """Fill `expected` of the work of `members` with the errors that are expected of labels by the answers y of a row.

    `share` is their mean confidence; 1: all have answers, and nothing is expected. Labels of confidence 0 have none.
    """
    S, confidence, error = members.arrays.relatives, members.fast.work.confidence, members.fast.work.expected
    error[:] = 0.0
    if share == 1.0 or S.shape[1] == 0:
        return
    n, answered, L = 0, members.answered, members.root
    for b in range(y.shape[0]):
        if confidence[b] > 0.0:
            answered[n] = b
            n += 1
    for i in range(n):  # L L' = S_aa, and error[a] becomes L^-1 e, then S_aa^-1 e
        b = answered[i]
        rest = y[b] - clipped(members.F[FINAL, b])
        for j in range(i + 1):
            L[i, j] = S[b, answered[j]]
            for k in range(j):
                L[i, j] -= L[i, k] * L[j, k]
            if j < i:
                L[i, j] /= L[j, j]
                rest -= L[i, j] * error[answered[j]]
        L[i, i] = np.sqrt(L[i, i])
        error[b] = rest / L[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            error[answered[i]] -= L[k, i] * error[answered[k]]
        error[answered[i]] /= L[i, i]
    for b in range(y.shape[0]):
        if confidence[b] == 0.0:
            for i in range(n):
                error[b] += S[b, answered[i]] * error[answered[i]]
