"""Weights of all rules answer as the statistics do, up to rounding, and only where they pay off."""

from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from paper_rule_bases import paper_base, paper_learned
from small_rule_bases import assert_close, learned, make_stream, with_gaps

from evolabel.active.scoring.row_statistics import RowStatistics
from evolabel.core.options import Options
from evolabel.core.rows import Batch
from evolabel.model.stream_model import StreamModel
from evolabel.stages.drift.stage import NoDrift
from evolabel.stages.rules.weights import MANY_ROWS, SOME_ROWS, answers, weights_of_all
from evolabel.stages.written_rules.edits import rule_edits
from evolabel.stages.written_rules.stage import WrittenRules

ROUNDING = 1e-12


def rotated(seed, rows):
    """A rule base with full covariances."""
    options = {"alpha": 0.0, "beta": 0.0, "parent": "global", "space": "input", "novelty": "deviation"}
    base = paper_base(4, 3, ridge=20.0, max_rules=5, min_activation=0.03, merging="room", **options)
    base.learn(Batch(*make_stream(seed, rows)))
    return base


KINDS = {"closed": learned, "rotated": rotated, "iterated": paper_learned}


@st.composite
def bases(draw):
    """A rule base of any kind after any number of samples, perhaps with a locked rule, and many rows with gaps."""
    seed, rows = draw(st.integers(0, 30)), draw(st.integers(2, 150))
    base = KINDS[draw(st.sampled_from(sorted(KINDS)))](seed, rows)
    if draw(st.booleans()):
        written = WrittenRules(base.n_features, base.n_labels)
        drift = NoDrift(base)
        model = SimpleNamespace(trained=lambda: base, drift=drift, journal=deque(), written=written, trees=None)
        rule_edits.lock_rule(model, int(base.arrays.identity[1]))
        base.learn(Batch(*make_stream(seed + 50, rows=20)))
    Z, Y = make_stream(seed + 100, rows=MANY_ROWS)
    return base, with_gaps(Z, Y, seed, features=draw(st.sampled_from([0.0, 0.3])))[0]


@settings(max_examples=examples(60), deadline=None)
@given(bases())
def test_they_answer_as_the_statistics_do(case):
    base, Z = case
    by_row = np.concatenate([base.outputs(Z[i : i + 1]) for i in range(len(Z))])
    assert_close(base.outputs(Z), by_row, ROUNDING)


@settings(max_examples=examples(30), deadline=None)
@given(bases())
def test_the_naive_twin_agrees(case):
    """Eq. (2), written down: memberships times what each rule makes of its own regressor."""
    base, Z = case
    W, psi = [base.weights(slot) for slot in range(base.n_rules + 1)], base.memberships(Z)[0]
    expected = [sum(psi[i, a - 1] * base.regressor(z, a) @ W[a] for a in range(1, len(W))) for i, z in enumerate(Z)]
    formed = weights_of_all(base)
    assert_close(answers(base, Z, formed).outputs, np.array(expected), ROUNDING)
    for slot in range(1, len(W)):
        assert_close(formed[slot].T, W[slot], 1e-10)


@settings(max_examples=examples(30), deadline=None)
@given(bases(), st.integers(1, SOME_ROWS - 1))
def test_few_rows_and_blocks_have_the_same_bits(case, few):
    base, Z = case
    W = weights_of_all(base)
    for whole, part in zip(answers(base, Z, W), answers(base, Z[:few], W), strict=True):
        np.testing.assert_array_equal(whole[:few], part)


@pytest.fixture(scope="module", params=[True, False], ids=["all members", "rules alone"])
def model(request):
    """A model whose fast member has begun, if it has one."""
    X, Y = make_stream(1, rows=700)
    made = StreamModel(4, 3, Options(follow_drift=request.param))
    made.fit(Batch(X[:150], Y[:150]))
    made.learn(Batch(X[150:], Y[150:]))
    return made


def test_few_rows_are_answered_bit_for_bit_as_one_by_one(model):
    X = make_stream(2, rows=MANY_ROWS - 1)[0]
    by_row = np.concatenate([model.outputs(X[i : i + 1]) for i in range(len(X))])
    np.testing.assert_array_equal(model.outputs(X), by_row)


def of_linear_member(model, X):
    """What the linear member adds to the outputs, from the definition; 0 where the rules answer alone."""
    rules = model.trained()
    if rules.beside is None:
        return np.zeros((len(X), 3))
    return rules.beside.mixer_weights[-1] / (1.0 + np.exp(-rules.beside.linear_scores(X) @ rules.beside.arrays.W.T))


@pytest.mark.parametrize("rows", [5, MANY_ROWS])
def test_a_look_answers_by_the_weights_it_is_given(model, rows):
    X = make_stream(2, rows=rows)[0]
    plain, given_them = RowStatistics(model, X), RowStatistics(model, X, weights=model.drift.mixed(weights_of_all))
    assert_close(given_them.outputs, plain.outputs, ROUNDING)
    nothing = RowStatistics(model, X, weights=np.zeros_like(given_them.weights)).outputs
    np.testing.assert_allclose(nothing, of_linear_member(model, X), rtol=1e-12)
    for name in ("memberships", "distances", "information", "leverage", "trace_drop", "variance_reduction"):
        assert_close(getattr(given_them, name), getattr(plain, name), ROUNDING)
