"""Twin of `paper.rules.loops.learn.has_grown`."""

from evolabel.paper.rules.stage import PaperRules
from evolabel.stages.rules.arrays import RULES


def has_grown(slot: int, base: PaperRules, every: int) -> bool:
    """Among several rules: has this one won `every` samples since it was last compared? 0: never."""
    won = float(base.arrays.k[slot] - base.own.compared[slot])
    return bool(base.arrays.counters[RULES] > 1 and every > 0 and won >= every)
