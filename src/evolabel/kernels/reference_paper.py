"""The naive twins of the kernels behind rotated rules, the product space, iterated consequents and label coupling.

In the manner of `kernels.reference`: slow, obvious, straight from the mathematics. Covariances are matrices and not
factors, distances come from `np.linalg.solve`, nobody is abandoned early. A kernel that writes into an array has a
twin that returns it. W, G and B are as the kernels keep them, one row per label.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from evolabel.kernels.coupling import NONE, PAPER, RIDGE, SHIFTED, SHRINK, SIGNED_LAPLACIAN
from evolabel.kernels.iteration import BLOW_UP
from evolabel.kernels.reference import distances, observed_weight
from evolabel.kernels.state import RULES, FloatArray, RuleArrays, Settings


@dataclass
class LabelMoments:
    """Weighted moments of a rule's labels: sums of psi and psi^2, means, co-moments."""

    mass: FloatArray
    ybar: FloatArray
    Q: FloatArray


# cholesky


def factor_update(F: FloatArray, e: FloatArray) -> FloatArray:
    """The factor of F F' + e e', by factorising it anew."""
    return np.asarray(np.linalg.cholesky(F @ F.T + np.outer(e, e)))


def substitute(F: FloatArray, e: FloatArray, first: int, last: int, total: float) -> tuple[float, FloatArray]:
    """Rows first..last-1 of F^-1 e, and total + their sum of squares; NaN: the entry sits where its row becomes 0.

    The rows before must be complete.
    """
    v = np.zeros(last)
    for i in range(last):
        expected = F[i, :i] @ v[:i]
        v[i] = 0.0 if np.isnan(e[i]) else (e[i] - expected) / F[i, i]
    return total + float(np.sum(v[first:] ** 2)), v


def conditional_mean(Sigma: FloatArray, e: FloatArray) -> FloatArray:
    """Missing entries of a centred Gaussian vector at their mean given the others: Sigma_mo Sigma_oo^-1 e_o."""
    gone, filled = np.isnan(e), e.copy()
    filled[gone] = Sigma[np.ix_(gone, ~gone)] @ np.linalg.solve(Sigma[np.ix_(~gone, ~gone)], e[~gone])
    return filled


def marginal_square(Sigma: FloatArray, e: FloatArray) -> float:
    """Squared Mahalanobis distance over the entries that are there, with their own block of Sigma."""
    seen = ~np.isnan(e)
    return float(e[seen] @ np.linalg.solve(Sigma[np.ix_(seen, seen)], e[seen]))


def marginal_fill(F: FloatArray, e: FloatArray, p: int) -> tuple[float, FloatArray]:
    """The first p entries completed, and the squared distance of those that were there."""
    Sigma = F[:p, :p] @ F[:p, :p].T
    return marginal_square(Sigma, e[:p]), conditional_mean(Sigma, e[:p])


def solve_positive(N: FloatArray, b: FloatArray) -> FloatArray:
    """N^-1 b."""
    return np.asarray(np.linalg.solve(N, b))


# coupling


def add_label_moments(y: FloatArray, psi: float, before: LabelMoments) -> LabelMoments:
    """The moments of two sets of samples together, the second being one sample; a label not annotated is average."""
    S = before.mass[0]
    y = np.where(np.isnan(y), before.ybar, y)
    ybar = (S * before.ybar + psi * y) / (S + psi)
    old, new = before.ybar - ybar, y - ybar
    Q = before.Q + S * np.outer(old, old) + psi * np.outer(new, new)
    return LabelMoments(before.mass + np.array([psi, psi**2]), ybar, Q)


def correlation(Q: FloatArray, mass: FloatArray, shrink: bool) -> FloatArray:
    """Eq. (9), shrunk by n / (n + 10) with n = S^2 / S2; constant labels correlate with nothing."""
    n = mass[0] ** 2 / mass[1] if mass[1] > 0.0 else 0.0
    varies = np.diag(Q) > 1e-12 * mass[0]
    spread = np.sqrt(np.where(varies, np.diag(Q), 1.0))
    C = np.clip(Q / np.outer(spread, spread), -1.0, 1.0) * (n / (n + SHRINK) if shrink else 1.0)
    C[~varies] = 0.0
    C[:, ~varies] = 0.0
    np.fill_diagonal(C, 1.0)
    return np.asarray(C)


def coupling(Q: FloatArray, mass: FloatArray, kind: int) -> FloatArray:
    """The coupling matrix of the kind asked for, divided by its largest absolute row sum (not PAPER)."""
    K, C = len(Q), correlation(Q, mass, kind != PAPER)
    apart = C - np.eye(K)
    B = {
        NONE: np.zeros((K, K)),
        RIDGE: np.eye(K),
        PAPER: 1.0 - C,
        SHIFTED: 1.0 - C + np.abs(C).sum(axis=1).max() * np.eye(K),
        SIGNED_LAPLACIAN: np.diag(np.abs(apart).sum(axis=1)) - apart,
    }[kind]
    return B if kind == PAPER else scale_to_unit(B)


def scale_to_unit(B: FloatArray) -> FloatArray:
    """B over its largest absolute row sum; 0 stays 0."""
    most = float(np.linalg.norm(B, np.inf))
    return np.asarray(B / most if most > 0.0 else B)


# iteration


def rls_step(
    W: FloatArray, A: FloatArray, r: FloatArray, y: FloatArray, confidence: FloatArray, w: float
) -> tuple[FloatArray, FloatArray]:
    """The minimum of |W' - W|_A^2 + own (y - W' r)^2 per label, A = H + penalty; and the prediction from before."""
    new = W.copy()
    for b in np.flatnonzero(confidence > 0.0):
        own = w * confidence[b]
        new[b] = np.linalg.solve(A + own * np.outer(r, r), A @ W[b] + own * y[b] * r)
    return new, np.asarray(W @ r)


def soft(x: float, width: float) -> float:
    """Eq. (17): the minimum of (w - x)^2 / 2 + width |w|."""
    return float(np.sign(x) * max(abs(x) - width, 0.0))


def prox_step(
    W: FloatArray,
    H: FloatArray,
    B: FloatArray,
    G: FloatArray,
    penalty: FloatArray,
    lean: FloatArray,
    W0: FloatArray,
    alpha: float,
    beta: float,
    L: float,
) -> FloatArray:
    """Eq. (16), entry by entry; the intercept feels neither alpha nor beta."""
    new, last = W.copy(), W.shape[1] - 1
    gradient = W @ H - G + W @ np.diag(penalty) - W0 @ np.diag(lean)
    coupled = gradient + beta * B @ W
    for b in range(len(W)):
        for j in range(last):
            new[b, j] = soft(W[b, j] - coupled[b, j] / L, alpha / L)
        new[b, last] = W[b, last] - gradient[b, last] / L
    return new


def power_iteration(A: FloatArray) -> float:
    """The largest eigenvalue in size, of a symmetric matrix."""
    return float(np.abs(np.linalg.eigvalsh(A)).max())


def has_blown_up(W: FloatArray) -> bool:
    """Is a weight NaN, infinite or absurd?"""
    return not bool(np.all(np.isfinite(W)) and np.max(np.abs(W), initial=0.0) < BLOW_UP)


# antecedents


def join(z: FloatArray, y: FloatArray, label_weight: float, d: int) -> FloatArray:
    """The first d entries of (z, omega y)."""
    return np.concatenate([z, label_weight * y])[:d]


def degrees(k: float, nu0: float) -> float:
    """Prior samples, and all samples but the first."""
    return nu0 + k - 1.0 if k > 1.0 else nu0


def add_label_distances(s: FloatArray, c: FloatArray, inv: FloatArray, lam: FloatArray) -> FloatArray:
    """The same mean as over the features, over all observed entries of the joint vector."""
    return distances(s, c, inv, lam)


def covariance(slot: int, rules: RuleArrays, settings: Settings) -> FloatArray:
    """Sigma of a rule in the space of the antecedents, prior included."""
    if not settings.rotated:
        return np.diag(settings.importance / rules.inv[slot])
    F = np.tril(rules.F[slot])
    return np.asarray(F @ F.T / degrees(float(rules.k[slot]), settings.prior_count))


def joint_distances(s: FloatArray, p: int, rules: RuleArrays, settings: Settings) -> tuple[FloatArray, FloatArray]:
    """Mean squared Mahalanobis distances D over the features and J over features and labels, rule by rule.

    Features may be missing for D. For J a missing feature sits at its mean given the other features, and a missing
    label at its mean given everything before it. Every dimension is stretched by the root of its weight.
    """
    d, lam = len(s), settings.importance
    features, seen = observed_weight(s[:p], lam), observed_weight(s, lam)
    count = int(rules.tally[RULES])
    D, J = np.zeros(count), np.zeros(count)
    for slot in range(1, count + 1):
        Sigma, e = covariance(slot, rules, settings), np.sqrt(lam[:d]) * (s - rules.c[slot, :d])
        D[slot - 1] = marginal_square(Sigma[:p, :p], e[:p]) / features
        e[:p] = conditional_mean(Sigma[:p, :p], e[:p])
        for j in range(p, d):
            if np.isnan(e[j]):
                e[j] = conditional_mean(Sigma[: j + 1, : j + 1], e[: j + 1])[j]
        J[slot - 1] = e @ np.linalg.solve(Sigma[:d, :d], e) / seen
    return D, J


def fill_rotated(z: FloatArray, slot: int, rules: RuleArrays, settings: Settings) -> FloatArray:
    """(z, 1) with missing features at their conditional mean."""
    p = len(z)
    Sigma = covariance(slot, rules, settings)[:p, :p]
    return np.append(rules.c[slot, :p] + conditional_mean(Sigma, z - rules.c[slot, :p]), 1.0)


# moments


def rotate(s: FloatArray, weight: float, k: float, nu0: float, c: FloatArray, F: FloatArray) -> FloatArray:
    """The factor after the scatter matrix has taken in a sample; missing entries bring their variance along."""
    missing = np.isnan(s)
    s = np.where(missing, c, s)
    if k <= 0.0:
        return F
    mean = (k * c + weight * s) / (k + weight)
    old, new = c - mean, s - mean
    grown = F @ F.T + k * np.outer(old, old) + weight * np.outer(new, new)
    grown += np.diag(np.where(missing, weight * np.diag(F @ F.T) / degrees(k, nu0), 0.0))
    return np.asarray(np.linalg.cholesky(grown))


# symmetric


def mirror(A: FloatArray) -> FloatArray:
    """The symmetric matrix whose lower triangle is given."""
    return np.asarray(np.where(np.tri(len(A), dtype=bool), A, A.T))


# structure


def has_grown(slot: int, rules: RuleArrays, settings: Settings) -> bool:
    """Among several rules: has this one won `merge_every` samples since it was last compared? 0: never."""
    won = float(rules.k[slot] - rules.compared[slot])
    return bool(rules.tally[RULES] > 1 and settings.merge_every > 0 and won >= settings.merge_every)


def ward(a: int, b: int, c: FloatArray, variance: FloatArray, k: FloatArray) -> float:
    """How much the fit suffers from uniting two rules: d^2 k_a k_b / (k_a + k_b)."""
    return float(np.sum((c[a] - c[b]) ** 2 / (variance[a] + variance[b])) * k[a] * k[b] / (k[a] + k[b]))


def ward_pair(c: FloatArray, variance: FloatArray, k: FloatArray) -> tuple[int, int]:
    """The pair that costs least."""
    return min(combinations(range(len(c)), 2), key=lambda pair: ward(pair[0], pair[1], c, variance, k))


# descent


def add_rows(C: FloatArray, A: FloatArray, out: FloatArray) -> FloatArray:
    """Out + C A."""
    return np.asarray(out + C @ A)


def curvature(W: FloatArray, H: FloatArray) -> FloatArray:
    """W H."""
    return np.asarray(W @ H)


def add_coupling(W: FloatArray, B: FloatArray, beta: float, out: FloatArray) -> FloatArray:
    """Out + beta B W, the last column as it was."""
    coupled = out + beta * B @ W
    coupled[:, -1] = out[:, -1]
    return np.asarray(coupled)


def proximal_point(
    ahead: FloatArray, slope: FloatArray, target: FloatArray, penalty: FloatArray, alpha: float, L: float
) -> FloatArray:
    """Eq. (16), entry by entry; the intercept feels no alpha."""
    moved = ahead - (slope - target + ahead @ np.diag(penalty)) / L
    for b in range(len(moved)):
        for j in range(moved.shape[1] - 1):
            moved[b, j] = soft(moved[b, j], alpha / L)
    return np.asarray(moved)


def uphill(ahead: FloatArray, new: FloatArray, W: FloatArray) -> bool:
    """Is the angle between the step from `ahead` and the step from W more than a right one?"""
    return bool(np.sum((ahead - new) * (new - W)) > 0.0)


def go_on(new: FloatArray, momentum: float, W: FloatArray) -> tuple[FloatArray, float, float]:
    """Where the momentum leads, and the squared norms of the step and of `new`."""
    return new + momentum * (new - W), float(np.linalg.norm(new - W) ** 2), float(np.linalg.norm(new) ** 2)


def descend(
    H: FloatArray,
    target: FloatArray,
    penalty: FloatArray,
    B: FloatArray,
    alpha: float,
    beta: float,
    L: float,
    tolerance: float,
    most: int,
    W: FloatArray,
) -> FloatArray:
    """The end of the accelerated walk of one pair (alpha, beta) from W."""
    ahead, time = W, 1.0
    for _ in range(most):
        new = proximal_point(ahead, add_coupling(ahead, B, beta, curvature(ahead, H)), target, penalty, alpha, L)
        time = 1.0 if uphill(ahead, new, W) else time
        after = (1.0 + np.sqrt(1.0 + 4.0 * time**2)) / 2.0
        ahead, change, size = go_on(new, (time - 1.0) / after, W)
        W, time = new, after
        if change <= tolerance**2 * max(1.0, size):
            break
    return W
