"""A packed rule base is the rule base itself."""

import copy
import pickle

import numpy as np
import pytest
from small_rule_bases import NO_ROWS, NOTHING, learned, make_settings, make_stream

from evolabel import EvolvingFuzzyClassifier
from evolabel.core.rows import Batch
from evolabel.engine.packed_state import pack
from evolabel.stages.rules.arrays import DONE, State
from evolabel.stages.rules.loops.learn import learn_alone
from evolabel.stages.rules.stage import RuleBase
from evolabel.stages.scaling.stage import fit_scaler

CALM = {"radius": 1e9, "upkeep_every": 10**6}  # nothing happens to the rules: the loop comes back once


def same_arrays(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a.arrays, b.arrays, strict=True))


def test_raw_rows_are_scaled_and_learned():
    X, Y = make_stream(2, rows=50)
    scaler = fit_scaler(X, "quantile", 8)
    scaled, raw = learned(0, **CALM), learned(0, **CALM)
    outs, Z = (np.zeros(Y.shape), np.zeros(Y.shape)), scaler.transform(X)
    raw.learn_raw(Batch(X, Y, outputs=outs[0]), scaler)
    assert learn_alone(scaled.packed, Z, Y, NOTHING, NO_ROWS, 1.0, True, True, False, outs[1]) == (
        50,
        DONE,
    )
    assert same_arrays(scaled, raw)
    np.testing.assert_array_equal(*outs)


def test_a_copy_learns_in_its_own_arrays():
    base = learned(0)
    before = copy.deepcopy(base.arrays)
    assert base.packed is not None
    copy.deepcopy(base).learn(Batch(*make_stream(3, rows=40)))
    assert copy.copy(base).packed is not None
    assert all(np.array_equal(a, b) for a, b in zip(base.arrays, before, strict=True))


def test_the_packed_state_follows_growth_and_new_settings():
    base = RuleBase(4, 3, make_settings(4, max_rules=100, radius=0.02))
    first = base.packed
    assert base.packed is first
    base.learn(Batch(*make_stream(4, rows=200)))  # more rules than there was room for
    assert len(base.arrays.c) > 33
    second = base.packed
    assert second is not first
    base.settings = base.settings._replace(radius=1e9)
    assert base.packed is not second
    rules = base.n_rules
    base.learn(Batch(make_stream(5, rows=20)[0] * 9, make_stream(5, rows=20)[1]))
    assert base.n_rules == rules


@pytest.mark.compiled
def test_arrays_of_other_types_are_refused():
    base = learned(0)
    state = base.arrays._replace(k=base.arrays.k.astype(np.float32))
    with pytest.raises(TypeError, match="float32"):
        pack(State(state, base.settings, base.workspace))


@pytest.mark.parametrize("kind", [int, np.float32, np.int64])
def test_parameters_may_be_numbers_of_any_kind(kind, stream):
    numbers = {"prior_count": kind(2), "temperature": kind(3), "vigilance": kind(1)}
    logged = EvolvingFuzzyClassifier(**numbers).fit(*stream).decision_function(stream[0])
    same = EvolvingFuzzyClassifier(**{name: float(number) for name, number in numbers.items()}).fit(*stream)
    np.testing.assert_array_equal(logged, same.decision_function(stream[0]))


def test_a_packed_tuple_is_not_copied():
    """Its addresses would be those of the arrays it was made of."""
    scaler = fit_scaler(np.random.default_rng(0).normal(size=(20, 2)), "standard", 5)
    for copied in (copy.deepcopy, pickle.dumps):
        if hasattr(scaler.knots, "address"):  # interpreted kernels take the tuple itself
            with pytest.raises(TypeError, match="cannot be copied"):
                copied(scaler.knots)
    assert copy.deepcopy(scaler).knots is not scaler.knots
