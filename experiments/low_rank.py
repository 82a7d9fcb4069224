"""Local consequents in a subspace: the rules correct the global model in d directions instead of all p.

With t = (B'z, 1), B of d orthonormal columns, rule i adds t'V_i to the global output r'W_0. V_i is the exact ridge
solution for the *current* W_0, V_i = P_i (G_i - C_i W_0) with P_i = (sum psi t t' + gamma D)^-1, G_i = sum psi t y'
and C_i = sum psi t r'. It is not computed: with u = P_i t the output is W_0'(r - sum psi C_i'u) + sum psi G_i'u. A
sample costs O(d p + d K) per active rule instead of O(p^2 + p K); with d = p this is the package's own method.

    EVOLABEL_DATA=folder python experiments/low_rank.py     # times: writes experiments/results/low_rank_speed.json

| symbol | array           | meaning                                 |
|--------|-----------------|-----------------------------------------|
| B      | (p, d)          | directions, fixed by the initial batch  |
| P      | (1+R, d+1, d+1) | inverse of the rules' information        |
| C      | (1+R, d+1, p+1) | sum of psi t r'                         |
| G      | (1+R, K, d+1)   | sum of psi y t'                         |
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import studied
import study_sets

from evolabel.core.rows import Batch
from evolabel.engine.compile import allocating_kernel
from evolabel.engine.symmetric import add_product, dot, pending_product
from evolabel.model.loops.learn import update_winner
from evolabel.model.pipeline import StreamModel
from evolabel.model.start.batch_phase import initialise
from evolabel.stages.rules.arrays import DONE, NOVEL, RULES, SEEN, RuleArrays, Settings, Workspace
from evolabel.stages.rules.loops.consequents import update_inverse
from evolabel.stages.rules.loops.memberships import nearest, rule_memberships
from evolabel.stages.rules.loops.statistics import add_labels
from evolabel.stages.rules.loops.structure import is_novel
from evolabel.stages.rules.stage import RuleBase
from evolabel.typing import FloatArray

RESULT = Path(__file__).parent / "results" / "low_rank_speed.json"
ROUNDS = 5


class Local(NamedTuple):
    """The rules' own statistics; see the table on top."""

    B: FloatArray
    P: FloatArray
    C: FloatArray
    G: FloatArray


@allocating_kernel
def learn_low_rank(
    Z: FloatArray,
    Y: FloatArray,
    rules: RuleArrays,
    settings: Settings,
    work: Workspace,
    local: Local,
    structure: bool,
    consequents: bool,
    born: bool,
    out: FloatArray,
) -> tuple[int, int]:
    """`model.loops.learn.learn_rows` for complete rows, with local statistics in the subspace."""
    p, d = local.B.shape
    t, r, v = np.ones(d + 1), np.ones(p + 1), np.empty(p + 1)
    u = np.empty((work.psi.shape[0], d + 1))
    for i in range(Z.shape[0]):
        fresh = born and i == 0
        m = rule_memberships(Z[i], p, rules, settings, work, None)
        r[:p] = Z[i]
        t[:d] = 0.0
        for j in range(p):
            for a in range(d):
                t[a] += Z[i, j] * local.B[j, a]
        for b in range(m):
            u[b] = 0.0
            add_product(local.P[work.active[b]], t, 1.0, u[b])
        if out.shape[0] > 0 and not fresh:
            v[:] = r
            for b in range(m):
                C = local.C[work.active[b]]
                for a in range(d + 1):
                    g = work.psi[b] * u[b, a]
                    for j in range(p + 1):
                        v[j] -= g * C[a, j]
                add_product(local.G[work.active[b]], u[b], work.psi[b], out[i])
            pending_product(rules.P[0], rules.pending_P[0], rules.n_pending[0], v, work.t)
            add_product(rules.G[0], work.t, 1.0, out[i])
        winner = nearest(work.D, rules.counters[RULES])
        if structure and not fresh:
            if winner == 0 or is_novel(
                work.D[winner], rules.k[winner], rules.counters[RULES], rules.winner_stats, settings
            ):
                return i, NOVEL
            rules.counters[SEEN] += 1
            update_winner(winner, work.D[winner], Z[i], 1.0, 1.0, rules, settings, None)
        if consequents:
            for b in range(m):
                slot, w = work.active[b], work.psi[b]
                shrink = w / (1.0 + w * dot(t, u[b]))
                add_labels(local.G[slot], t, Y[i], w)
                for a in range(d + 1):
                    for c in range(d + 1):
                        local.P[slot, a, c] -= shrink * u[b, a] * u[b, c]
                    for j in range(p + 1):
                        local.C[slot, a, j] += w * t[a] * r[j]
            work.r[0] = r
            pending_product(rules.P[0], rules.pending_P[0], rules.n_pending[0], r, work.u[0])
            add_labels(rules.G[0], r, Y[i], 1.0)
            update_inverse(0, 0, 1.0, rules, work)
    return Z.shape[0], DONE


class LowRank:
    """The default classifier whose rules learn in `rank` directions.

    `directions`: "pca" of the initial batch, "global" (the leading left singular vectors of W_0 learned on it, at most
    as many as labels), or "both" (half of each).
    """

    def __init__(self, rank: int, directions: str = "pca", **parameters: Any) -> None:
        self.rank, self.directions = rank, directions
        self.options = studied.options(**parameters)

    def fit(self, X: FloatArray, Y: FloatArray) -> Self:
        """Batch phase: structure, then consequents."""
        self.model = StreamModel(X.shape[1], Y.shape[1], self.options)
        initialise(self.model, Batch(X, Y))
        Z = self.model.scale(X)
        rules = self.model.trained()
        B = self._chosen(Z, Y, rules.settings.penalty[0])
        slots, d, q, K = rules.settings.max_rules + 1, B.shape[1], X.shape[1] + 1, Y.shape[1]
        penalty = np.append(rules.settings.penalty[1, :d], rules.settings.penalty[1, -1])
        self._empty = np.diag(1.0 / penalty)
        self.local = Local(
            B, np.tile(self._empty, (slots, 1, 1)), np.zeros((slots, d + 1, q)), np.zeros((slots, K, d + 1))
        )
        rules.reserve(rules.settings.max_rules)
        nothing = np.empty((0, 0))
        self._learn(Z, Y, True, False, nothing)
        self._learn(Z, Y, False, True, nothing)
        return self

    def test_then_train(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """Answer every row, then learn it."""
        out = np.zeros(Y.shape)
        self._learn(self.model.scale(X), Y, True, True, out)
        return out

    def _chosen(self, Z: FloatArray, Y: FloatArray, penalty: FloatArray) -> FloatArray:
        """Orthonormal directions from the scaled initial batch."""
        R = np.column_stack([Z, np.ones(len(Z))])
        W = np.linalg.solve(R.T @ R + np.diag(penalty), R.T @ Y)[:-1]
        supervised = np.linalg.svd(W, full_matrices=False)[0]
        principal = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)[2].T
        picked = {
            "pca": [principal],
            "global": [supervised],
            "both": [supervised[:, : self.rank // 2], principal],
        }[self.directions]
        stacked = np.hstack(picked)[:, : self.rank]
        return np.ascontiguousarray(np.linalg.qr(stacked)[0])

    def _learn(self, Z: FloatArray, Y: FloatArray, structure: bool, consequents: bool, out: FloatArray) -> None:
        rules, born = self.model.trained(), False
        while True:
            done, reason = learn_low_rank(
                Z, Y, rules.arrays, rules.settings, rules.workspace, self.local, structure, consequents, born, out
            )
            if reason == DONE:
                return
            Z, Y, out = Z[done:], Y[done:], out[done:]
            self._create_rule(rules, Z[0])
            born = True

    def _create_rule(self, rules: RuleBase, z: FloatArray) -> None:
        """Create a rule, after a merge if needed; the local statistics move to the new slots and are added up."""
        old = {int(identity): slot for slot, identity in enumerate(rules.arrays.identity[: rules.n_rules + 1]) if slot}
        before, events = Local(*(array.copy() for array in self.local)), len(rules.events)
        rules._create_rule(z, 1.0)
        united = {e.rule: e.other for e in list(rules.events)[events:] if e.kind == "merge"}
        for slot in range(1, rules.n_rules + 1):
            identity = int(rules.arrays.identity[slot])
            sources = [old[i] for i in (identity, united.get(identity)) if i in old]
            self.local.C[slot] = sum(before.C[s] for s in sources)
            self.local.G[slot] = sum(before.G[s] for s in sources)
            if len(sources) == 1:
                self.local.P[slot] = before.P[sources[0]]
            else:
                H = self.local.C[slot] @ np.pad(self.local.B, ((0, 1), (0, 1)), constant_values=0.0)
                H[:, -1] = self.local.C[slot][:, -1]
                self.local.P[slot] = np.linalg.inv(H + np.linalg.inv(self._empty))


def main() -> None:
    """Time the default and low ranks in turns; the least of several rounds counts."""
    learners: dict[str, Callable[[], Any]] = {"default": studied.classifier}
    learners |= {f"rank {rank}": lambda rank=rank: LowRank(rank) for rank in (16, 32, 64)}
    result: dict[str, dict[str, float]] = {}
    for name in ("birds", "mediamill-5k", "yeast"):
        split = study_sets.load(name, 0)
        rounds = [{one: _seconds(make(), split) for one, make in learners.items()} for _ in range(ROUNDS + 1)][1:]
        result[name] = {one: round(1e6 * min(r[one] for r in rounds) / len(split.X), 1) for one in learners}
        print(name, result[name])
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(result, indent=1) + "\n")


def _seconds(learner: Any, split: study_sets.Split) -> float:
    X, Y, initial = split
    start = time.perf_counter()
    learner.fit(X[:initial], Y[:initial]).test_then_train(X[initial:], Y[initial:])
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
