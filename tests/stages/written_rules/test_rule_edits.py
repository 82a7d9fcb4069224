"""Acts of people: undone they leave no trace, done they leave a rule base that learns on and stays consistent."""

import copy
import json

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import PAPER_PROFILE, new_model, options_of

from evolabel.core.rows import Batch
from evolabel.errors import DataError, StateError
from evolabel.model.storage.snapshot import model_from_arrays, model_to_arrays
from evolabel.stages.rules.inverses import ridge_inverse
from evolabel.stages.written_rules.edits import journal, rule_edits
from evolabel.stages.written_rules.specification import RuleSpec
from evolabel.streams import DriftingStream

PROFILES = {
    "default": {},
    "no trees": {"threshold_rules": False},
    "rotated": {"covariance": "full"},
    "paper": PAPER_PROFILE,
    "few": {"max_rules": 3},
}
X, Y = DriftingStream(n_features=3, n_labels=3, drift_every=80, seed=9).take(400)


def fitted(profile):
    model = new_model(3, 3, options_of(**{"max_rules": 5, **PROFILES[profile]}))
    model.fit(Batch(X[:100], Y[:100]))
    return model


FITTED = {}


def fresh(profile):
    if profile not in FITTED:
        FITTED[profile] = fitted(profile)
    return copy.deepcopy(FITTED[profile])


def a_box(weight=20.0):
    low, high = np.array([0.2, -np.inf, -np.inf]), np.array([np.inf, np.inf, 0.5])
    return RuleSpec(low, high, np.array([0.9, np.nan, 0.1]), 0.8, weight)


def apply(model, act, number):
    """One act on a rule chosen by number; acts that make no sense now are skipped."""
    base = model.trained()
    rules = model.written.arrays.number.tolist() + base.arrays.identity[1 : 1 + base.n_rules].tolist()
    rule, other = rules[number % len(rules)], rules[(number + 1) % len(rules)]
    try:
        {
            "add": lambda: rule_edits.add_rule(model, a_box(), "as written", ""),
            "edit": lambda: rule_edits.edit_rule(model, rule, a_box(7.0), "anew", "edited"),
            "move": lambda: rule_edits.move_rule(model, rule, 1 + number % 3),
            "rename": lambda: rule_edits.rename_rule(model, rule, f"rule of {number}"),
            "lock": lambda: rule_edits.lock_rule(model, rule),
            "unlock": lambda: rule_edits.unlock_rule(model, rule),
            "merge": lambda: rule_edits.merge_rules(model, rule, other),
            "delete": lambda: rule_edits.delete_rule(model, rule),
        }[act]()
    except (DataError, StateError):
        return False
    return True


def assert_same(one, other):
    (arrays, facts), (others, other_facts) = one, other
    assert facts == other_facts
    assert arrays.keys() == others.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, others[name], err_msg=name, strict=True)


def assert_consistent(base):
    """P is the inverse of H + penalty, numbers are finite, and W has room exactly where it is needed."""
    for slot in range(1, base.n_rules + 1):
        wanted = ridge_inverse(base.hessian(slot), base.settings.penalty[1])
        np.testing.assert_allclose(base.inverse(slot), wanted, rtol=1e-6, atol=1e-9 * np.abs(wanted).max())
        assert (base.arrays.inv[slot] > 0.0).all()
        assert (base.arrays.M[slot] >= 0.0).all()
    used = slice(0, base.n_rules + 1)
    assert (base.arrays.W.shape[1] > 0) == any(base.has_weights[slot] for slot in range(base.n_rules + 1))
    assert len(set(base.arrays.identity[used][1:])) == base.n_rules <= base.settings.max_rules


kinds = st.sampled_from(["add", "edit", "move", "rename", "lock", "unlock", "merge", "delete"])
plans = st.lists(st.tuples(kinds, st.integers(0, 9)), min_size=1, max_size=8)


@pytest.mark.parametrize("profile", PROFILES)
@given(plan=plans)
@settings(max_examples=examples(15), deadline=None)
def test_undo_goes_back_step_by_step_to_the_exact_bits(profile, plan):
    model = fresh(profile)
    states = []
    for act, number in plan:
        before = model_to_arrays(copy.deepcopy(model))
        if apply(model, act, number):
            states.append(before)
        else:
            assert_same(model_to_arrays(model), before)
    arrays, facts = model_to_arrays(model)
    kinds = {"model_class": type(model), "options_class": type(model.options)}
    stored = model_from_arrays(copy.deepcopy(arrays), json.loads(json.dumps(facts)), **kinds)
    for before in reversed(states):
        for each in (model, stored):
            journal.undo(each)
            assert_same(model_to_arrays(each), before)


@pytest.mark.parametrize("profile", PROFILES)
@given(plan=plans)
@settings(max_examples=examples(15), deadline=None)
def test_the_model_goes_on_learning_after_acts_and_stays_consistent(profile, plan):
    model = fresh(profile)
    base = model.trained()
    for round_, (act, number) in enumerate(plan):
        apply(model, act, number)
        assert_consistent(base)
        rows = slice(100 + 30 * round_, 130 + 30 * round_)
        model.learn(Batch(X[rows], Y[rows]))
    assert_consistent(base)
    assert np.isfinite(model.outputs(X)).all()


def test_what_was_learned_since_forbids_undo_and_says_so():
    model = fresh("default")
    base = model.trained()
    with pytest.raises(StateError, match="no edit to undo"):
        journal.undo(model)
    rule_edits.add_rule(model, a_box(), "", "")
    model.learn(Batch(X[100:101], Y[100:101]))
    before = model_to_arrays(copy.deepcopy(model))
    with pytest.raises(StateError, match="has learned since"):
        journal.undo(model)
    assert_same(model_to_arrays(model), before)
    rule_edits.rename_rule(model, int(base.arrays.identity[1]), "first")
    journal.undo(model)
    assert_same(model_to_arrays(model), before)


def test_only_so_many_acts_are_kept():
    model = fresh("default")
    base = model.trained()
    for number in range(journal.ENTRIES_KEPT + 5):
        rule_edits.rename_rule(model, int(base.arrays.identity[1]), f"name {number}")
    for _ in range(journal.ENTRIES_KEPT):
        journal.undo(model)
    assert base.rule_names.names == {int(base.arrays.identity[1]): "name 4"}
    with pytest.raises(StateError, match="no edit to undo"):
        journal.undo(model)


def test_a_full_log_gets_back_what_an_act_pushed_out():
    model = fresh("default")
    base = model.trained()
    base.log("death", 0, None)
    while len(base.events) < base.events.maxlen:
        base.log("joined", len(base.events), None)
    before = list(base.events)
    rule_edits.add_rule(model, a_box(), "", "")
    assert len(base.events) == base.events.maxlen
    journal.undo(model)
    assert list(base.events) == before


def test_acts_that_make_no_sense_are_refused():
    model = fresh("few")
    base = model.trained()
    first, second, third = (int(identity) for identity in base.arrays.identity[1:4])
    rule_edits.rename_rule(model, first, "pump")
    rule_edits.lock_rule(model, first)
    before = model_to_arrays(copy.deepcopy(model))
    for act, logged in (
        (lambda: rule_edits.lock_rule(model, first), "is locked already"),
        (lambda: rule_edits.unlock_rule(model, second), "is not locked"),
        (lambda: rule_edits.merge_rules(model, first, second), "unlock it before"),
        (lambda: rule_edits.merge_rules(model, second, second), "with itself"),
        (lambda: rule_edits.delete_rule(model, 99), "there is no rule 99; the rules are"),
        (lambda: rule_edits.rename_rule(model, second, "pump"), "choose another name"),
    ):
        with pytest.raises((DataError, StateError), match=logged):
            act()
        assert_same(model_to_arrays(model), before)
    rule_edits.lock_rule(model, second)
    rule_edits.delete_rule(model, second)
    rule_edits.delete_rule(model, third)
    with pytest.raises(StateError, match="the only rule"):
        rule_edits.delete_rule(model, first)


def test_a_merged_rule_takes_the_name_of_the_one_that_is_gone():
    model = fresh("default")
    base = model.trained()
    first, second = (int(identity) for identity in base.arrays.identity[1:3])
    kept = rule_edits.merge_rules(model, first, second)
    journal.undo(model)
    gone = second if kept == first else first
    rule_edits.rename_rule(model, gone, "pump")
    assert rule_edits.merge_rules(model, first, second) == kept
    assert base.rule_names.names == {kept: "pump"}
    assert str(base.events[-1]) == f"sample 100: rule {gone} was merged into rule {kept} by hand"
