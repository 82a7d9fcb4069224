"""Twins of `stages.threshold_rules.loops`: a tree is an object made of nodes, the ring a list of all rows.

All numbers of the study are written out. What a trial, an edge or a bin is stands in `naive.threshold_trials`.
"""

from dataclasses import dataclass, field
from math import log, sqrt

import numpy as np

from evolabel.typing import FloatArray
from naive import threshold_trials as trials
from naive.alarm import NaiveAlarm, NaivePositives, odds
from naive.pace import NaiveAnswers
from naive.threshold_tree import Node, clip


def cut(f: float) -> float:
    """Outputs of the members are cut to [-1, 2]; NaN counts as one half."""
    return 0.5 if np.isnan(f) else clip(f, -1.0, 2.0)


@dataclass
class NaiveGate:
    """Fading sums of gains and decisions, and the weight of the tree."""

    gain: float = 0.0
    squares: float = 0.0
    product: float = 0.0
    spread: float = 0.0
    is_open: bool = False
    weight: float = 0.0
    won: float = 0.0
    changed: float = 0.0

    def vector(self) -> FloatArray:
        """The numbers in the order of the kernel."""
        return np.array([*vars(self).values()], float)

    def mixed(self, f: float, g: float) -> float:
        """Output that is compared with f: a tree that is not used is tried with a quarter."""
        e = clip(f, 0.0, 1.0)
        return e + max(0.25, self.weight) * (g - e)

    def turn(self, gain: float, won: float, w: float, errors: float, pace: float, share: float = 1.0) -> None:
        """Open beyond doubt, close at a third of it or when decisions get worse; a row may pass less time than one.

        `share` is that of positives: a rare label opens at half of it.
        """
        fade, w = 1.0 - 0.001 * pace, w * pace
        self.gain = fade * self.gain + w * gain
        self.squares = fade * self.squares + w * gain**2
        self.won = fade * self.won + w * won
        self.changed = fade * self.changed + w * abs(won)
        z, decisions = self.gain / sqrt(self.squares + 0.05), self.won / sqrt(self.changed + 1.0)
        sooner = max(1.5, 0.24 * errors**2)
        sooner = max(1.0, sooner / 2.0) if share < 0.15 else sooner
        if (z > errors and (decisions >= 1.0 or self.changed < 0.5)) or (z > sooner and decisions >= sooner):
            self.is_open = True
        elif z < errors / 3.0 or decisions < -0.5:
            self.is_open = False

    def learn_tree_weight(self, f: float, g: float, y: float, w: float, pace: float) -> None:
        """Least squares of y - f on g - f, shrunk by one half, cut to [0, 1]."""
        fade, w = 1.0 - 0.001 * pace, w * pace
        self.product = fade * self.product + w * (g - f) * (y - f)
        self.spread = fade * self.spread + w * (g - f) ** 2
        self.weight = clip(self.product / (self.spread + 0.5), 0.0, 1.0)


def is_wrong(output: float, y: float) -> bool:
    """The decision at one half is not the label."""
    return (output >= 0.5) != (y > 0.5)


def learn_path(root: Node, x: FloatArray, f: float, y: float, w: float) -> None:
    """Sums of all nodes on the way fade over 2,000 rows; inner ones compare their subtree with themselves as a leaf."""
    answer = root.leaf(x).mean()
    for node in root.path(x):
        node.since += 1.0
        if node.children:
            gain = (y - node.mean()) ** 2 - (y - answer) ** 2
            node.gains = 0.999 * node.gains + np.array([w * gain, w * gain**2, 1.0])
        node.sums = (1.0 - 1.0 / 2000.0) * node.sums + w * np.array([1.0, f, f * f, y, f * y])


def prune(root: Node) -> bool:
    """Subtrees that gain less than half a standard error become leaves; return whether any did.

    They need 100 rows, and so many that 4 positives, or negatives if these are rarer, are to be expected.
    """
    n, share = root.gains[2], root.mean()
    seen = n > 100.0 and n * min(share, 1.0 - share) > 4.0
    if root.children and seen and root.gains[0] < 0.5 * sqrt(root.gains[1]):
        root.become_leaf()
        root.since, root.wait, root.gains = 0.0, 100.0, np.zeros(3)
        return True
    return max((prune(child) for child in root.children), default=False)


@dataclass
class NaiveLabel:
    """Tree, gate, alarm, and odds against the tree, of one label.

    `since`: first row after a drift, `complete`: of all its rare positives.
    """

    root: Node = field(default_factory=lambda: Node(0, wait=100.0))
    gate: NaiveGate = field(default_factory=NaiveGate)
    alarm: NaiveAlarm = field(default_factory=NaiveAlarm)
    positives: NaivePositives = field(default_factory=NaivePositives)
    answers: NaiveAnswers = field(default_factory=NaiveAnswers)
    against: float = 0.0
    turned: int = 0
    since: int = 0
    complete: int = 0

    def learn_against(self, loss: float, w: float) -> None:
        """Odds that the opposite of what the tree answers is right, against the tree and against a coin."""
        than_tree = odds(loss) / self.alarm.usual_odds(50.0)
        than_coin = min(sqrt(loss), 0.9) / 0.5
        self.against = min(max(self.against, 1.0) * (1.0 - w + w * min(than_tree, than_coin)), 1e12)

    def watch(self, y: float, loss: float, once: float, n_eff: float, now: int, margin: float) -> None:
        """Forget when the mean has jumped, positives are lost, or the odds exceed 300; turn round at odds of 30."""
        calm, share, w = not self.alarm.raised, self.share(), once * n_eff
        lost = self.positives.watch(loss, y, once, n_eff, share, now, margin, calm=calm)
        self.learn_against(loss, w)
        are_found = self.positives.are_found()
        found = self.alarm.watch(loss, share * (1.0 - share), now, w, margin, prior=-1.0, found=are_found)
        if not calm and not self.alarm.raised and not are_found:
            self.positives.forget()
        if not self.alarm.raised and (lost or self.against > 300.0):
            self.alarm.raise_at(now, share * (1.0 - share), margin)
            found = "raised"
        if found == "raised":
            self.forget(now - 60)
        if self.alarm.raised and self.against > 30.0:
            self.turn_round(now)

    def turn_round(self, now: int) -> None:
        """All leaves answer the opposite; more than 50 rows after the alarm they forget again."""
        if now - self.alarm.since > 50:
            self.forget(now)
        self.since = max(self.since, self.alarm.since)
        for node in self.root.below():
            n, f, ff, y, fy = node.sums
            node.sums = np.array([n, f, ff, n - y, f - fy])
        self.against = 0.0
        self.turned += 1

    def forget(self, first: int) -> None:
        """5 % of the sums are kept, and the rows from the first one on."""
        self.since = max(self.since, first)
        for node in self.root.below():
            node.sums = 0.05 * node.sums
            node.since, node.wait, node.gains = 0.0, 30.0, np.zeros(3)

    def share(self) -> float:
        """Share of positives among the rows of the tree; one half before the first one."""
        n, positives = self.root.sums[[0, 3]]
        return positives / n if n > 0.0 else 0.5


class NaiveThresholds:
    """The whole refiner: rows are learned one by one, after every 50 a turn of maintenance follows."""

    def __init__(self, p: int, K: int, *, exclusive: bool = False) -> None:
        self.p, self.K = p, K
        self.shares_gate = exclusive and K != 2
        self.first = int(exclusive and K == 2)
        self.errors = sqrt(4.0 + 2.0 * log(1 if exclusive else K))
        self.labels = [NaiveLabel() for _ in range(K)]
        self.rows: list[trials.Row] = []
        self.rare: list[trials.Row] = []
        self.bins = [np.empty(0)] * p
        self.next_bins, self.next_feature, self.next_label = 100, p, self.first

    def answers(self, x: FloatArray, f: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What the trees answer, cut outputs where there is none, and the refined outputs."""
        g, out = np.array([cut(v) for v in f]), f.copy()
        for k in range(self.first, self.K):
            label = self.labels[k]
            if label.root.children:
                v = g[k]
                g[k] = label.root.soft_answer(x, v)
                if label.gate.is_open:
                    out[k] = v + label.gate.weight * (g[k] - v)
                    if self.first:
                        out[0] += f[k] - out[k]
        return g, out

    def learn(self, x: FloatArray, y: FloatArray, w: FloatArray, f: FloatArray) -> FloatArray:
        """Return the refined outputs f of a row, then learn its labels y of weights w; NaN: not annotated."""
        g, out = self.answers(x, f)
        f, w = np.array([cut(v) for v in f]), np.where(np.isnan(y), 0.0, w)
        if not (w > 0.0).any():
            return out
        tried = [self.labels[k].gate.mixed(f[k], g[k]) if self.labels[k].root.children else f[k] for k in range(self.K)]
        total = sum(self.learn_label(k, x, y[k], f[k], g[k], w[k]) for k in range(self.first, self.K) if w[k] > 0.0)
        if self.shares_gate and any(label.root.children for label in self.labels):
            self.turn_shared_gate(y, f, w, np.array(tried), total)
        self.keep(x, y, f, np.minimum(w, 100.0))
        if len(self.rows) % 50 == 0:
            self.take_turn()
        return out

    def learn_label(self, k: int, x: FloatArray, y: float, f: float, g: float, w: float) -> float:
        """Alarm, gate and sums; in the first two a row is at most one answer. Return the gain over f."""
        label, once, gain = self.labels[k], min(w, 1.0), 0.0
        before = label.answers.last[0]
        n_eff, pace = label.answers.learn(y)
        label.alarm.recount(before, n_eff, min(len(label.answers.answers), 1000))
        if label.root.children:
            label.watch(y, (y - g) ** 2, once, n_eff, len(self.rows), sqrt(2.0 * log(self.K + 1.0)))
            e, h = clip(f, 0.0, 1.0), label.gate.mixed(f, g)
            gain = (y - e) ** 2 - (y - h) ** 2
            if not self.shares_gate:
                won = float(is_wrong(f, y)) - float(is_wrong(h, y))
                label.gate.turn(gain, won, once, self.errors, pace, label.root.mean())
            label.gate.learn_tree_weight(f, g, y, once, pace)
        learn_path(label.root, x, f, y, min(w, 100.0))
        return gain

    def turn_shared_gate(self, y: FloatArray, f: FloatArray, w: FloatArray, tried: FloatArray, gain: float) -> None:
        """Classes open together, by the sum of all gains and by the class with the largest output."""
        annotated = np.flatnonzero(w > 0.0)
        truth = [k for k in annotated if y[k] > 0.5]
        won = float(np.argmax(f) not in truth[-1:]) - float(np.argmax(tried) not in truth[-1:])
        pace = max(self.labels[k].answers.last[1] for k in annotated)
        self.labels[0].gate.turn(gain, won, min(1.0, w[annotated[-1]]), self.errors, pace)
        for label in self.labels:
            label.gate.is_open = self.labels[0].gate.is_open

    def keep(self, x: FloatArray, y: FloatArray, f: FloatArray, w: FloatArray) -> None:
        """Every row is kept; one with a positive of a label below 15 % is also kept among the rare ones."""
        now, is_rare = len(self.rows), False
        for k, label in enumerate(self.labels):
            if w[k] > 0.0 and y[k] > 0.5:
                if now < 200 or label.root.sums[3] < 0.15 * label.root.sums[0]:
                    is_rare = True
                else:
                    label.complete = now + 1
        self.rows.append(trials.Row(now, now, x.copy(), y > 0.5, f.copy(), w.copy()))
        if is_rare:
            self.rare.append(self.rows[-1]._replace(place=len(self.rare)))

    # ------------------------------------------------------------------ maintenance

    def rows_of(self, k: int, node: Node) -> trials.LabelRows:
        """The rows of label k in the rings that reach a node."""
        label = self.labels[k]
        rows = trials.rows_of_label(k, self.rows, self.rare, label.share(), label.since, label.complete)
        return rows.reaching(label.root, node)

    def take_turn(self) -> None:
        """Bins; pruning of every label; trials and edges until enough values are read."""
        self.renew_bins()
        for label in self.labels[self.first :]:
            if label.root.children and prune(label.root) and not label.root.children:
                label.alarm, label.positives, label.against = NaiveAlarm(), NaivePositives(), 0.0
                label.gate = label.gate if self.shares_gate else NaiveGate()
        done, most = 0, self.most_work()
        for _ in range(self.first, self.K):
            if done >= most:
                return
            k = self.next_label if self.next_label < self.K else self.first
            done = self.try_leaves(k, done, most)
            if done < most:
                done = self.move_edges(k, done)
                self.next_label = k + 1

    def renew_bins(self) -> None:
        """After 100, 200, 400 ... rows, then once per ring; some features per turn."""
        n = len(self.rows)
        if self.next_feature == self.p and n >= self.next_bins:
            self.next_feature, self.next_bins = 0, n + min(n, 2000)
        left = max(4, 20_000 // min(n, 2000))
        due = list(range(self.next_feature, min(self.p, self.next_feature + left)))
        self.next_feature += len(due)
        for j in due:
            self.renew(j)
        lately = [{row.x[j] for row in self.rows[-51:] if not np.isnan(row.x[j])} for j in range(self.p)]
        one_bin = [j for j in range(self.p) if len(self.bins[j]) == 0 and len(lately[j]) > 1 and not self.is_counter(j)]
        for j in one_bin[: left - len(due)] if n >= 100 else []:
            self.renew(j)

    def renew(self, j: int) -> None:
        """Bins of one feature by the rows in the main ring."""
        self.bins[j] = trials.bin_edges(np.array([] if self.is_counter(j) else [row.x[j] for row in self.rows[-2000:]]))

    def is_counter(self, j: int) -> bool:
        """Whether a feature changes at least ten times in the main ring, always upwards or always downwards."""
        known = np.array([row.x[j] for row in self.rows[-2000:] if not np.isnan(row.x[j])])
        steps = np.diff(known)
        return bool(np.count_nonzero(steps) >= 10 and (np.all(steps >= 0.0) or np.all(steps <= 0.0)))

    def most_work(self) -> int:
        """Values that a turn may read: 400,000; if no tree is used although all saw a full ring, seldom 100,000."""
        idle = [not one.gate.is_open and len(self.rows) - one.since >= 2000 for one in self.labels[self.first :]]
        seldom = 100_000 if len(self.rows) % 200 == 0 else 0
        return seldom if all(idle) else 400_000

    def try_leaves(self, k: int, done: int, most: int) -> int:
        """Leaves that have waited long enough, by their places; their next wait is twice as long."""
        label, n_rows = self.labels[k], len(self.rows)
        for place in range(95):
            leaf = next((node for node in label.root.below() if node.place == place and not node.children), None)
            if done >= most:
                break
            if leaf is not None and leaf.since >= leaf.wait:
                rows, leaf.since = self.rows_of(k, leaf), 0.0
                n, n_pairs = len(rows.y), min(self.p * (self.p - 1) // 2, 200)
                done += self.p * (n + 64) + (n_pairs * (min(n, 1000) + 200) if n >= 60 else 0) + 8000
                longest = n if n >= 200 and n_rows - label.since >= 2000 else 0.3 * n
                leaf.wait = min(max(20.0, 2.0 * leaf.wait), max(20.0, longest))
                trials.try_leaf(leaf, rows, self.bins, n_rows + 7 * place)
        return done

    def move_edges(self, k: int, done: int) -> int:
        """Every 250 rows where the tree answers, else every 1,000."""
        label = self.labels[k]
        if label.root.children and label.root.since >= (250.0 if label.gate.is_open else 1000.0):
            rows, label.root.since = self.rows_of(k, label.root), 0.0
            if len(rows.y) >= 50:
                trials.settle(label.root, rows, 1)
                done += 60 * len(rows.y)
        return done
