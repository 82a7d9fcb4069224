"""Twin of `stages.decisions.loops`: sets in a dictionary, row by row."""

import numpy as np

from evolabel.stages.decisions.loops import FIRST_SHARE


class NaiveSets:
    """Sets in a dictionary, in the order in which they came; sums of logarithms as in docs/explanations/trust.md."""

    def __init__(self, n_labels, most):
        self.most, self.counts = most, {}
        self.on, self.rows, self.won, self.apart = np.full(n_labels, FIRST_SHARE), 1.0, 0.0, 0.0

    def best(self, p):
        shares, scores = self.on / self.rows, []
        for key, n in self.counts.items():
            y = np.array(key) > 0.5
            chance = np.log(np.where(y, p, 1.0 - p)).sum()
            by_chance = np.where(y, shares, 1.0 - shares).prod()
            scores.append(chance + 0.25 * np.log(n / self.rows / by_chance))
        return None if not scores else np.array(list(self.counts)[int(np.argmax(scores))])

    def decide(self, f, p, threshold):
        plain, best = (f >= threshold).astype(float), self.best(p)
        return best if best is not None and self.won > np.sqrt(self.apart) else plain

    def learn(self, f, p, y, w, threshold):
        if np.isnan(y).any() or w == 0.0:
            return
        plain, best = (f >= threshold).astype(float), self.best(p)
        gain = 0.0 if best is None else float((best == y).all()) - float((plain == y).all())
        once = min(w, 1.0)
        self.won += once * (gain - self.won / 500)
        self.apart += once * (abs(gain) - self.apart / 500)
        key = tuple(y)
        if key not in self.counts and len(self.counts) == self.most:
            rarest = min(self.counts, key=self.counts.get)
            self.counts = {(key if k == rarest else k): (0.0 if k == rarest else n) for k, n in self.counts.items()}
        self.counts[key] = self.counts.get(key, 0.0) + min(w, 10.0)
        self.on += min(w, 10.0) * y
        self.rows += min(w, 10.0)
