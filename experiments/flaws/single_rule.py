"""Data for experiments on a single rule: its objective, the iteration of eq. (16), and streams that diverge."""

import re

import numpy as np
from callable_kernels import callable_kernel
from scipy.special import chdtri

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DivergenceError
from evolabel.stages.rules.loops.paper import coupling as coupling_kernels
from evolabel.stages.rules.proximal import Problem, soft_threshold
from evolabel.typing import FloatArray

add_label_moments, coupling = map(callable_kernel, (coupling_kernels.add_label_moments, coupling_kernels.coupling))


def linear_labels(n: int, p: int, K: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Normal features and labels that follow noisy linear functions of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, (X @ rng.normal(size=(p, K)) + rng.normal(size=(n, K)) > 0.0).astype(np.float64)


def fac_of_tail(d: int, tail: float) -> float:
    """The fac of eq. (5) with which a share `tail` of a rule's own samples lies outside, in `d` dimensions."""
    return float(np.sqrt(chdtri(d, tail)) / d ** (1.0 / np.sqrt(2.0)))


def with_ones(X: FloatArray) -> FloatArray:
    return np.column_stack([X, np.ones(len(X))])


def label_coupling(Y: FloatArray, kind: int) -> FloatArray:
    """The coupling matrix evolabel makes of these labels, sample after sample."""
    K = Y.shape[1]
    mass, ybar, Q, B = np.zeros(2), np.zeros(K), np.zeros((K, K)), np.zeros((K, K))
    for y in Y:
        add_label_moments(y, 1.0, mass, ybar, Q)
    coupling(Q, mass, kind, B)
    return B


def problem_of(X: FloatArray, Y: FloatArray, kind: int, alpha: float, beta: float) -> Problem:
    """The objective of a single rule that owns all samples, without a ridge."""
    R = with_ones(X)
    q, K = R.shape[1], Y.shape[1]
    return Problem(R.T @ R, Y.T @ R, np.zeros(q), np.zeros((K, q)), label_coupling(Y, kind), alpha, beta)


def iterate(problem: Problem, length: float, steps: int) -> list[float]:
    """Objective along eq. (16) with steps of 1 / length, from W = 0."""
    W = np.zeros_like(problem.G)
    values = [problem.value(W)]
    for _ in range(steps):
        W = soft_threshold(W - problem.gradient(W) / length, problem.alpha / length)
        values.append(problem.value(W))
    return values


def diverges_at(classifier: EvolvingFuzzyClassifier, X: FloatArray, Y: FloatArray, batch: int) -> int:
    """The sample a DivergenceError names (the last of the batch if that diverged); 0 if the stream is learned."""
    try:
        classifier.fit(X[:batch], Y[:batch]).partial_fit(X[batch:], Y[batch:])
    except DivergenceError as error:
        named = re.search(r"sample (\d+)", str(error))
        assert named is not None
        return int(named[1])
    return 0
