"""The path of a threshold rule as the note of an event: numbers only, which `event_words` reads as words."""

import json

from evolabel.stages.threshold_rules.arrays import EDGE, HALF_WIDTH, MISSING_LEFT, SUM_1, SUM_Y, ThresholdArrays


def rule_note(t: ThresholdArrays, k: int, leaf: int) -> str:
    """Return the rule of a `leaf` of tree `k` of `t` in JSON: its path from the root, its samples and positives.

    A step is the feature, the edge, its half-width, whether missing values go left, and whether the path does.
    """
    path: list[tuple[int, float, float, int, int]] = []
    a = leaf
    while t.parent[k, a] >= 0:
        up = int(t.parent[k, a])
        e = t.edge[k, up]
        edge, width = (float(f"{e[i]:.9g}") for i in (EDGE, HALF_WIDTH))
        path.insert(0, (int(t.feature[k, up]), edge, width, int(e[MISSING_LEFT] > 0.5), int(a == t.child[k, up])))
        a = up
    support, positives = (float(f"{t.sums[k, leaf, i]:.9g}") for i in (SUM_1, SUM_Y))
    return json.dumps({"path": path, "support": support, "positives": positives}, separators=(",", ":"))
