"""The paper's profile from the first row to the last, against EFC-ML in numpy, written to be read beside the paper.

Matrices have the paper's letters, transposed where the code's are: W (K, p + 1), one row per label, the intercept last.
Deviations from the printed formulas are marked; docs/explanations/where-we-leave-the-paper.md has the reason of each.
"""

from itertools import product

import numpy as np
import pytest

from evolabel.paper import PaperClassifier
from evolabel.streams import DriftingStream

PRIOR_OF_A_LABEL = 0.1  # variance of a label in the product space before any sample
SHRINK = 10.0  # a correlation of n samples is multiplied by n / (n + 10)
ALIKE, CONFLICT, MOST_CONFLICTS, WIDER = 0.95, 0.5, 0.2, 1.5  # when two rules merge
NEGLIGIBLE = 1e-12  # membership below which a rule does not learn
LOOSE = 1.5  # a step bound this much larger than the last exact one is computed anew


class Rule:
    """One rule: centre, scatter matrix and support in (x, y); H, G, label moments and weights of its consequents."""

    def __init__(self, centre, p, penalty):
        d, q, K = len(centre), p + 1, len(centre) - p
        self.c, self.scatter, self.k = centre.copy(), np.zeros((d, d)), 1.0
        self.H, self.G, self.W = np.zeros((q, q)), np.zeros((K, q)), np.zeros((K, q))
        self.mass, self.squares = 0.0, 0.0  # sums of psi and of its squares
        self.mean, self.Q = np.zeros(K), np.zeros((K, K))
        self.bound = self.exact = penalty.max()

    def covariance(self, prior):
        """Section 3.1; deviation: the prior counts as nu0 = 2p samples, so that it does not fade after the first."""
        nu0 = 2 * (len(prior) - len(self.mean))
        return (nu0 * np.diag(prior) + self.scatter) / (nu0 + self.k - 1.0)

    def move(self, s):
        """The winner takes the sample s in: exact recursions of centre and scatter."""
        e = s - self.c
        self.scatter += self.k / (self.k + 1.0) * np.outer(e, e)
        self.c += e / (self.k + 1.0)
        self.k += 1.0

    def add_labels(self, y, psi):
        """Eqs. (20)-(23): weighted means, variances and covariances of the labels, all pairs at once."""
        before = self.mean.copy()
        self.mass += psi
        self.squares += psi**2
        self.mean += psi / self.mass * (y - before)  # (20)
        self.Q += psi * np.outer(y - before, y - self.mean)  # (21), (23)

    def pool(self, other):
        """Become the rule of both samples; deviation: precisions are not averaged."""
        k, e, mass, d = self.k + other.k, other.c - self.c, self.mass + other.mass, other.mean - self.mean
        self.scatter += other.scatter + self.k * other.k / k * np.outer(e, e)
        self.c += other.k / k * e
        if mass > 0.0:
            self.Q += other.Q + self.mass * other.mass / mass * np.outer(d, d)
            self.mean += other.mass / mass * d
        self.k, self.mass, self.squares = k, mass, self.squares + other.squares
        self.H += other.H
        self.G += other.G


class EFCML:
    """EFC-ML as printed, with the mended step length, coupling, intercepts, ridge and prior."""

    def __init__(self, fac, alpha, beta, T=1.0):
        self.fac, self.alpha, self.beta, self.T = fac, alpha, beta, T
        self.rules, self.n_merges = [], 0

    # ---------------------------------------------------------------- sections 2 and 3.1: answers and rules

    def scaled(self, X):
        return np.clip((X - self.centre) / self.spread, -4.0, 4.0)

    def distances(self, s):
        """Squared Mahalanobis distances of s, of the features alone or with the labels, to all rules, eq. (3)."""
        n = len(s)
        found = []
        for rule in self.rules:
            e, S = s - rule.c[:n], rule.covariance(self.prior)[:n, :n]
            found.append(e @ np.linalg.solve(S, e))
        return np.array(found)

    def memberships(self, z):
        """Psi of eq. (2), from mu of eq. (3), in the log domain."""
        exponents = -0.5 * self.distances(z) / self.T
        mu = np.exp(exponents - exponents.max())
        return mu / mu.sum()

    def answer(self, z):
        """Eq. (2) with the hyperplanes of eq. (1)."""
        psi, r = self.memberships(z), np.append(z, 1.0)
        return sum(weight * (rule.W @ r) for weight, rule in zip(psi, self.rules, strict=True))

    def is_novel(self, s):
        """Eq. (5) in the product space, m = 4; the winner and whether the sample is beyond its radius."""
        if not self.rules:
            return None, True
        ma2 = self.distances(s)
        win = int(np.argmin(ma2))
        radius = self.fac * len(s) ** (1.0 / np.sqrt(2.0)) * (1.0 - 1.0 / (self.rules[win].k + 1.0)) ** -4
        return win, ma2[win] > radius**2

    def evolve(self, s):
        """A new rule at s, or the winner moves. Returns the rule that has moved, None at a birth."""
        win, novel = self.is_novel(s)
        if novel:
            born = Rule(s, self.p, self.penalty)
            if win is not None:
                born.W = self.rules[win].W.copy()  # (28)
            self.rules.append(born)
            return None
        self.rules[win].move(s)
        return self.rules[win]

    def merge(self, moved):
        """Merge a rule that has moved with the nearest one, if they are similar, not too wide together, and agree."""
        p, others = self.p, [rule for rule in self.rules if rule is not moved]
        if moved is None or not others:
            return
        S = moved.covariance(self.prior)[:p, :p]
        gaps = [rule.c[:p] - moved.c[:p] for rule in others]
        other = others[int(np.argmin([gap @ np.linalg.solve(S, gap) for gap in gaps]))]
        a, b = (other, moved) if other.k > moved.k else (moved, other)
        share, e = b.k / (a.k + b.k), b.c - a.c
        Sa, Sb = (rule.covariance(self.prior)[:p, :p] for rule in (a, b))
        S, x = (Sa + Sb) / 2.0, e[:p]
        logs = [np.linalg.slogdet(matrix)[1] for matrix in (S, Sa, Sb)]
        bhattacharyya = x @ np.linalg.solve(S, x) / 8.0 + (logs[0] - (logs[1] + logs[2]) / 2.0) / 2.0
        along = (1.0 - share) * x @ Sa @ x + share * x @ Sb @ x + share * (1.0 - share) * (x @ x) ** 2
        if np.exp(-bhattacharyya / p) <= ALIKE or along > WIDER**2 * max(x @ Sa @ x, x @ Sb @ x):
            return
        r = np.append(a.c[:p] + share * x, 1.0)
        spread = np.sqrt((1.0 - share) * np.diag(Sa) + share * np.diag(Sb))

        def apart(gap):
            return np.abs(gap @ r) + np.linalg.norm(gap[:, :-1] * spread, axis=1)

        by_ls = [np.linalg.solve(rule.H + np.diag(self.penalty), rule.G.T).T for rule in (a, b)]
        if np.mean(apart(by_ls[0] - by_ls[1]) > CONFLICT) > MOST_CONFLICTS:
            return
        rho = np.maximum(0.0, 1.0 - apart(b.W - a.W))  # deviation: by outputs, not by the dihedral angle
        a.W += share * rho[:, None] * (b.W - a.W)  # (29)
        a.pool(b)
        self.rules.remove(b)
        self.tighten(a)
        self.n_merges += 1

    # ---------------------------------------------------------------- section 3.2: consequents

    def coupling(self, rule):
        """B from eqs. (8), (9); deviation: A = 1 - corr is indefinite, so a multiple of I is added, and scaled."""
        n = rule.mass**2 / rule.squares
        deviation = np.sqrt(np.diag(rule.Q))
        varies = deviation**2 > 1e-12 * rule.mass
        corr = np.eye(len(deviation))
        for c, d in product(np.flatnonzero(varies), repeat=2):
            if c != d:
                corr[c, d] = n / (n + SHRINK) * np.clip(rule.Q[c, d] / (deviation[c] * deviation[d]), -1.0, 1.0)
        A = 1.0 - corr
        A[np.diag_indices_from(A)] = np.abs(corr).sum(1).max()
        return A / np.abs(A).sum(1).max()

    def gradient(self, rule, W, B):
        """Eq. (12), with the ridge; deviation: the coupling spares the intercept."""
        slope = W @ rule.H - rule.G + self.penalty * W
        slope[:, :-1] += self.beta * B @ W[:, :-1]
        return slope

    def step(self, rule, W, B, L):
        """Eqs. (16), (17); deviation: the soft threshold spares the intercept, and the step is 1 / L."""
        X = W - self.gradient(rule, W, B) / L
        shrunk = np.sign(X) * np.maximum(np.abs(X) - self.alpha / L, 0.0)
        shrunk[:, -1] = X[:, -1]
        return shrunk

    def learn_batch(self, rule, Z, Y, psi):
        """Algorithm 1: weighted least squares, eq. (18), then proximal steps until nothing changes."""
        R = np.column_stack([Z, np.ones(len(Z))])
        rule.H, rule.G = (R * psi[:, None]).T @ R, (Y * psi[:, None]).T @ R  # Q of eq. (11)
        for y, weight in zip(Y, psi, strict=True):
            rule.add_labels(y, weight)
        rule.W = np.linalg.solve(rule.H + np.diag(self.penalty), rule.G.T).T  # (18)
        self.tighten(rule)
        if self.alpha == self.beta == 0.0:
            return
        B = self.coupling(rule)
        L = rule.exact + self.beta * np.linalg.eigvalsh(B)[-1]  # deviation from eq. (14)
        ahead, t = rule.W, 1.0
        for _ in range(20_000):
            new = self.step(rule, ahead, B, L)
            change = new - rule.W
            t = 1.0 if np.sum((ahead - new) * change) > 0.0 else t
            after = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0
            ahead, t = new + (t - 1.0) / after * change, after
            rule.W = new
            if np.sum(change**2) <= 1e-16 * max(1.0, np.sum(new**2)):
                break

    def learn_row(self, rule, r, y, psi):
        """Algorithm 2: a least squares step, then one proximal step."""
        P = np.linalg.inv(rule.H + np.diag(self.penalty))
        gain = psi * P @ r / (1.0 + psi * r @ P @ r)  # (26), without 1 / psi
        rule.W += np.outer(y - rule.W @ r, gain)  # (25)
        rule.H += psi * np.outer(r, r)  # (27) is its inverse
        rule.G += psi * np.outer(y, r)  # (24)
        if self.alpha == self.beta == 0.0:
            return
        if self.beta > 0.0:
            rule.add_labels(y, psi)
        rule.bound += psi * r @ r  # at least lmax(H + psi r r')
        B = self.coupling(rule) if self.beta > 0.0 else np.zeros((len(y), len(y)))
        rule.W = self.step(rule, rule.W, B, rule.bound + self.beta)

    def tighten(self, rule):
        rule.bound = rule.exact = np.linalg.eigvalsh(rule.H + np.diag(self.penalty))[-1]

    # ---------------------------------------------------------------- the batch and the stream

    def fit(self, X, Y):
        """The batch phase: scaling, rules in one pass, then the consequents of all of them."""
        self.p = X.shape[1]
        self.centre, self.spread = X.mean(0), X.std(0)
        Z = self.scaled(X)
        R = np.column_stack([Z, np.ones(len(Z))])
        ridge = 2.0 * np.linalg.norm(R, 2) ** 2 / 1e8  # keeps the condition number of eq. (18) below 1e8
        self.penalty = ridge * np.append(np.ones(self.p), 0.01)
        self.prior = np.append(np.ones(self.p), np.full(Y.shape[1], PRIOR_OF_A_LABEL))
        for z, y in zip(Z, Y, strict=True):
            self.merge(self.evolve(np.append(z, y)))  # no consequents yet: all of them agree
        psi = np.array([self.memberships(z) for z in Z])
        for rule, weights in zip(self.rules, psi.T, strict=True):
            self.learn_batch(rule, Z, Y, weights)
        return self

    def test_then_train(self, X, Y):
        """Every row is answered, makes or moves a rule, and is learned by all consequents; then rules merge."""
        outputs = []
        for z, y in zip(self.scaled(X), Y, strict=True):
            outputs.append(self.answer(z))
            psi = self.memberships(z)
            moved = self.evolve(np.append(z, y))
            if moved is None:
                psi = self.memberships(z)  # deviation: the new rule learns the sample that made it
            for rule, weight in zip(self.rules, psi, strict=True):
                if weight > NEGLIGIBLE:  # deviation: a proximal step would move a rule that has no part in the sample
                    self.learn_row(rule, np.append(z, 1.0), y, weight)
                if rule.bound > LOOSE * rule.exact:
                    self.tighten(rule)
            self.merge(moved)
        return np.array(outputs)


SETTINGS = [(0.45, 0.0, 0.0), (0.45, 0.1, 0.0), (0.6, 0.0, 1.0), (0.9, 1.0, 10.0), (0.5, 0.02, 50.0), (0.3, 0.1, 1.0)]


@pytest.mark.parametrize(("fac", "alpha", "beta"), SETTINGS)
def test_the_profile_is_the_paper_in_numpy(fac, alpha, beta):
    X, Y = DriftingStream(n_features=4, n_labels=3, drift_every=60, seed=1).take(200)
    paper = EFCML(fac, alpha, beta).fit(X[:100], Y[:100])
    ours = PaperClassifier(vigilance=fac, alpha=alpha, beta=beta).fit(X[:100], Y[:100])
    assert ours.n_rules_ == len(paper.rules)
    np.testing.assert_allclose(ours.decision_function(X), [paper.answer(z) for z in paper.scaled(X)], atol=1e-6)
    in_batch = paper.n_merges
    np.testing.assert_allclose(
        ours.test_then_train(X[100:], Y[100:]), paper.test_then_train(X[100:], Y[100:]), atol=1e-6
    )
    assert ours.n_rules_ == len(paper.rules) > 1
    assert sum(event.kind == "merge" for event in ours.events_) == paper.n_merges
    assert fac >= 0.6 or 0 < in_batch < paper.n_merges
