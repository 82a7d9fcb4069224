"""Twin of `stages.written_rules.loops`: a written rule is an object, the list a list. All numbers are written out."""

from dataclasses import dataclass, field
from math import inf, isnan, log, sqrt

from naive.threshold_tree import clip


def unit(f: float) -> float:
    """Outputs are compared in [0, 1]; NaN counts as one half."""
    return 0.5 if isnan(f) else clip(f, 0.0, 1.0)


@dataclass
class NaiveGateOfRule:
    """Fading sums of what the rule gains over the output without it."""

    gain: float = 0.0
    squares: float = 0.0
    closed: bool = False

    def turn(self, gain: float, w: float, errors: float) -> None:
        """Close beyond doubt, open again at a third of it."""
        self.gain, self.squares = 0.999 * self.gain + w * gain, 0.999 * self.squares + w * gain**2
        z = self.gain / sqrt(self.squares + 0.05)
        if z < -errors:
            self.closed = True
        elif z > -errors / 3.0:
            self.closed = False


@dataclass
class NaiveRule:
    """A rule: ranges by feature, shares by label, and the rows that count for the shares."""

    ranges: dict[int, tuple[float, float]]
    shares: dict[int, float]
    prior: float
    held: dict[int, float] = field(default_factory=dict)
    sums: dict[int, list[float]] = field(default_factory=dict)
    gates: dict[int, NaiveGateOfRule] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.sums = {k: [0.0, 0.0] for k in self.shares}
        self.gates = {k: NaiveGateOfRule() for k in self.shares}

    def holds(self, x) -> bool:
        """All values are known and in their ranges."""
        return all(low <= x[j] <= high for j, (low, high) in self.ranges.items() if (low, high) != (-inf, inf))

    def share(self, k: int, f: float) -> float:
        """Written share and rows together."""
        n, positives = self.sums[k]
        if k in self.held:
            return self.held[k]
        return (self.prior * self.shares[k] + positives) / (self.prior + n) if self.prior + n > 0.0 else unit(f)

    def count(self, k: int, y: float, w: float) -> None:
        """The last 2,000 rows count."""
        n, positives = self.sums[k][0] + w, self.sums[k][1] + w * y
        fade = min(1.0, 2000.0 / n)
        self.sums[k] = [fade * n, fade * positives]


class NaiveWritten:
    """The list: the first rule that holds and is used answers."""

    def __init__(self, rules: list[NaiveRule], K: int, *, exclusive: bool = False) -> None:
        self.rules, self.K, self.exclusive = rules, K, exclusive
        self.errors = sqrt(4.0 + 2.0 * log(1 if exclusive else K))

    def says(self, rule: NaiveRule, k: int) -> bool:
        """Of classes a rule answers all or none."""
        if self.exclusive:
            return not rule.gates[min(rule.shares)].closed
        return k in rule.shares and not rule.gates[k].closed

    def own(self, rule: NaiveRule, f: list[float]) -> list[float]:
        """Classes that are not mentioned share the rest as they did before."""
        out = [rule.share(k, f[k]) if k in rule.shares else f[k] for k in range(self.K)]
        others = [k for k in range(self.K) if k not in rule.shares]
        if self.exclusive and others:
            rest, total = max(0.0, 1.0 - sum(out[k] for k in rule.shares)), sum(unit(f[k]) for k in others)
            for k in others:
                out[k] = rest * unit(f[k]) / total if total > 0.0 else rest / len(others)
        return out

    def answer(self, x, f) -> list[float]:
        """Outputs of a row, from the last rule to the first."""
        f = list(f)
        for rule in reversed(self.rules):
            if rule.holds(x):
                own = self.own(rule, f)
                f = [own[k] if self.says(rule, k) else f[k] for k in range(self.K)]
        return f

    def left_out(self, x) -> list[bool]:
        """Labels that a rule answers."""
        return [any(rule.holds(x) and self.says(rule, k) for rule in self.rules) for k in range(self.K)]

    def learn(self, x, y, w, f) -> list[float]:
        """Outputs of a row before its labels y of weights w are learned; NaN: not annotated."""
        out, f = self.answer(x, f), list(f)
        holding = [rule for rule in self.rules if rule.holds(x)]
        first = [next((rule for rule in holding if self.says(rule, k)), None) for k in range(self.K)]
        for place in range(len(holding) - 1, -1, -1):
            rule, own = holding[place], self.own(holding[place], f)
            behind = [first[k] in holding[:place] for k in range(self.K)]
            before, f = f, [own[k] if self.says(rule, k) else f[k] for k in range(self.K)]
            learned = [k for k in range(self.K) if not isnan(y[k]) and w[k] > 0.0 and not behind[k]]
            learned = learned if self.exclusive else [k for k in learned if k in rule.shares]
            gains = {k: (y[k] - unit(before[k])) ** 2 - (y[k] - own[k]) ** 2 for k in learned}
            for k in learned:
                if k in rule.shares:
                    rule.count(k, y[k], min(w[k], 100.0))
            if self.exclusive and learned and not rule.held:
                for k in rule.shares:
                    rule.gates[k].turn(sum(gains.values()), min(1.0, max(w[k] for k in learned)), self.errors)
            elif not self.exclusive and not rule.held:
                for k in learned:
                    rule.gates[k].turn(gains[k], min(1.0, w[k]), self.errors)
        return out
