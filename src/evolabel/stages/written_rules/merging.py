"""Merging the written rules of two models: the list of the first, then the rules of the second that it has not.

The same rule on both sides is one rule: rows, positives and the sums of its gate are added. Up to `MOST_ROWS` that is
what one model would have counted; the gate is that of the first model until its next row.
"""

import copy

import numpy as np

from evolabel.stages.rules.arrays import NEXT_IDENTITY
from evolabel.stages.rules.stage import RuleBase
from evolabel.stages.written_rules.arrays import MOST_ROWS, WRITTEN_ARRAYS, WrittenArrays
from evolabel.stages.written_rules.stage import WrittenRules

_SPECIFICATION = [name for name, declared in WRITTEN_ARRAYS.declarations.items() if declared.kind == "written"]


def merge_written(
    mine: WrittenRules, theirs: WrittenRules, columns: list[int], rules: RuleBase, others: RuleBase
) -> None:
    """Merge `theirs` into `mine`; `columns` has the places of their labels.

    Rules that are new take numbers from `rules`, with the names and texts that `others` have for them.
    """
    other = copy.deepcopy(theirs)
    other.place_labels(columns, mine.arrays.shares.shape[1])
    new = []
    for place in range(len(other)):
        twin = _same_rule(mine.arrays, other.arrays, place)
        if twin is None:
            new.append(place)
        else:
            _add_sums(mine.arrays, twin, other.arrays, place)
    for place in new:
        number = int(rules.arrays.counters[NEXT_IDENTITY])
        rules.arrays.counters[NEXT_IDENTITY] = number + 1
        before = int(other.arrays.number[place])
        other.arrays.number[place] = number
        rules.rule_names.texts[number] = others.rule_names.texts.get(before, "")
        rules.rule_names.add(number, others.rule_names.names.get(before))
        rules.log("joined", number, None)
    other.take(new)
    mine.insert(len(mine), other.arrays)


def _same_rule(mine: WrittenArrays, theirs: WrittenArrays, place: int) -> int | None:
    """Return the place in `mine` of a rule that says what that in a `place` of `theirs` does; None: there is none."""
    for twin in range(len(mine.number)):
        if all(
            np.array_equal(getattr(mine, name)[twin], getattr(theirs, name)[place], equal_nan=True)
            for name in _SPECIFICATION
        ):
            return twin
    return None


def _add_sums(mine: WrittenArrays, place: int, theirs: WrittenArrays, other: int) -> None:
    """Add the sums of rule `other` of `theirs` to those of the rule in a `place` of `mine`."""
    for name in ("rows", "positives", "gain", "squares"):
        getattr(mine, name)[place] += getattr(theirs, name)[other]
    kept = np.minimum(1.0, MOST_ROWS / np.maximum(mine.rows[place], 1e-300))
    mine.rows[place] *= kept
    mine.positives[place] *= kept
