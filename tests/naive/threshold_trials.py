"""Twins of the trials, edges and bins of `stages.threshold_rules.loops`, by masks over rows and by sums formed anew."""

from itertools import combinations, product
from math import log
from typing import NamedTuple

import numpy as np

from evolabel.typing import BoolArray, FloatArray, IntArray
from naive.threshold_tree import Node, clip


class Row(NamedTuple):
    """A row in the ring: its place, its number in the stream, and what was learned."""

    place: int
    number: int
    x: FloatArray
    y: BoolArray
    f: FloatArray
    w: FloatArray


class LabelRows(NamedTuple):
    """Rows of one label: features, labels, outputs of the members, weights; `oldest` row of the main ring."""

    X: FloatArray
    y: FloatArray
    f: FloatArray
    w: FloatArray
    oldest: int = 0

    def part(self, mask: BoolArray) -> "LabelRows":
        """The rows in `mask`."""
        return LabelRows(self.X[mask], self.y[mask], self.f[mask], self.w[mask], self.oldest)

    def reaching(self, top: Node, node: Node) -> "LabelRows":
        """Those of the rows of `top` that reach a node below it."""
        return self.part(np.array([node in top.path(x) for x in self.X], bool))


def rows_of_label(k: int, rows: list[Row], rare: list[Row], share: float, since: int, complete: int) -> LabelRows:
    """The last 2,000 rows in the order of their places; for a label of at most 10 % also older positives.

    Then negatives weigh more, as if all rows since the oldest kept positive were there.
    """
    now, oldest = len(rows), max(0, len(rows) - 2000)
    main = [row for row in rows[-2000:] if row.number >= since and row.w[k] > 0.0]
    old, more, scale = max(oldest, since), [], 1.0
    if share <= 0.1:
        first = max(rare[-500].number if len(rare) > 500 else 0, since, complete)
        more = [row for row in rare[-500:] if first <= row.number < old and row.w[k] > 0.0 and row.y[k]]
        scale = (now - first) / max(1.0, now - old) if more else 1.0
    kept = sorted(main, key=lambda row: row.place % 2000) + sorted(more, key=lambda row: row.place % 500)
    p = len(rows[0].x)
    y = np.array([float(row.y[k]) for row in kept])
    w = np.array([row.w[k] for row in kept]) * np.where(y > 0.5, 1.0, scale)
    return LabelRows(np.reshape([row.x for row in kept], (-1, p)), y, np.array([row.f[k] for row in kept]), w, oldest)


# ------------------------------------------------------------------ bins


def middle_of(below: float, above: float) -> float:
    """The middle of two numbers; the lower one where there is no number between them."""
    middle = 0.5 * below + 0.5 * above
    return float(middle if below < middle < above else below)


def bin_edges(values: FloatArray, most: int = 32) -> FloatArray:
    """Midpoints between neighbours: all of at most so many distinct values, `most`, else those next to quantiles."""
    x = np.sort(values[~np.isnan(values)])
    n, steps = len(x), np.flatnonzero(np.diff(x) > 0.0) + 1  # places at which the value changes
    if len(steps) >= most:
        chosen: list[int] = []
        for bins_left in range(most, 1, -1):  # the first change at or after the next quantile of the values left
            last = max(chosen, default=0)
            chosen += [i for i in steps if i > last and i >= last + (n - last) / bins_left][:1]
        steps = np.array(chosen)
    return np.array([middle_of(x[i - 1], x[i]) for i in steps])


def codes_of(values: FloatArray, edges: FloatArray) -> IntArray:
    """Bins counted from 1; 0: missing."""
    return np.array([0 if np.isnan(v) else 1 + int((edges < v).sum()) for v in values], np.int64)


def coarse_of(codes: IntArray, edges: FloatArray) -> IntArray:
    """Eight bins of about as many fine ones; missing values are in the lowest."""
    n, c = len(edges) + 1, np.maximum(codes - 1, 0)
    return c if n <= 8 else c * 8 // n


# ------------------------------------------------------------------ trials


def score(g: FloatArray, h: FloatArray, mask: BoolArray) -> float:
    """(sum g)^2 / (sum h + 1) of a cell."""
    return float(g[mask].sum() ** 2 / (h[mask].sum() + 1.0))


class Step(NamedTuple):
    """A cut of one feature; an infinite edge separates known from missing values."""

    gain: float
    feature: int
    edge: float
    missing_left: bool


def residuals(leaf: Node, rows: LabelRows) -> tuple[FloatArray, FloatArray]:
    """g = w (y - q) and h = w q (1 - q), with q the mean of the leaf."""
    q = clip(leaf.mean(), 0.01, 0.99)
    return rows.w * (rows.y - q), rows.w * (q * (1.0 - q))


def steps(rows: LabelRows, g: FloatArray, h: FloatArray, bins: list[FloatArray], known: IntArray) -> list[Step]:
    """All steps of all features; those that may not be taken gain 0."""
    found = []
    everything = np.ones(len(g), bool)
    for j, edges in enumerate(bins):
        missing = np.isnan(rows.X[:, j])
        for missing_left in (False, True) if missing.any() else (False,):
            for edge in [*edges, np.inf]:
                left = np.where(missing, missing_left, rows.X[:, j] <= edge)
                is_new = edge == np.inf and known[j] > rows.oldest
                allowed = left.sum() >= 5 and (~left).sum() >= 5 and not is_new
                gain = score(g, h, left) + score(g, h, ~left) - score(g, h, everything) if allowed else 0.0
                found.append(Step(gain, j, float(edge), missing_left))
    return found


def pairs_to_try(single: FloatArray, seed: int) -> list[tuple[int, int]]:
    """All pairs up to 200, else those of the twelve best single features, then random ones."""
    p = len(single)
    best = [int(j) for j in np.argsort(-single, kind="stable")]
    if p * (p - 1) // 2 <= 200:
        return list(combinations(best, 2))
    tried = list(combinations(best[:12], 2))
    while len(tried) < 200:
        drawn = []
        for _ in range(2):
            seed = (seed * 1103515245 + 12345) % 2**31
            drawn.append((seed >> 8) % p)
        tried.append((drawn[0], drawn[1]))
    return [(u, v) for u, v in tried if u != v]


class Pair(NamedTuple):
    """A cut of two features into four cells, above these coarse bins."""

    gain: float
    features: tuple[int, int] = (-1, -1)
    cells: tuple[int, int] = (0, 0)


def best_pair(
    rows: LabelRows, g: FloatArray, h: FloatArray, bins: list[FloatArray], single: FloatArray, seed: int
) -> Pair:
    """The first of the best pairs; of more than 1,999 rows every second one is used, and so on."""
    step = max(1, len(g) // 1000)
    g, h, best = g[::step], h[::step], Pair(0.0)
    coarse = [coarse_of(codes_of(rows.X[::step, j], edges), edges) for j, edges in enumerate(bins)]
    whole = score(g, h, np.ones(len(g), bool))
    for u, v in pairs_to_try(single, seed):
        for i, j in product(range(7), range(7)):
            low, left = coarse[u] <= i, coarse[v] <= j
            gain = sum(score(g, h, a & b) for a in (low, ~low) for b in (left, ~left)) - whole
            if gain > best.gain * (1.0 + 1e-12):
                best = Pair(gain, (u, v), (i, j))
    return best


def pair_edge(edges: FloatArray, cell: int) -> float:
    """Edge above the last fine bin in the coarse bins up to `cell`."""
    codes = np.arange(1, len(edges) + 1)
    inside = edges[coarse_of(codes, edges) <= cell]
    return float(inside[-1]) if len(inside) else -np.inf


def try_leaf(leaf: Node, rows: LabelRows, bins: list[FloatArray], seed: int) -> bool:
    """Split the leaf by a step or a pair that gains more than the search pays for; return whether it was kept."""
    n, p, positives = len(rows.y), len(bins), rows.y.sum()
    if n < 20 or positives < 3 or n - positives < 3:
        return False
    g, h = residuals(leaf, rows)
    candidates = steps(rows, g, h, bins, np.zeros(p, np.int64))
    most = max(step.gain for step in candidates)
    best = next(
        step for step in candidates if step.gain * (1.0 + 1e-9) >= most
    )  # the first of those that gain the same
    pair, pair_over, over = Pair(0.0), -1.0, best.gain - 2.0 * log(len(candidates)) - 6.0
    single = np.array([max(step.gain for step in candidates if step.feature == j) for j in range(p)])
    if n >= 60 and p > 1:
        pair = best_pair(rows, g, h, bins, single, seed)
        pair_over = pair.gain - 2.0 * log(49.0 * p * (p - 1) / 2.0) - 6.0 - 4.0
    if over <= 0.0 and pair_over <= 0.0:
        return False
    if pair_over <= 0.0 or best.gain >= pair.gain * max(1, n // 1000) - 10.0:
        done = leaf.split(best.feature, best.edge, missing_left=best.missing_left)
    else:
        done = split_by_pair(leaf, pair, bins, single)
    if done:
        refill(leaf, rows)
        settle(leaf, rows, 4)
        trim(leaf, rows, 3.0)
    return bool(leaf.children)


def split_by_pair(leaf: Node, pair: Pair, bins: list[FloatArray], single: FloatArray) -> bool:
    """The feature that separates better on its own comes first; missing values go left."""
    (u, v), (c, d) = pair.features, pair.cells
    if single[v] > single[u]:
        u, v, c, d = v, u, d, c
    above, across = pair_edge(bins[u], c), pair_edge(bins[v], d)
    if np.isinf(above) or np.isinf(across) or not leaf.split(u, above, missing_left=True):
        return False
    for child in leaf.children:
        child.split(v, across, missing_left=True)
    return True


# ------------------------------------------------------------------ edges


def log_loss(y: FloatArray, q: FloatArray) -> FloatArray:
    """Loss in nats of labels at these means."""
    return np.where(y > 0.5, -np.log(q), -np.log(1.0 - q))


def losses_below(node: Node, rows: LabelRows, low: float) -> FloatArray:
    """Weighted log loss of each row at the mean of the leaf that it reaches below a node, cut to [low, 1 - low]."""
    return rows.w * log_loss(rows.y, np.array([clip(node.leaf(x).mean(), low, 1.0 - low) for x in rows.X]))


def refill(top: Node, rows: LabelRows) -> None:
    """Sums of all nodes below, from these rows."""
    for node in top.below()[1:]:
        _, y, f, w, _ = rows.reaching(top, node)
        node.sums = np.array([w.sum(), w @ f, w @ f**2, w @ y, w @ (f * y)])


def edge_losses(node: Node, rows: LabelRows) -> tuple[FloatArray, FloatArray, float]:
    """Known distinct values; loss of the rows with an edge after each of them; loss with the present edge."""
    values, children = rows.X[:, node.feature], node.children
    left, right = (losses_below(child, rows, 0.02) for child in children)
    known = ~np.isnan(values)

    def loss_at(edge: float) -> float:
        return float(np.where(values <= edge, left, right)[known].sum())

    distinct = np.unique(values[known])
    return distinct, np.array([loss_at(edge) for edge in distinct[:-1]]), loss_at(node.edge)


def move_edge(node: Node, rows: LabelRows) -> float:
    """Move an edge to the least loss; return by how much the loss has fallen, counted as one nat at least if moved.

    The width reaches from the last value below the lowest edge whose loss is within one nat, to the first one above
    the highest. An edge inside stays, unless half a nat is gained.
    """
    missing = np.isnan(rows.X[:, node.feature])
    if np.isinf(node.edge) or (~missing).sum() < 10:
        return 0.0
    left, right = (losses_below(child, rows, 0.02)[missing] for child in node.children)
    to_left, turned = (left - right).sum(), 0.0
    if abs(to_left) > 1e-9 and (to_left < 0.0) != node.missing_left:
        node.missing_left, turned = not node.missing_left, abs(to_left)
    values, losses, now = edge_losses(node, rows)
    if len(losses) == 0:
        return turned
    best = int(np.flatnonzero(losses <= losses.min() + 1e-9)[0])  # the first of those with the same loss
    low = high = best
    while low > 0 and losses[low - 1] < losses[best] + 1.0:
        low -= 1
    while high + 1 < len(losses) and losses[high + 1] < losses[best] + 1.0:
        high += 1
    fell, node.width = now - losses[best], 0.5 * (values[high + 1] - values[low])
    if fell <= 0.5 and values[low] < node.edge < values[high + 1]:
        return float(fell + turned)
    node.edge = middle_of(values[best], values[best + 1])
    if node.edge == values[best]:
        node.width = 0.0
    return float(max(fell, 1.0) + turned)


def settle(top: Node, rows: LabelRows, rounds: int) -> None:
    """Edges top down, sums below a moved one formed anew, until the loss hardly falls."""
    for _ in range(rounds):
        moved = 0.0
        for node in top.below():
            if node.children:
                part = rows.reaching(top, node)
                fell = move_edge(node, part)
                if fell > 0.5:
                    moved += fell
                    refill(node, part)
        if moved < 1.0:
            return


def trim(top: Node, rows: LabelRows, least: float) -> None:
    """Take back splits that lower the loss of their rows by less than `least`, the lowest ones first."""
    for node in reversed(top.below()):
        if node.children:
            part = rows.reaching(top, node)
            as_leaf = part.w * log_loss(part.y, np.full(len(part.y), clip(node.mean(), 0.01, 0.99)))
            if (as_leaf - losses_below(node, part, 0.01)).sum() < least:
                node.become_leaf()
