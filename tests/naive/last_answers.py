"""Twin of `stages.last_answers.loops`: every label remembers all its answers, with the residuals after each of them.

All numbers of the method are written out.
"""

from dataclasses import dataclass, field
from math import exp, log

import numpy as np

from evolabel.typing import FloatArray
from naive.members import NaiveLinear, standard_scores


def sigma(odds: float) -> float:
    """The logistic function."""
    return 1.0 / (1.0 + exp(-odds))


def by_losses(losses: list[list[float]], one_weight: bool) -> list[list[float]]:
    """Weights of the candidates of every label by their losses; all but the first have a handicap of a tenth."""
    if one_weight:
        losses = [[sum(of) / len(losses) for of in zip(*losses, strict=True)]] * len(losses)
    weights = []
    for plain, *others in losses:
        worse = [plain, *(1.1 * other for other in others)]
        raw = [exp(-40.0 * (loss - min(worse)) / (min(worse) + 0.001)) for loss in worse]
        weights.append([part / sum(raw) for part in raw])
    return weights


@dataclass
class Mean:
    """Means of squared errors, of which old ones fade beyond a weight of 200."""

    values: list[float]
    n: float = 0.0

    def add(self, errors: list[float], g: float) -> None:
        """Add the squares of `errors` of weight g."""
        self.n = min(self.n + g, 200.0)
        self.values = [v + g / self.n * (e * e - v) for v, e in zip(self.values, errors, strict=True)]


@dataclass
class Counts:
    """Answers and positives after an answer v at an age."""

    n: float = 0.0
    positives: float = 0.0

    def add(self, y: float, g: float, memory: float) -> None:
        """Fade both, and add the answer y of weight g."""
        self.n, self.positives = (
            (1.0 - g / memory) * self.n + g,
            (1.0 - g / memory) * self.positives + g * y,
        )


@dataclass
class NaiveAge:
    """What answers of one age have meant for one label."""

    evidence: list[float] = field(default_factory=lambda: [0.0, 0.0])
    slopes: FloatArray = field(default_factory=lambda: np.zeros(3))
    counts: list[Counts] = field(default_factory=lambda: [Counts(), Counts()])
    losses: Mean = field(default_factory=lambda: Mean([0.1, 0.1, 0.1]))


@dataclass
class NaiveLabel:
    """The answers to one label: {row: (answer, residuals)}, and what they have meant, by age."""

    answers: dict[int, tuple[int, FloatArray]] = field(default_factory=dict)
    ages: list[NaiveAge] = field(default_factory=lambda: [NaiveAge() for _ in range(3)])
    quick: Mean = field(default_factory=lambda: Mean([0.1, 0.1]))

    @property
    def in_runs(self) -> bool:
        """Whether it has 15 % of positives or more, or these follow each other more often than by chance."""
        off, on = self.ages[0].counts
        share = (off.positives + on.positives) / max(1.0, off.n + on.n)
        return share >= 0.15 or on.positives > on.n * share + 2.0 * (on.n * share) ** 0.5 + 1.0


class NaiveLastAnswers:
    """The last answers to K labels in rows of p features."""

    def __init__(self, p: int, K: int, *, exclusive: bool = False) -> None:
        self.labels = [NaiveLabel() for _ in range(K)]
        self.quick = NaiveLinear(p, K)
        self.shared_evidence, self.shared_counts = np.zeros((3, 2)), [[Counts(), Counts()] for _ in range(3)]
        self.row = 0
        self.exclusive, self.one_weight = exclusive, exclusive and K > 2

    def in_front(self, x: FloatArray, f: FloatArray) -> FloatArray:
        """The outputs mixed with those of the quick member."""
        weights = by_losses([label.quick.values for label in self.labels], self.one_weight)
        quick = self.quick.answer(x)
        return np.array([w[0] * min(max(a, 0.0), 1.0) + w[1] * q for w, a, q in zip(weights, f, quick, strict=True)])

    def candidates(self, b: int, age: int, of: int, f: float) -> list[float]:
        """The mixture f itself, the output by evidence, and that by counts, after the answer in row `of`."""
        v, R = self.labels[b].answers[of]
        k = min(age, 3) - 1
        known, shared = self.labels[b].ages[k], self.shared_counts[k][v]
        cut = min(max(f, 0.01), 0.99)
        g1 = sigma(log(cut / (1.0 - cut)) + known.evidence[v] + self.shared_evidence[k, v] + float(known.slopes @ R))
        mean = shared.positives / shared.n if shared.n > 0.0 else 0.5
        return [f, g1, (known.counts[v].positives + 5.0 * mean) / (known.counts[v].n + 5.0)]

    def answer(self, x: FloatArray, f: FloatArray, follows: int = 1) -> FloatArray:
        """The outputs of the row that comes `follows` rows after the last one; f are those in front of this stage."""
        mixed, out, now = self.in_front(x, f), f.copy(), self.row + follows
        most = max(label.quick.n for label in self.labels)
        for b, label in enumerate(self.labels):
            near = [age for age in (1, 2, 3, 4) if now - age in label.answers]
            if near and (most if self.exclusive else label.quick.n) >= 100.0 and (self.exclusive or label.in_runs):
                k = min(near[0], 3) - 1
                weights = by_losses([each.ages[k].losses.values for each in self.labels], self.one_weight)[b]
                found = self.candidates(b, near[0], now - near[0], float(mixed[b]))
                out[b] = float(np.dot(weights, found))
        return out

    def learn(self, x: FloatArray, y: FloatArray, g: FloatArray, f: FloatArray, weight: float) -> None:
        """Learn the answers y of weights g; `weight` is that of the row."""
        self.row += 1
        known = [b for b in range(len(y)) if not np.isnan(y[b]) and g[b] > 0.0]
        mixed, quick, steps = self.in_front(x, f), self.quick.answer(x), np.zeros((3, 2))
        for b in known:
            label = self.labels[b]
            for age in (1, 2, 3, 4):
                if self.row - age in label.answers:
                    self.learn_after(b, age, float(y[b]), float(g[b]), float(mixed[b]), steps)
            label.quick.add([y[b] - min(max(f[b], 0.0), 1.0), y[b] - quick[b]], float(g[b]))
            before = label.answers[max(label.answers)][1] if label.answers else np.zeros(3)
            d = y[b] - mixed[b]
            after = [before[i] + g[b] * step * (d - before[i]) for i, step in ((1, 0.2), (2, 0.05))]
            label.answers[self.row] = int(y[b]), np.array([d, *after])
        self.shared_evidence += 0.057 / (1.0 + 0.25 * 0.057 * (len(y) - 1)) * steps
        if known:
            s = standard_scores(x, self.quick.mean, self.quick.variance)
            for b in known:
                step = 0.1 * g[b]
                self.quick.W[b] += step / (1.0 + 0.25 * step * (s @ s)) * (y[b] - quick[b]) * s
            self.quick.learn_scores(x, min(weight, 1.0))

    def learn_after(self, b: int, age: int, y: float, g: float, f: float, steps: FloatArray) -> None:
        """Learn the answer y of weight g by the one that came `age` rows before; `steps` sums errors of all labels."""
        v, R = self.labels[b].answers[self.row - age]
        k = min(age, 3) - 1
        known, found = self.labels[b].ages[k], self.candidates(b, age, self.row - age, f)
        known.losses.add([y - candidate for candidate in found], g)
        u = g * (y - found[1])
        known.evidence[v] += 0.133 * u
        known.slopes = known.slopes + 0.19 * u * R
        steps[k, v] += u
        known.counts[v].add(y, g, 1000.0)
        self.shared_counts[k][v].add(y, g, 1000.0 * len(self.labels))
