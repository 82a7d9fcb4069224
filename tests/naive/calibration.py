"""Naive twin of `stages.calibration.loops`: one row at a time with numpy, written as the formulae are."""

import numpy as np

LEVELS = np.array([0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.975, 0.99])
GAINS = np.minimum(0.02, 0.2 * (1.0 - LEVELS))
MEMORY, HEAVIEST, LARGEST_STEP, BINS = 500.0, 10.0, 4.0, 100
A0, D0 = np.eye(3), np.diag([30.0, 30.0, 20.0])


def sigma(logit):
    return 1.0 / (1.0 + np.exp(-np.clip(logit, -30.0, 30.0)))


def regressors(f):
    cut = np.clip(f, 0.02, 0.98)
    return np.array([np.clip(f, 0.25, 0.75) - 0.5, np.log(cut / (1.0 - cut)), 1.0])


def newton_step(A, gradient, bend):
    """The step A^-1 g, or the best one that sets the second coefficient, now `bend`, to 0 instead of below."""
    step = np.linalg.solve(A, gradient)
    if bend + step[1] < 0.0:
        rest = [0, 2]
        step[1] = -bend
        step[rest] = np.linalg.solve(A[np.ix_(rest, rest)], gradient[rest] - A[rest, 1] * step[1])
    return step


def shortened(step, phis):
    longest = max(abs(phi @ step) for phi in phis)
    return step * min(1.0, LARGEST_STEP / longest) if longest > 0.0 else step


class Scores:
    """Thresholds of one stream of scores."""

    def __init__(self):
        self.counts, self.n, self.alpha = np.zeros(BINS), 0.0, 1.0 - LEVELS

    def learn(self, score, w, adapts):
        b = min(int(score * BINS), BINS - 1)
        if adapts:
            below = self.counts[:b].sum() + self.counts[b] * (score * BINS - b)
            wrong = (below > (1.0 - self.alpha) * (self.n + 1.0)) & (self.n > 0.0)
            self.alpha = self.alpha + min(w, 1.0) * GAINS * (1.0 - LEVELS - wrong)
        kept = 1.0 - min(w, 1.0) / MEMORY
        self.counts, self.n = kept * self.counts, kept * self.n + w
        self.counts[b] += w

    def at_levels(self):
        """The threshold of each level, before they are made to rise."""
        found = np.ones(len(LEVELS))
        for i, wanted in enumerate((1.0 - self.alpha) * (self.n + 1.0)):
            if wanted < self.n:
                total = self.counts.cumsum()
                b = int(np.flatnonzero((total >= wanted) & (total > 0.0))[0])
                before = total[b] - self.counts[b]
                inside = (wanted - before) / self.counts[b] if self.counts[b] > 0.0 else 0.0
                found[i] = (b + max(inside, 0.0)) / BINS
        return found

    def limit(self, coverage):
        return float(np.interp(coverage, LEVELS, np.maximum.accumulate(self.at_levels())))


class LabelCalibration:
    """Probabilities and thresholds of K labels."""

    def __init__(self, K):
        self.theta, self.A = np.array([2.5, 0.5, 0.0]), A0.copy()
        self.delta, self.D, self.scores = np.zeros((K, 3)), np.tile(D0, (K, 1, 1)), [Scores() for _ in range(K)]

    def probabilities(self, f):
        both = self.theta + self.delta
        both[:, :2] = np.maximum(both[:, :2], 0.0)
        return np.array([sigma(regressors(f_k) @ map_k) for f_k, map_k in zip(f, both, strict=True)])

    def limits(self, coverage):
        return np.array([score.limit(coverage) for score in self.scores])

    def learn(self, f, y, w, adapts=True, counted=None):
        w = np.where(np.isnan(y) | ~np.isfinite(f), 0.0, np.minimum(w, HEAVIEST))
        known = np.flatnonzero(w > 0.0)
        if not len(known):
            return
        p, phi = self.probabilities(f), {k: regressors(f[k]) for k in known}
        for k in known:
            if counted is None or counted[k]:
                self.scores[k].learn(1.0 - p[k] if y[k] else p[k], w[k], adapts)
        self.A += min(w.max(), 1.0) / MEMORY * (A0 - self.A)
        s = {k: sigma(phi[k] @ self.theta) for k in known}
        for k in known:
            self.D[k] += min(w[k], 1.0) / MEMORY * (D0 - self.D[k]) + w[k] * p[k] * (1 - p[k]) * np.outer(
                phi[k], phi[k]
            )
            self.A += w[k] * s[k] * (1.0 - s[k]) * np.outer(phi[k], phi[k])
            step = newton_step(self.D[k], w[k] * phi[k] * (y[k] - p[k]), self.theta[1] + self.delta[k, 1])
            self.delta[k] += shortened(step, [phi[k]])
            self.delta[k, :2] = np.maximum(self.delta[k, :2], -self.theta[:2])
        gradient = sum(w[k] * phi[k] * (y[k] - s[k]) for k in known)
        self.theta = self.theta + shortened(newton_step(self.A, gradient, self.theta[1]), phi.values())
        self.theta[:2] = np.maximum(self.theta[:2], 0.0)


class ClassCalibration:
    """Probabilities and the threshold of classes that exclude each other."""

    def __init__(self, _):
        self.a, self.A, self.scores = 5.0, 0.2, [Scores()]

    def probabilities(self, f):
        e = np.exp(self.a * (f - f.max()))
        return (e / e.sum() + 1e-6) / (1.0 + 1e-6 * len(f))

    def limits(self, coverage):
        return np.full(1, self.scores[0].limit(coverage))

    def learn(self, f, y, w, adapts=True, counted=None):
        if np.isnan(y).any() or not np.isfinite(f).all() or not (w > 0.0).all():
            return
        p, true = self.probabilities(f), int(y.argmax())
        weight, cut = min(w[true], HEAVIEST), np.clip(f, -1.0, 2.0)
        if counted is None or counted[true]:
            self.scores[0].learn(1.0 - p[true], weight, adapts)
        self.A += min(weight, 1.0) / MEMORY * (0.2 - self.A) + weight * max(p @ cut**2 - (p @ cut) ** 2, 0.0)
        self.a = float(np.clip(self.a + weight * (cut[true] - p @ cut) / self.A, 0.5, 100.0))
