"""Choices behind the probabilities, as sections of `benchmarks/trust.py`: other maps, no fading, fixed shares alpha.

All of them are applied to the same outputs, in plain numpy, row by row: answer first, then learn.

    labels   p = sigma(phi'(theta + delta_k)), phi = (f - .5, logit f, 1): a shared map and a deviation of each label
    beta     the same with phi = (log f, -log(1 - f), 1)
    isotonic refitted every 50 rows on all rows so far, of all labels together or of each
    classes  p = softmax(a f)
"""

from collections.abc import Callable
from typing import Any

import numpy as np

START, SHARED, OWN = np.array([2.5, 0.5, 0.0]), np.eye(3), np.diag([30.0, 30.0, 20.0])
WEAK = np.eye(3)
MEMORY, REFIT, LEVEL, GAIN, SCORE_BINS = 500.0, 50, 0.9, 0.02, 100

Phi = Callable[[np.ndarray], np.ndarray]


def sigma(e: np.ndarray) -> np.ndarray:
    """Return the logistic function of `e`."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(e, -30.0, 30.0))))


def both(f: np.ndarray) -> np.ndarray:
    """Return phi of outputs `f` as the library has it, (..., 3)."""
    c = np.clip(f, 0.02, 0.98)
    return np.stack([f - 0.5, np.log(c / (1.0 - c)), np.ones_like(f)], -1)


def beta(f: np.ndarray) -> np.ndarray:
    """Return phi of beta calibration of outputs `f`, (..., 3)."""
    c = np.clip(f, 0.02, 0.98)
    return np.stack([np.log(c), -np.log(1.0 - c), np.ones_like(f)], -1)


def only(column: int) -> Phi:
    """Return the phi of `both` with 0 in place of the other of its first two parts than `column`."""
    return lambda f: both(f) * np.where(np.arange(3) == 1 - column, 0.0, 1.0)


class LabelMaps:
    """Maps of outputs of `n_labels`; `shared` and `own` say which parts learn, `prior` is D0, 0 `memory`: no fading."""

    def __init__(
        self,
        n_labels: int,
        phi: Phi = both,
        *,
        shared: bool = True,
        own: bool = True,
        prior: np.ndarray = OWN,
        memory: float = 0.0,
    ) -> None:
        self.phi, self.shared, self.own, self.prior = phi, shared, own, prior
        self.theta = np.array([1.0, 1.0, 0.0]) if phi is beta else START.copy()
        self.A, self.delta, self.D = SHARED.copy(), np.zeros((n_labels, 3)), np.tile(prior, (n_labels, 1, 1))
        self.rate = 1.0 / memory if memory else 0.0

    def answer(self, f: np.ndarray) -> np.ndarray:
        """Return the probabilities of the outputs `f`, (K,)."""
        return sigma((self.phi(f) * (self.theta + self.delta)).sum(-1))

    def learn(self, f: np.ndarray, y: np.ndarray) -> None:
        """Make one Newton step for the known labels of a row."""
        i = np.flatnonzero(~np.isnan(y))
        h, y = self.phi(f[i]), y[i]
        self.A += self.rate * (SHARED - self.A)
        self.D[i] += self.rate * (self.prior - self.D[i])
        p, s = sigma((h * (self.theta + self.delta[i])).sum(-1)), sigma(h @ self.theta)
        if self.own:
            self.D[i] += (p * (1.0 - p))[:, None, None] * h[:, :, None] * h[:, None, :]
            self.delta[i] += np.linalg.solve(self.D[i], (h * (y - p)[:, None])[:, :, None])[:, :, 0]
        if self.shared:
            self.A += (h * (s * (1.0 - s))[:, None]).T @ h
            self.theta = self.theta + np.linalg.solve(self.A, h.T @ (y - s))


class Isotonic:
    """Isotonic regression of outputs, of all labels `pooled` or of each, refitted every `REFIT` rows."""

    def __init__(self, n_labels: int, *, pooled: bool) -> None:
        self.pooled, self.rows, self.n_labels = pooled, list[tuple[np.ndarray, np.ndarray]](), n_labels
        self.models: list[Any] = []

    def answer(self, f: np.ndarray) -> np.ndarray:
        """Return the probabilities of the outputs `f`, (K,)."""
        if not self.models:
            return sigma(both(f) @ START)
        if self.pooled:
            return np.asarray(self.models[0].predict(f))
        return np.array([model.predict(f[k : k + 1])[0] for k, model in enumerate(self.models)])

    def learn(self, f: np.ndarray, y: np.ndarray) -> None:
        """Keep a row; refit when `REFIT` have come."""
        from sklearn.isotonic import IsotonicRegression

        self.rows.append((f, y))
        if len(self.rows) % REFIT:
            return
        F, Y = (np.array(part) for part in zip(*self.rows, strict=True))
        pairs = [(F.ravel(), Y.ravel())] if self.pooled else list(zip(F.T, Y.T, strict=True))
        self.models = [
            IsotonicRegression(y_min=1e-3, y_max=1 - 1e-3, out_of_bounds="clip").fit(*pair) for pair in pairs
        ]


class RunningShare:
    """The share of each label so far, whatever the output."""

    def __init__(self, n_labels: int) -> None:
        self.on, self.n = np.full(n_labels, 0.5), 1.0

    def answer(self, f: np.ndarray) -> np.ndarray:
        """Return the shares."""
        return np.asarray(self.on / self.n)

    def learn(self, f: np.ndarray, y: np.ndarray) -> None:
        """Count a row."""
        self.on, self.n = self.on + y, self.n + 1.0


class Temperature:
    """One factor `a` of the outputs of classes; `A` is the information it starts with, 0 `memory`: no fading."""

    def __init__(self, a: float = 5.0, A: float = 0.2, *, memory: float = MEMORY) -> None:
        self.a, self.A, self.first, self.rate = a, A, A, 1.0 / memory if memory else 0.0

    def answer(self, f: np.ndarray) -> np.ndarray:
        """Return the probabilities of the outputs `f`, (K,)."""
        e = np.exp(self.a * (f - f.max()))
        return np.asarray((e / e.sum() + 1e-6) / (1.0 + 1e-6 * len(f)))

    def learn(self, f: np.ndarray, y: np.ndarray) -> None:
        """Make one Newton step."""
        p = self.answer(f)
        self.A += self.rate * (self.first - self.A) + p @ (f * f) - (p @ f) ** 2
        self.a = max(self.a + float((y - p) @ f) / self.A, 0.5)


def along(maps: Any, F: np.ndarray, Y: np.ndarray, start: tuple[np.ndarray, np.ndarray] | None = None) -> np.ndarray:
    """Return the probabilities of all rows `F`, each before its labels in `Y` are learned; `start` comes first."""
    for f, y in zip(*start, strict=True) if start is not None else ():
        maps.learn(f, y)
    P = np.empty(F.shape)
    for i, (f, y) in enumerate(zip(F, Y, strict=True)):
        P[i] = maps.answer(f)
        maps.learn(f, y)
    return P


def sets_of(P: np.ndarray, Y: np.ndarray, *, classes: bool, gain: float = GAIN) -> np.ndarray:
    """Return sets of coverage `LEVEL` along the rows; alpha moves by `gain`, 0: it is fixed."""
    K = 1 if classes else P.shape[1]
    counts, alpha, fade = np.zeros((K, SCORE_BINS)), np.full(K, 1.0 - LEVEL), 1.0 - 1.0 / MEMORY
    held = np.zeros(P.shape if classes else (*P.shape, 2), bool)
    scores = 1.0 - P[Y > 0.5][:, None] if classes else np.where(Y > 0.5, 1.0 - P, P)
    for i, p in enumerate(P):
        q = np.array([quantile(counts[k], (1.0 - alpha[k]) * (counts[k].sum() + 1.0)) for k in range(K)])
        if classes:
            held[i] = (1.0 - p <= q[0]) | (np.arange(len(p)) == p.argmax())
        else:
            held[i] = np.column_stack([(p <= q) | (p < 0.5), (1.0 - p <= q) | (p >= 0.5)])
        alpha += gain * (1.0 - LEVEL - (scores[i] > q))
        counts *= fade
        counts[np.arange(K), np.minimum((scores[i] * SCORE_BINS).astype(int), SCORE_BINS - 1)] += 1.0
    return held


def quantile(counts: np.ndarray, wanted: float) -> float:
    """Return the score below which `wanted` of the `counts` are, linear within a bin; 1 if there are not so many."""
    total = counts.cumsum()
    if wanted >= total[-1]:
        return 1.0
    b = int(np.searchsorted(total, max(wanted, 0.0)))
    low = total[b - 1] if b else 0.0
    return float((b + min((max(wanted, 0.0) - low) / max(total[b] - low, 1e-12), 1.0)) / SCORE_BINS)


LABEL_MAPS: dict[str, Callable[[int], Any]] = {
    "shared and own": LabelMaps,
    "shared only": lambda K: LabelMaps(K, own=False),
    "own only": lambda K: LabelMaps(K, shared=False),
    "without logit f": lambda K: LabelMaps(K, only(0)),
    "without f": lambda K: LabelMaps(K, only(1)),
    "beta, shared and own": lambda K: LabelMaps(K, beta),
    "beta, own only": lambda K: LabelMaps(K, beta, shared=False),
    "isotonic, pooled": lambda K: Isotonic(K, pooled=True),
    "isotonic, per label": lambda K: Isotonic(K, pooled=False),
    "own, weak prior": lambda K: LabelMaps(K, prior=WEAK),
    "running share": RunningShare,
    "memory of 500 rows": lambda K: LabelMaps(K, memory=MEMORY),
}
CLASS_MAPS: dict[str, Callable[[int], Any]] = {
    "memory of 500 rows": lambda K: Temperature(),
    "no fading": lambda K: Temperature(memory=0.0),
    "A0 = 1, no fading": lambda K: Temperature(A=1.0, memory=0.0),
    "a0 = 10": lambda K: Temperature(10.0),
}
