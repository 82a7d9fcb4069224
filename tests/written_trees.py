"""Trees of threshold rules that tests write node by node, and what is printed of them."""

import numpy as np
from pump_stream import FEATURES

from evolabel.stages.threshold_rules.arrays import FREE, IS_OPEN, LEAF, SUM_1, SUM_Y, TREE_WEIGHT, allocate_trees
from evolabel.stages.threshold_rules.read_trees import TreeReader

PUMP = [*FEATURES[:3], "machine=M-01", "machine=M-02", "machine=M-03", "machine=M-04"]


def trees(*splits, missing=(), n=40):
    """A tree for one label: each split is (feature, edge, width, missing left) or (share, support) of a leaf.

    Nodes are listed depth first, the left child first. The ring has n rows of zeros, NaN in the features `missing`.
    """
    t = allocate_trees(len(PUMP), 1)
    t.feature[:] = FREE
    t.gate[0, [IS_OPEN, TREE_WEIGHT]] = 1.0
    t.rows[:n] = np.arange(n)
    t.weights[:n] = 1.0
    t.X[:n, list(missing)] = np.nan
    todo, free = [0], 1
    for split in splits:
        a = todo.pop()
        if len(split) == 2:
            t.feature[0, a] = LEAF
            t.sums[0, a, [SUM_1, SUM_Y]] = split[1], split[0] * split[1]
            continue
        t.feature[0, a], t.child[0, a] = PUMP.index(split[0]), free
        t.edge[0, a] = split[1:]
        t.parent[0, free : free + 2] = a
        todo += [free + 1, free]
        free += 2
    assert not todo
    return t


def read(t):
    binary = np.array([name.startswith("machine") for name in PUMP])
    return TreeReader(t, 0, PUMP, ["leak"], binary, {}).label_rules(0)


def texts(t):
    return [rule.text for rule in read(t).rules]
