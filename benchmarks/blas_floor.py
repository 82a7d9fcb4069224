"""Times of the BLAS calls that every active rule needs, from compiled code on one thread.

Per active rule: u = P r (dsymv), P -= g u u' (dsyr), f += G u (dgemv), G += y r' (dger). BLAS is called through its
address from inside a compiled loop that walks over all rules' matrices, so that
neither Python's overhead nor a warm cache changes the times.
"""

import ctypes
import time

import numpy as np
from numba import njit
from numba.extending import get_cython_function_address


def _blas(name: str, arguments: int) -> "ctypes._CFuncPtr":
    address = get_cython_function_address("scipy.linalg.cython_blas", name)
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address)


_dsymv, _dsyr, _dgemv, _dger = _blas("dsymv", 10), _blas("dsyr", 7), _blas("dgemv", 11), _blas("dger", 9)


@njit
def _walk(P, G, r, u, y, f, flags, sizes, scalars, turns):
    lower, transposed = flags.ctypes.data, flags[1:].ctypes.data
    q, K, one = sizes.ctypes.data, sizes[1:].ctypes.data, sizes[2:].ctypes.data
    plus, zero, tiny = scalars.ctypes.data, scalars[1:].ctypes.data, scalars[2:].ctypes.data
    for turn in range(turns):
        a = turn % P.shape[0]
        p, g = P[a].ctypes.data, G[a].ctypes.data
        _dsymv(lower, q, plus, p, q, r.ctypes.data, one, zero, u.ctypes.data, one)
        _dgemv(transposed, q, K, plus, g, q, u.ctypes.data, one, zero, f.ctypes.data, one)
        _dsyr(lower, q, tiny, u.ctypes.data, one, p, q)
        _dger(q, K, tiny, r.ctypes.data, one, y.ctypes.data, one, g, q)


def floor_per_rule(n_features: int, n_labels: int, n_rules: int = 31, seconds: float = 0.2, repeats: int = 5) -> float:
    """Seconds that the four calls take for one rule; the best of `repeats`."""
    rng = np.random.default_rng(0)
    q = n_features + 1
    P, G = np.tile(np.eye(q), (n_rules, 1, 1)), np.zeros((n_rules, n_labels, q))
    r, u, f = rng.normal(size=q), np.zeros(q), np.zeros(n_labels)
    y = (rng.random(n_labels) < 0.2).astype(float)
    flags = np.frombuffer(b"LT", np.int8).copy()
    sizes, scalars = np.array([q, n_labels, 1], np.int32), np.array([1.0, 0.0, -1e-12])
    arguments = (P, G, r, u, y, f, flags, sizes, scalars)
    _walk(*arguments, n_rules)
    turns = n_rules
    while _timed(arguments, turns) < seconds / repeats:
        turns *= 2
    return min(_timed(arguments, turns) for _ in range(repeats)) / turns


def _timed(arguments: tuple[object, ...], turns: int) -> float:
    start = time.perf_counter()
    _walk(*arguments, turns)
    return time.perf_counter() - start
