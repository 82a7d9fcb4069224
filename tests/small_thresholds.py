"""Small trees and rings of threshold rules, as objects of the twins and as arrays of the kernels."""

import numpy as np
from naive.threshold_tree import Node
from naive.threshold_trials import LabelRows

from evolabel.stages.threshold_rules import arrays as st
from evolabel.stages.threshold_rules.arrays import allocate_trees, with_workspace


def random_tree(rng, p, splits, *, rows=40):
    """A tree of so many splits at random, with sums of random rows."""
    root = Node(0)
    for _ in range(splits):
        leaf = rng.choice([node for node in root.below() if not node.children])
        if leaf.split(int(rng.integers(p)), float(rng.normal()), missing_left=bool(rng.integers(2))):
            leaf.width = max(0.0, rng.uniform(-0.5, 1.0))
    for node in root.below():
        n = int(rng.integers(rows))
        w, f, y = rng.uniform(0.1, 2.0, n), rng.uniform(-1.0, 2.0, n), (rng.random(n) < rng.random()).astype(float)
        node.sums = np.array([w.sum(), w @ f, w @ f**2, w @ y, w @ (f * y)])
        node.since, node.wait = float(rng.integers(50)), float(rng.integers(1, 100))
        node.gains = np.array([rng.normal(), rng.uniform(0.0, 2.0), rng.uniform(0.0, 300.0)])
    return root


def write_tree(root, t, k=0):
    """Write a tree of the twins into the arrays t as that of label k."""
    t.feature[k] = st.FREE
    for node in root.below():
        a = node.place
        t.feature[k, a] = node.feature if node.children else st.LEAF
        t.child[k, a] = node.children[0].place if node.children else 0
        t.parent[k, a] = -1 if node.up is None else node.up.place
        t.edge[k, a] = node.edge, node.width, node.missing_left
        t.sums[k, a] = node.sums
        t.visits[k, a] = node.since, node.wait, *node.gains


def assert_same_tree(t, root, k=0, rtol=1e-9):
    """The tree of label k in the arrays t is that of the twin: same nodes, same edges, sums but for rounding."""
    nodes = {node.place: node for node in root.below()}
    assert {a for a in range(st.NODES) if t.feature[k, a] != st.FREE} == set(nodes)
    for a, node in nodes.items():
        np.testing.assert_allclose(t.sums[k, a], node.sums, rtol, 1e-9, err_msg=f"sums of node {a}")
        np.testing.assert_allclose(t.visits[k, a], [node.since, node.wait, *node.gains], rtol, 1e-9)
        assert t.parent[k, a] == (-1 if node.up is None else node.up.place)
        assert t.feature[k, a] == (node.feature if node.children else st.LEAF)
        if node.children:
            assert [node.children[0].place, node.children[1].place] == [t.child[k, a], t.child[k, a] + 1]
            np.testing.assert_allclose(t.edge[k, a], [node.edge, node.width, node.missing_left], rtol, 1e-12)


def assert_same_state(t, twin, rtol=1e-8):
    """All trees, gates, alarms and clocks are those of the twin."""
    for k in range(twin.first, twin.K):
        label = twin.labels[k]
        assert_same_tree(t, label.root, k, rtol)
        np.testing.assert_allclose(t.gate[k], label.gate.vector(), rtol, 1e-9, err_msg=f"gate of label {k}")
        np.testing.assert_allclose(t.alarms[k], label.alarm.vector(), rtol, 1e-9, err_msg=f"alarm of label {k}")
        np.testing.assert_allclose(t.positives[k], label.positives.vector(), 1e-6, 1e-9, err_msg=f"positives of {k}")
        np.testing.assert_allclose(t.against[k], label.against, 1e-6, err_msg=f"odds against tree {k}")
        assert (t.since[k], t.complete[k]) == (label.since, label.complete)
    for j, edges in enumerate(twin.bins):
        np.testing.assert_array_equal(t.bins[j][np.isfinite(t.bins[j])], edges)
    assert (t.clock[st.LEARNED], t.clock[st.RARE]) == (len(twin.rows), len(twin.rare))


def random_rows(rng, n, p, *, gaps=0.1, values=0, noise=0.2):
    """Features, labels, outputs and weights of n rows; the label follows the first feature; `values`: distinct ones."""
    X = rng.normal(size=(n, p))
    if values:
        X = np.round(X * values / 4.0)
    y = (np.where(rng.random(n) < noise, rng.random(n) < 0.5, X[:, 0] > 0.3)).astype(float)
    X[rng.random((n, p)) < gaps] = np.nan
    return LabelRows(X, y, rng.uniform(-0.5, 1.5, n), rng.uniform(0.1, 2.0, n))


def state_of(p, K=1, *, exclusive=False):
    """Empty threshold rules as kernels take them, with scratch arrays."""
    return with_workspace(allocate_trees(p, K), exclusive)


def fill_ring(state, rows, k=0):
    """Write rows of label k into the main ring and choose all of them."""
    t, n = state.arrays, len(rows.y)
    t.X[:n], t.Y[:n, k], t.F[:n, k], t.weights[:n, k], t.rows[:n] = rows.X, rows.y, rows.f, rows.w, np.arange(n)
    t.clock[[st.LEARNED, st.MAIN]] = n
    state.work.chosen[:n], state.work.part[:n], state.work.scale[:] = np.arange(n), np.arange(n), 1.0
