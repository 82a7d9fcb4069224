"""Twin of `stages.drift.loops.follow` and `stages.drift.stage`: all members of a rule base whose rules stay.

Memberships come from the model. Everything else is written out: full matrices, no inverse is kept, nothing is pending.
"""

import copy
from math import exp, log, sqrt

import numpy as np

from evolabel.typing import FloatArray
from naive.alarm import NaiveAlarm, NaivePositives, odds
from naive.members import NaiveLinear, NaiveMixer
from naive.pace import NaiveAnswers


class NaiveSums:
    """H and G of all slots of one member, and its answers."""

    def __init__(self, H: FloatArray, G: FloatArray, penalty: FloatArray, block: int = 0) -> None:
        self.H, self.G, self.penalty = H.copy(), G.copy(), penalty
        self.block = [block] * len(H)

    def answer(self, z: FloatArray, psi: FloatArray) -> FloatArray:
        """Mean of the rules, each shrunk towards the global model of this member."""
        r, (lam, gamma) = np.append(z, 1.0), self.penalty
        W0 = np.linalg.solve(self.H[0] + np.diag(lam), self.G[0].T)
        f = np.zeros(len(self.G[0]))
        for slot in 1 + np.flatnonzero(psi):
            W = np.linalg.solve(self.H[slot] + np.diag(gamma), self.G[slot].T + gamma[:, None] * W0)
            f += psi[slot - 1] * (r @ W)
        return f

    def learn(self, z: FloatArray, psi: FloatArray, y: FloatArray, weight: float) -> None:
        """Add the row to the global model and the active rules."""
        r = np.append(z, 1.0)
        for slot, part in enumerate([1.0, *psi]):
            self.H[slot] += weight * part * np.outer(r, r)
            self.G[slot] += weight * part * np.outer(y, r)

    def fade(self, slot: int, block: int) -> None:
        """Half an e-fold for every block that the slot has missed."""
        factor = exp(-(block - self.block[slot]) / 2.0)
        self.H[slot] *= factor
        self.G[slot] *= factor
        self.block[slot] = block


class NaiveFollower:
    """Slow, fast and linear member, mixer and alarms."""

    def __init__(self, slow: NaiveSums, linear: NaiveLinear, mixers: list[NaiveMixer], memory: int, now: int) -> None:
        self.slow, self.linear, self.mixers, self.memory, self.now = slow, linear, mixers, memory, now
        self.fast: NaiveSums | None = None
        self.alarms = [(NaiveAlarm(), NaiveAlarm()) for _ in mixers]
        self.positives = [NaivePositives() for _ in mixers]
        self.share = [(0.0, 0.0)] * len(mixers)
        self.reversal = [[0.0] * len(mixers), [0.0] * len(mixers)]
        self.reversed: list[tuple[str, int, int]] = []
        self.drifting: set[int] = set()
        self.drifting_before: set[int] = set()  # before the row
        self.drifts: list[int] = []  # rows at which those began that go on
        self.turned: set[tuple[str, int]] = set()
        self.cut: int | None = None
        self.renewed, self.slow_start = 0, 0
        self.gains, self.independent, self.gain, self.variance = 0, 0.0, 0.0, 0.0
        self.answers = [NaiveAnswers() for _ in mixers]
        self.lag, self.row = 0.0, (1.0, 1.0)  # independent answers and pace of the last row
        self.log: list[tuple[str, int]] = []

    def answer(self, x: FloatArray, z: FloatArray, psi: FloatArray) -> FloatArray:
        """Outputs of slow, fast and linear member, and of their mixture, (4, K)."""
        fast = np.zeros(len(self.mixers)) if self.fast is None else self.fast.answer(z, psi)
        members = np.array([self.slow.answer(z, psi), fast, self.linear.answer(x)])
        weights = np.array([mixer.weights(self.fast is not None) for mixer in self.mixers]).T
        return np.vstack([members, (weights * members).sum(axis=0)])

    def learn(self, x: FloatArray, z: FloatArray, psi: FloatArray, y: FloatArray, weight: float) -> FloatArray:
        """Learn a row; return what was answered before."""
        F = self.answer(x, z, psi)
        self.now += 1
        self.lag += 1.0 - self.row[1]
        raised = [self.watch(b, F[:, b], y[b], weight) for b in range(len(y))]
        self.slow.learn(z, psi, y, weight)
        self.row = self.mean_of_labels()
        due = any(raised) and (self.cut is None or self.time - self.cut >= self.memory // 2)
        better = False
        if self.fast is not None:
            better = self.compare(np.clip(F, 0.0, 1.0), y)
            for slot in [0, *(1 + np.flatnonzero(psi)).tolist()]:
                self.fast.fade(slot, self.block)
            self.fast.learn(z, psi, y, weight)
        self.linear.learn(x, y, weight, np.ones(len(y)), self.row[1])
        self.settle(due, better)
        return F

    @property
    def block(self) -> int:
        """Time is counted in halves of the memory."""
        return max(self.time - 1, 0) // (self.memory // 2)

    @property
    def time(self) -> int:
        """Rows, of which some count less than one."""
        return self.now - int(self.lag)

    def mean_of_labels(self) -> tuple[float, float]:
        """Independent answers and pace of a row; labels weigh by how much they vary."""
        spreads = [answers.shares[-1] * (1.0 - answers.shares[-1]) + 1e-9 for answers in self.answers]
        of_labels = np.array([answers.last for answers in self.answers])
        n, pace = np.array(spreads) @ of_labels / sum(spreads)
        return float(n), float(pace)

    def watch(self, b: int, F: FloatArray, y: float, weight: float) -> bool:
        """Mixer, share and alarms of one label; return whether the stream has changed."""
        before = self.answers[b].last[0]
        n_eff, pace = self.answers[b].learn(y)
        for alarm in self.alarms[b]:
            alarm.recount(before, n_eff, min(len(self.answers[b].answers), 1000))
        self.mixers[b].learn(F, y, weight * pace)
        g = min(weight, 1.0)
        n = min(self.share[b][1] + g, 1000.0)
        pi = self.share[b][0] + g / n * (y - self.share[b][0])
        self.share[b] = pi, n
        margin, (of_slow, of_final) = sqrt(2.0 * log(len(self.mixers) + 1)), self.alarms[b]
        losses = (np.clip(F, 0.0, 1.0) - y) ** 2
        positives, calm = self.positives[b], b not in self.drifting_before
        lost = positives.watch(losses[3], y, g, n_eff, pi, self.now, margin, calm=calm)
        g *= n_eff
        slow = of_slow.watch(losses[0], pi * (1.0 - pi), self.now, g, margin, prior=50.0)
        found = positives.are_found()
        final = of_final.watch(losses[3], pi * (1.0 - pi), self.now, g, margin, prior=50.0, found=found)
        for i, loss in enumerate((losses[0 if self.fast is None else 1], losses[2])):
            contrary = odds(loss) / of_final.usual_odds(50.0)
            self.reversal[i][b] = min(max(self.reversal[i][b], 1.0) * (1.0 + g * (contrary - 1.0)), 1e12)
        return slow != "quiet" or final == "raised" or lost

    def compare(self, F: FloatArray, y: FloatArray) -> bool:
        """Losses of slow and fast member, row by row; return whether the slow one must be renewed."""
        gain = float(((F[0] - y) ** 2 - (F[1] - y) ** 2).sum())
        self.gains += 1
        self.independent += self.row[0]
        step = self.row[0] / min(max(self.independent, 1.0), 250.0)
        e = gain - self.gain
        self.gain += step * e
        self.variance = (1.0 - step) * (self.variance + step * e * e)
        sure = self.gain > 3.0 * sqrt(self.variance / min(self.independent, 499.0)) + 0.001 * len(y)
        long = self.time - self.slow_start > 2 * self.memory
        shown = all(self.now - began >= 50 for began in self.drifts)  # a sensor would have left its usual places
        return self.gains % 25 == 0 and self.time - self.renewed >= self.memory // 2 and long and sure and shown

    def settle(self, cut: bool, better: bool) -> None:
        """Start, renew, cut: in this order."""
        if self.fast is None and (cut or self.time >= self.memory):
            self.fast = NaiveSums(self.slow.H, self.slow.G, self.slow.penalty, self.block)
            for mixer in self.mixers:
                mixer.losses[1] = mixer.losses[0]
            self.renewed, self.gains, self.independent, self.gain, self.variance = self.time, 0, 0.0, 0.0, 0.0
            self.log.append(("start", self.time))
        self.reverse()
        if better:
            assert self.fast is not None
            faded = copy.deepcopy(self.fast)  # the fast sums of a rule fade when it fires
            for slot in range(len(faded.H)):
                faded.fade(slot, self.block)
            self.slow = NaiveSums(faded.H, faded.G, faded.penalty)
            for mixer in self.mixers:
                mixer.losses[0] = mixer.losses[1]
            self.renewed, self.slow_start = self.time, self.time - self.memory
            self.gains, self.independent, self.gain, self.variance = 0, 0.0, 0.0, 0.0
            self.log.append(("renewed", self.time))
        if cut:
            assert self.fast is not None
            self.fast.H *= 0.02
            self.fast.G *= 0.02
            self.cut = self.time
            self.log.append(("cut", self.time))

    def reverse(self) -> None:
        """Members that the labels in a drift contradict beyond doubt answer the opposite; a second time needs more."""
        for b in self.drifting:
            for i, member in enumerate(("fast", "linear")):
                if self.reversal[i][b] <= (1e9 if (member, b) in self.turned else 50_000.0):
                    continue
                if member == "linear":
                    self.linear.W[b] *= -1.0
                else:
                    assert self.fast is not None
                    self.fast.G[:, b] = self.fast.H[:, :, -1] - self.fast.G[:, b]
                self.reversal[i][b] = 0.0
                self.turned.add((member, b))
                self.reversed.append((member, b, self.now))
