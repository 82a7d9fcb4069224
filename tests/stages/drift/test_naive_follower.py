"""The whole of the members against their plain twin, along a stream that drifts: outputs, sums, cuts and renewals."""

import numpy as np
import pytest
from choices import pairs
from following import flipped, model_of
from naive.following import NaiveFollower, NaiveSums
from naive.members import NaiveLinear, NaiveMixer
from small_rule_bases import assert_close

from evolabel.core.rows import Batch
from evolabel.stages.drift.arrays import BORN, CUT, LAG, NEVER, RENEWED, ROWS
from evolabel.stages.rules.rule_state import RuleState

pytestmark = pytest.mark.compiled

OPTIONS = {"one": {"max_rules": 1}, "several": {"max_rules": 5, "vigilance": 0.2, "novel_z": 1e9}}


def twin_of(model, Y):
    """The twin of a model after its batch phase, whose labels were Y."""
    rules = model.trained()
    m, used = rules.beside.arrays, range(rules.n_rules + 1)
    slow = NaiveSums(
        np.array([rules.hessian(a) for a in used]), rules.arrays.G[: len(used)].copy(), rules.settings.penalty
    )
    linear = NaiveLinear(rules.n_features, rules.n_labels)
    linear.W, linear.mean, linear.variance, linear.n = m.W.copy(), m.mean.copy(), m.variance.copy(), m.n_read.copy()
    mixers = []
    for b in range(rules.n_labels):
        mixers.append(NaiveMixer())
        mixers[b].losses, mixers[b].n = m.losses[:, b].tolist(), float(m.n_losses[b])
    twin = NaiveFollower(slow, linear, mixers, rules.settings.memory, int(m.clock[ROWS]))
    for answers, y in zip(twin.answers, Y.T, strict=True):
        for each in y:
            answers.learn(float(each))
    twin.lag, twin.row = float(m.time[LAG]), twin.mean_of_labels()
    twin.share = [(float(pi), float(n)) for pi, n in m.share.T]
    return twin


def logged(drift, known):
    """What the clock says of the time of now, beyond the moments that are `known`."""
    names, clock = {BORN: "start", RENEWED: "renewed", CUT: "cut"}, drift.arrays.clock
    fresh = [(names[i], int(clock[i])) for i in names if clock[i] == drift.now]
    born = ("start", drift.now) in known + fresh
    return [event for event in fresh if event not in known and not (born and event[0] == "renewed")]


def assert_same_sums(state, sums):
    for slot in range(state.n_rules + 1):
        assert_close(state.hessian(slot), sums.H[slot], 1e-9, f"H of slot {slot}")
        assert_close(state.arrays.G[slot], sums.G[slot], 1e-9, f"G of slot {slot}")
        penalty = state.settings.penalty[min(slot, 1)]
        np.testing.assert_allclose(
            state.inverse(slot) @ (sums.H[slot] + np.diag(penalty)), np.eye(len(penalty)), atol=1e-9
        )


def follow(X, Y, weights, options):
    """The model and its twin after the stream, whose outputs and sums agree all along, and what the clock has shown."""
    model = model_of(X, Y, **options)
    twin, rules = twin_of(model, Y[:80]), model.trained()
    n_rules, known = rules.n_rules, []
    assert n_rules == options["max_rules"]
    for i in range(80, len(X)):
        Z = model.scale(X[i : i + 1])
        out = np.zeros((1, 2))
        psi = rules.memberships(Z)[0][0]
        model.learn(Batch(X[i : i + 1], Y[i : i + 1], weights[i : i + 1], outputs=out))
        episode = rules.beside.arrays.episode
        drifting, twin.drifts = set(np.flatnonzero(episode != NEVER).tolist()), episode[episode != NEVER].tolist()
        twin.turned = {(member, b) for member, b in twin.turned if b in twin.drifting & drifting}
        twin.drifting, twin.drifting_before = drifting, twin.drifting
        F = twin.learn(X[i], Z[0], psi, Y[i], weights[i])
        np.testing.assert_allclose(out[0], F[3], rtol=0, atol=1e-8)
        known += logged(rules.beside, known)
        assert known == twin.log
        if i % 400 == 0:
            assert_same_sums(RuleState(3, rules.arrays, rules.settings), twin.slow)
            if twin.fast is not None:
                assert_same_sums(rules.beside.fast, twin.fast)
                assert rules.arrays.fast_block[: n_rules + 1].tolist() == twin.fast.block
    assert not any(event.kind == "birth" and event.sample > 80 for event in rules.events)
    m = rules.beside.arrays
    np.testing.assert_allclose(m.losses.T, [mixer.losses for mixer in twin.mixers], atol=1e-9)
    np.testing.assert_allclose(m.W, twin.linear.W, atol=1e-9)
    np.testing.assert_allclose(m.alarms[0], [slow.vector() for slow, _ in twin.alarms], atol=1e-8)
    np.testing.assert_allclose(m.alarms[1], [final.vector() for _, final in twin.alarms], atol=1e-8)
    np.testing.assert_allclose(m.reversal[:2], twin.reversal, rtol=1e-6)
    assert m.clock[CUT] == (NEVER if twin.cut is None else twin.cut)
    assert rules.beside.now == twin.time
    return model, twin, known


@pytest.mark.parametrize(("options", "change"), pairs(OPTIONS, [(1100, False), (300, True)]))
def test_the_members_are_those_of_the_twin_along_a_drift(options, change):
    options, (at, weighted) = OPTIONS[options], change
    rows = 2600 if options["max_rules"] == 1 and at == 300 else at + 900  # there, one of the events comes late
    X, Y = flipped(rows, at, seed=3, p=3, K=2)
    weights = np.random.default_rng(0).uniform(0.5, 1.5, len(X)) if weighted else np.ones(len(X))
    model, twin, known = follow(X, Y, weights, options)
    kinds = [kind for kind, _ in known]
    assert kinds[0] == "start"
    assert {"start", "cut", "renewed"} == set(kinds)
    assert (known[0][1] == model.trained().settings.memory) == (at > model.trained().settings.memory)
    assert {member for member, _, _ in twin.reversed} == {"fast", "linear"}
    assert model.drift.arrays.time[LAG] == 0.0


@pytest.mark.parametrize("options", OPTIONS)
def test_the_members_are_those_of_the_twin_where_answers_persist(options):
    X, Y = flipped(2200, 1400, seed=3, p=3, K=2)
    runs = np.argsort(np.arange(2200) // 60 + 0.5 * Y[:, 0], kind="stable")  # some thirty rows of each answer
    _, twin, known = follow(X[runs], Y[runs], np.ones(2200), OPTIONS[options])
    assert known[0][0] == "start"
    assert 400 < twin.time < 2000
    assert twin.answers[0].last[1] < twin.answers[1].last[1] <= 1.0
