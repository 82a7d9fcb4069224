"""A rule base as the naive twins keep it: one object per rule, full matrices."""

from dataclasses import dataclass, field

import numpy as np

from evolabel.stages.rules.arrays import Settings
from evolabel.typing import FloatArray


@dataclass
class Slot:
    """A rule, or the whole stream: its moments, its statistics and its dates."""

    c: FloatArray
    M: FloatArray
    n: FloatArray
    k: float
    H: FloatArray
    G: FloatArray
    age: int = 0
    identity: int = 0
    born: int = 0
    last_won: int = 0


def empty_slot(p: int, K: int) -> Slot:
    """A slot without samples."""
    return Slot(np.zeros(p), np.zeros(p), np.zeros(p), 0.0, np.zeros((p + 1, p + 1)), np.zeros((p + 1, K)))


@dataclass
class NaiveRules:
    """A rule base: the whole stream, the rules, and what has happened (sample, kind, rule, other)."""

    settings: Settings
    whole: Slot
    rules: list[Slot] = field(default_factory=list)
    seen: int = 0
    next_identity: int = 0
    winner_stats: FloatArray = field(default_factory=lambda: np.zeros(3))
    events: list[tuple[int, str, int, int | None]] = field(default_factory=list)
    antecedent_rate: float = 1.0

    def remove(self, rule: Slot) -> None:
        """Take a rule out; the last rule takes its place."""
        place = next(i for i, other in enumerate(self.rules) if other is rule)
        self.rules[place] = self.rules[-1]
        self.rules.pop()

    def penalty(self, slot: Slot) -> FloatArray:
        """Lambda D or gamma D."""
        return np.asarray(self.settings.penalty[0 if slot is self.whole else 1])
