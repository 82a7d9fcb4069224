"""The forest of answered rows in plain Python: one tree is a nested tuple, all sums are formed anew."""

from math import exp, log, sqrt

import numpy as np

from naive.threshold_trials import bin_edges, codes_of

TREES, PLACES, FADE, BINS, AGES = 60, 127, 0.99, 255, 24


class Draws:
    """The random numbers of the loops."""

    def __init__(self, seed):
        self.state = self.after(seed)

    @staticmethod
    def after(state):
        return (state * 1103515245 + 12345) % 2**31

    def below(self, n):
        self.state = self.after(self.state)
        return self.state * n // 2**31


def sigmoid(x):
    return 1.0 / (1.0 + exp(-x))


def log_odds(share):
    return log((share + 0.01) / (1.01 - share))


def impurity(positive, total):
    return (positive**2 + (total - positive) ** 2) / total


def best_cut(rows, weights, codes, y, features, draws):
    """The feature and the largest code on the left of the cut with the largest gain, or None."""
    total = sum(weights[i] for i in rows)
    positive = sum(weights[i] for i in rows if y[i])
    best, cut, tried, p = 1e-12, None, 0, len(features)
    for q in range(p):
        if tried >= min(30, (p + 1) // 2):
            break
        z = q + draws.below(p - q)
        features[z], features[q] = features[q], features[z]
        j = features[q]
        present = sorted({codes[i][j] for i in rows})
        if len(present) == 1:
            continue
        tried += 1
        for code in present[:-1]:
            left = [i for i in rows if codes[i][j] <= code]
            w, g = sum(weights[i] for i in left), sum(weights[i] for i in left if y[i])
            gain = impurity(g, w) + impurity(positive - g, total - w) - impurity(positive, total)
            if gain > best * (1.0 + 1e-9):
                best, cut = gain, (j, code)
    return cut


def grow(drawn, weights, codes, y, edges, features, draws):
    """A tree as a list of nodes: (feature, edge, left child), or (None, answer, None); breadth first."""
    nodes, waiting = [], [drawn]
    for rows in waiting:
        total, positive = sum(weights[i] for i in rows), sum(weights[i] for i in rows if y[i])
        cut = None
        if 1e-12 < positive < total - 1e-12 and len(waiting) + 2 <= PLACES:
            cut = best_cut(rows, weights, codes, y, features, draws)
        if cut is None:
            nodes.append((None, positive / total, None))
            continue
        j, code = cut
        nodes.append((j, edges[j][code - 1] if code > 0 else -np.inf, len(waiting)))
        waiting.append([i for i in rows if codes[i][j] <= code])
        waiting.append([i for i in rows if codes[i][j] > code])
    return nodes


def reached(nodes, x):
    a = 0
    while nodes[a][0] is not None:
        feature, edge, child = nodes[a]
        a = child + int(x[feature] > edge)
    return a


class NaiveForest:
    """The forest of one label, fitted to rows X with labels y and weights w."""

    def __init__(self, label, X, y, w):
        n, p = X.shape
        ages = 1 + np.arange(n)[::-1] * AGES // n
        edges = [*(bin_edges(column, BINS) for column in X.T), 1 + np.arange(AGES)]
        codes = np.column_stack([*map(codes_of, X.T, edges[:p]), ages])
        X = np.column_stack([X, ages])
        draws, features, self.trees = Draws(7919 * label + n), list(range(p + 1)), []
        votes = [[] for _ in range(n)]
        for _ in range(TREES):
            times = np.zeros(n)
            for _ in range(n):
                times[draws.below(n)] += 1
            drawn = [i for i in range(n) if times[i] > 0]
            weights = times * w
            sides = [sum(weights[i] for i in drawn if y[i] == side) for side in (0, 1)]
            if all(sides):
                weights = [0.5 * weights[i] / sides[int(y[i])] for i in range(n)]
            self.trees.append(grow(drawn, weights, codes, y, edges, features, draws))
            for i in range(n):
                if times[i] == 0:
                    votes[i].append(self.trees[-1][reached(self.trees[-1], X[i])][1])
        self.shares = [np.mean(each) if each else None for each in votes]
        known = [i for i in range(n) if votes[i]]
        self.calibration = calibration([log_odds(self.shares[i]) for i in known], y[known], np.minimum(w[known], 1.0))

    def answer(self, x):
        x = np.append(x, 1)  # the youngest
        share = np.mean([nodes[reached(nodes, x)][1] for nodes in self.trees])
        return self.calibrated(share)

    def calibrated(self, share):
        factor, shift = self.calibration
        return sigmoid(factor * log_odds(share) + shift)


def calibration(x, y, w):
    """Factor and shift of the log-odds x by penalised logistic regression."""
    Z, theta, start = np.c_[x, np.ones(len(x))], np.array([1.0, 0.0]), np.array([1.0, 0.0])
    ridge = np.diag([1.0, 0.01])
    for _ in range(25):
        q = 1.0 / (1.0 + np.exp(-Z @ theta))
        gradient = Z.T @ (w * (q - y)) + ridge @ (theta - start)
        step = np.linalg.solve(Z.T @ (Z * (w * q * (1.0 - q))[:, None]) + ridge, gradient)
        theta = theta - np.clip(step, -2.0, 2.0)
        if np.abs(step).max() < 1e-4:
            break
    return max(theta[0], 0.05), theta[1]


class NaiveGate:
    """Sums by which the answers g of a forest replace the outputs f."""

    def __init__(self):
        self.product = self.squares = self.gain = self.gain_squares = 0.0

    @property
    def sums(self):
        return np.array([self.product, self.squares, self.gain, self.gain_squares])

    def learn(self, f, g, y, w):
        d = g - f
        say = max(0.25, FADE * self.product / (FADE * self.squares + 0.5))
        say = min(1.0, say)
        gain = (y - f) ** 2 - (y - f - say * d) ** 2
        self.product = FADE * self.product + w * d * (y - f)
        self.squares = FADE * self.squares + w * d * d
        self.gain = FADE * self.gain + w * gain
        self.gain_squares = FADE * self.gain_squares + w * gain * gain


def least_squares(sums):
    return float(np.clip(sums[0] / (sums[1] + 0.5), 0.0, 1.0))


def errors(sums):
    return sums[2] / sqrt(sums[3] + 0.05)


def weights(gates):
    """Weights of the forests of labels by the sums of their `gates`, None where there is no forest."""
    pool = sum((sums for sums in gates if sums is not None), np.zeros(4))
    shared = least_squares(pool)
    all_open = shared > 0.75 and errors(pool) > 1.0
    return [0.0 if sums is None else weight(sums, shared if all_open else None, len(gates)) for sums in gates]


def weight(sums, shared, n_labels):
    """Weight of one forest; `shared`: that of all together, None if it does not count."""
    if shared is not None and errors(sums) > -1.0:
        return float(np.clip((sums[0] + 2.0 * shared) / (sums[1] + 2.0), 0.0, 1.0))
    return least_squares(sums) if errors(sums) > 1.0 + 0.4 * max(0.0, log(n_labels / 3)) else 0.0
