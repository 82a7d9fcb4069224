"""Rules that people write stand in front of the threshold rules: they answer first, and the data can correct them."""

import copy

import numpy as np
import pandas as pd
import pytest
from choices import all_but

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.errors import DataError, ModelFileError, StateError
from evolabel.model.growth import grow_features, keep_features
from evolabel.persistence.model_file import read_model_file, write_model_file
from evolabel.stages.written_rules.expert_reader import without_name

FEATURES, LABELS = ["heat", "flow", "noise"], ["leak", "jam", "wear"]
HOT = 'IF heat ABOVE 1 AND flow BETWEEN -1 AND 1 THEN leak LIKELY WITH CONFIDENCE 0.5 WEIGHT 20 CALLED "hot"'


def plant(rows=400, seed=0, *, gaps=0.0):
    """Leaks where it is hot and flow is not high, jams by noise, wear by chance."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    Y = np.column_stack([(X[:, 0] > 1.0) & (X[:, 1] < 1.0), X[:, 2] > 0.5, rng.random(rows) < 0.2]).astype(float)
    X[rng.random(X.shape) < gaps] = np.nan
    Y[rng.random(Y.shape) < gaps] = np.nan
    return pd.DataFrame(X, columns=FEATURES), pd.DataFrame(Y, columns=LABELS)


def fitted(**parameters):
    return EvolvingFuzzyClassifier(**{"max_rules": 6, **parameters}).fit(*plant(100))


def row(heat, flow=0.0, noise=0.0):
    return pd.DataFrame([[heat, flow, noise]], columns=FEATURES)


@pytest.fixture
def clf():
    return fitted()


def test_a_rule_answers_from_the_first_row_on_where_it_holds_and_only_its_labels(clf):
    X, _ = plant(200, seed=1, gaps=0.1)
    before = clf.decision_function(X)
    clf.rulebook.add(HOT)
    after = clf.decision_function(X)
    holds = ((X.heat > 1) & (X.flow >= -1) & (X.flow <= 1)).to_numpy()  # NaN: it does not
    assert 5 < holds.sum() < 100
    np.testing.assert_array_equal(after[holds, 0], 0.9)
    np.testing.assert_array_equal(after[~holds], before[~holds])
    np.testing.assert_array_equal(after[:, 1:], before[:, 1:])


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("ABOVE 1", [False, False, True]),
        ("BELOW 1", [True, False, False]),
        ("BETWEEN 1 AND 1.5", [False, True, True]),
        ("BETWEEN 0.5 AND 1", [False, True, False]),
        ("IS very high", [False, True, True]),
        ("IS very low to high", [True, False, False]),
        ("IS any", [True, True, True]),
    ],
)
def test_both_ends_belong_to_a_range_and_open_ranges_leave_out_the_number(clf, condition, holds):
    X = pd.concat([row(0.0), row(1.0), row(1.25)])
    clf.rulebook.add(f"IF heat {condition} THEN leak 77%")
    assert (clf.decision_function(X)[:, 0] == 0.77).tolist() == holds


def test_values_that_never_came_can_be_written_about(clf):
    clf.rulebook.add("IF heat ABOVE 500 THEN leak 99%")
    assert clf.decision_function(row(501.0))[0, 0] == 0.99


def test_a_term_of_a_feature_that_never_varied_means_nothing():
    X, Y = plant(100)
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(X.assign(noise=1.0), Y)
    with pytest.raises(DataError, match="noise has never varied, so terms mean nothing"):
        clf.rulebook.add("IF noise IS high THEN leak LIKELY")
    assert clf.rulebook.edits == []


def test_the_answer_is_the_written_share_and_the_rows_together(clf):
    clf.rulebook.add(HOT)
    X, Y = plant(60, seed=2)
    holds = ((X.heat > 1) & (X.flow >= -1) & (X.flow <= 1)).to_numpy()
    clf.partial_fit(X, Y, sample_weight=np.full(60, 0.5))
    outcome = clf.rules_.written[0].outcomes[0]
    n, positives = 0.5 * holds.sum(), 0.5 * Y.leak[holds].sum()
    assert (outcome.support, outcome.share) == pytest.approx((n, positives / n))
    assert outcome.answer == pytest.approx((0.9 * 10 + positives) / (10 + n))
    assert clf.decision_function(row(2.0))[0, 0] == pytest.approx(outcome.answer)


def test_the_first_rule_that_holds_answers_and_rules_can_be_moved(clf):
    book = clf.rulebook
    first = book.add("IF heat ABOVE 1 THEN leak 80%, jam 70%")
    second = book.add("IF flow ABOVE 0 THEN leak 20%, wear 60%")
    assert clf.decision_function(row(2.0, 1.0))[0].tolist() == [0.8, 0.7, 0.6]
    book.move(second, 1)
    assert clf.decision_function(row(2.0, 1.0))[0].tolist() == [0.2, 0.7, 0.6]
    assert [rule.number for rule in clf.rules_.written] == [second, first]
    assert str(book.edits[-1]) == f"sample 100: rule {second} was moved by hand: place 1"
    for place in (0, 3, True, "1"):
        with pytest.raises(DataError, match="no place"):
            book.move(first, place)
    with pytest.raises(DataError, match="only rules that were written"):
        book.move(clf.rules_[0].identity, 1)
    book.undo()
    assert [rule.number for rule in clf.rules_.written] == [first, second]


def contradicted(**parameters):
    """A classifier whose rule says the opposite of what comes."""
    clf = fitted(**parameters)
    number = clf.rulebook.add("IF noise ABOVE 0.5 THEN jam UNLIKELY WITH WEIGHT 5")
    for seed in range(1, 4):
        clf.partial_fit(*plant(200, seed=seed))
    return clf, number


def test_a_rule_that_is_worse_beyond_doubt_has_no_say_and_an_event_says_so():
    clf, number = contradicted()
    told = [event for event in clf.events_ if event.kind == "rule contradicted"]
    assert [(event.rule, event.label) for event in told] == [(number, "jam")]
    assert (
        f'rule {number} is no longer used for label "jam", whose error is smaller without it: written 10%, in'
        in str(told[0])
    )
    outcome = clf.rules_.written[0].outcomes[0]
    assert not outcome.is_used
    assert "(written: 10 %; " in clf.rules_.text
    assert "so far: 100 %; worse than without it beyond doubt: it is not used here" in clf.rules_.text
    assert clf.predict(row(0.0, 0.0, 1.5))[0, 1] == 1
    assert clf.explain(row(0.0, 0.0, 1.5)).deciding == (None, None, None)


def test_the_tree_learns_rows_again_where_a_rule_has_no_say():
    """And does not where it has: no row of the label in the box of the rule is in the ring."""
    clf, _ = contradicted()
    arrays = clf.inner.any_model.trees.arrays
    used = arrays.rows >= 0
    learned = used & (arrays.weights[:, 1] > 0.0)
    assert (arrays.X[learned, 2] > 0.5).any()
    kept = fitted()
    kept.rulebook.add("IF noise ABOVE 0.5 THEN jam 100%")
    kept.partial_fit(*plant(300, seed=1))
    arrays = kept.inner.any_model.trees.arrays
    since = (arrays.rows >= 0) & (arrays.weights[:, 1] > 0.0) & (arrays.rows >= 100)
    assert since.sum() > 100
    assert (arrays.X[since, 2] <= 0.5).all()
    assert kept.rules_.written[0].outcomes[0].support > 50


def test_a_rule_that_the_data_have_corrected_has_a_say_again():
    clf, number = contradicted()
    clf.partial_fit(*plant(8000, seed=9))
    told = [event for event in clf.events_ if event.kind == "rule restored"]
    assert told, "the rule was never restored"
    assert (told[0].rule, told[0].label) == (number, "jam")
    assert "is used for label" in str(told[0])


def test_a_locked_rule_keeps_its_answer_and_counts_its_rows(clf):
    book = clf.rulebook
    book.add(HOT)
    book.lock("hot")
    X, Y = plant(300, seed=3)
    clf.partial_fit(X, Y.assign(leak=0.0))
    rule = clf.rules_.written[0]
    assert clf.decision_function(row(2.0))[0, 0] == 0.9
    assert rule.outcomes[0].support > 10
    assert rule.outcomes[0].share == 0.0
    assert rule.outcomes[0].is_used
    assert rule.title.startswith(f'Rule {rule.number} "hot", locked, written')
    with pytest.raises(StateError, match="locked already"):
        book.lock("hot")
    book.unlock("hot")
    assert clf.decision_function(row(2.0))[0, 0] < 0.6
    with pytest.raises(StateError, match="is not locked"):
        book.unlock("hot")


def test_edits_keep_number_and_place_and_drop_what_was_learned(clf):
    book = clf.rulebook
    numbers = [book.add(HOT), book.add("IF flow ABOVE 0 THEN jam LIKELY")]
    book.lock("hot")
    clf.partial_fit(*plant(50, seed=1))
    book.edit("hot", "IF heat ABOVE 2 THEN leak 70%")
    rule = clf.rules_.written[0]
    assert [each.number for each in clf.rules_.written] == numbers
    assert (rule.name, rule.locked, rule.outcomes[0].support, rule.outcomes[0].answer) == ("hot", True, 0.0, 0.7)
    book.rename("hot", "warm")
    assert clf.rules_.written[0].name == "warm"
    with pytest.raises(DataError, match="is a written rule, which is never merged"):
        book.merge("warm", clf.rules_[0].identity)
    book.delete("warm")
    assert [each.number for each in clf.rules_.written] == numbers[1:]
    assert book.names == {}


def test_rules_are_printed_first_word_for_word(clf):
    said = "if heat is  VERY high then Leak 90%".replace("Leak", "leak")
    number = clf.rulebook.add(said)
    clf.partial_fit(*plant(126, seed=5))
    rules = clf.rules_
    rule = rules.written[0]
    assert rule.written == said
    lines = rule.text.splitlines()
    assert lines[0] == f"Rule {number}, written, place 1"
    assert lines[1].split() == said.split()
    outcome = rule.outcomes[0]
    assert lines[2] == f"  leak: written: 90 %; {outcome.support:.0f} samples so far: {outcome.share:.0%}".replace(
        "%", " %"
    ).replace("90  %", "90 %")
    assert f"rule {number})" in rules.text.split("\n\n")[0]
    found = rules.to_dict()["written"][0]
    assert found["written"] == said
    assert found["ranges"]["heat"][1] is None
    assert found["then"][0]["written"] == 0.9
    assert rules.top(1, "jam").written == ()
    assert len(rules.top(1, "leak").written) == 1
    assert str(clf.rulebook.form(number)) == "IF heat IS very high THEN leak LIKELY WITH CONFIDENCE 1 WEIGHT 20"


def test_explanations_add_up_and_name_the_rule(clf):
    clf.partial_fit(*plant(600, seed=1))
    number = clf.rulebook.add(HOT)
    X, _ = plant(60, seed=2, gaps=0.1)
    decided = 0
    for i in range(60):
        why = clf.explain(X[i : i + 1])
        np.testing.assert_allclose(why.total, clf.decision_function(X[i : i + 1])[0], atol=1e-12)
        if why.deciding[0] is not None:
            decided += 1
            assert why.paths[0] is None
            assert why.deciding[0].number == number
            assert f'decided by: {without_name(HOT)} (rule {number} "hot")' in why.text
            assert why.to_dict()["labels"][0]["decided_by"] == number
        else:
            assert why.written[0] == 0.0
        assert why.deciding[1] is None
    assert decided > 3


def test_counterfactuals_cross_the_ends_of_a_rule(clf):
    clf.partial_fit(*plant(600, seed=1))
    clf.rulebook.add("IF heat ABOVE -0.5 AND flow ABOVE 1 THEN leak LIKELY")
    for x, turns_on in ((row(0.0, 1.2), False), (row(0.0, 0.8), True)):
        change = clf.explain(x).counterfactuals[0]
        assert (change.feature, change.turns_on) == ("flow", turns_on)
        assert change.after == pytest.approx(1.0, abs=0.002)
        moved = x.assign(flow=change.after)
        assert clf.predict(moved)[0, 0] == turns_on


@pytest.mark.parametrize("parameters", all_but([{"optimise": "macro_f1"}, {"follow_drift": False}, {}], {}))
def test_row_by_row_is_all_at_once_also_saved_in_between(parameters, tmp_path):
    clf = fitted(**parameters)
    clf.rulebook.add(HOT)
    clf.rulebook.add("IF noise ABOVE 0.5 THEN jam UNLIKELY, leak 30% WITH WEIGHT 100")
    X, Y = plant(330, seed=4, gaps=0.1)
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.2, 2.0, 330)
    once, rows = copy.deepcopy(clf), copy.deepcopy(clf)
    outputs = once.test_then_train(X, Y, sample_weight=weights)
    found = []
    for i in range(330):
        if i == 170:
            rows.save(tmp_path / "model")
            rows = EvolvingFuzzyClassifier.load(tmp_path / "model")
        part = slice(i, i + 1)
        found.append(rows.test_then_train(X[part], Y[part], sample_weight=weights[part]))
    np.testing.assert_array_equal(np.concatenate(found), outputs)
    assert rows.events_ == once.events_
    assert any(event.kind == "rule contradicted" for event in once.events_)
    for one, other in zip(once.inner.any_model.written.arrays, rows.inner.any_model.written.arrays, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(once.decision_function(X), rows.decision_function(X))


def test_predicting_changes_nothing(clf, state_of, assert_same_state):
    clf.rulebook.add(HOT)
    before = state_of(clf)
    X, _ = plant(100, seed=1)
    clf.decision_function(X)
    clf.explain(X[:1])
    str(clf.rules_)
    assert_same_state(state_of(clf), before)


def test_undo_restores_the_bits_also_from_a_file(clf, state_of, assert_same_state, tmp_path):
    before = state_of(clf)
    book = clf.rulebook
    number = book.add(HOT)
    book.add("IF flow ABOVE 0 THEN jam LIKELY")
    book.edit(number, "IF heat ABOVE 2 THEN leak 70%")
    book.move(number, 2)
    book.lock("hot")
    book.delete("hot")
    clf.save(tmp_path / "model")
    loaded = EvolvingFuzzyClassifier.load(tmp_path / "model")
    for kind in ("deleted", "locked", "moved", "edited", "added", "added"):
        assert loaded.rulebook.undo().kind == kind
    X, _ = plant(50, seed=1)
    np.testing.assert_array_equal(loaded.decision_function(X), fitted().decision_function(X))
    for _ in range(6):
        book.undo()
    assert_same_state(state_of(clf), before)
    book.add(HOT)
    clf.partial_fit(*plant(1, seed=1))
    with pytest.raises(StateError, match="has learned since"):
        book.undo()


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("low", lambda a: a[:] if a.fill(np.inf) else a, "array low"),
        ("high", lambda a: a * np.nan, "array high"),
        ("shares", lambda a: a + 1.0, "array shares"),
        ("shares", lambda a: a * np.nan, "a label in every rule"),
        ("prior", lambda a: a - 1e3, "array prior"),
        ("held", lambda a: np.where(np.arange(a.shape[1]) == 1, 0.5, a), "array held"),
        ("rows", lambda a: a + 1e9, "array rows"),
        ("positives", lambda a: a + 1.0, "no more positives than rows"),
        ("squares", lambda a: a - 1.0, "array squares"),
        ("closed", lambda a: a + 2, "array closed"),
        ("closed", lambda a: a + 1, "not mentioned"),
        ("number", lambda a: a + 1000, "no other rule"),
        ("number", lambda a: a * 0, "no other rule"),
        ("low", lambda a: a[:, :1], "array low has shape"),
    ],
)
def test_a_crafted_list_is_refused(clf, tmp_path, name, change, told):
    clf.rulebook.add(HOT)
    clf.save(tmp_path / "model")
    arrays, manifest = read_model_file(tmp_path / "model")
    arrays[f"written.{name}"] = np.ascontiguousarray(change(arrays[f"written.{name}"].copy()))
    write_model_file(tmp_path / "model", arrays, manifest)
    with pytest.raises(ModelFileError, match=told):
        EvolvingFuzzyClassifier.load(tmp_path / "model")


def test_merging_keeps_the_first_list_and_adds_what_is_new():
    base, other = fitted(), fitted()
    base.rulebook.add(HOT)
    other.rulebook.add('IF flow ABOVE 0.5 THEN wear 60% CALLED "flow"')
    other.rulebook.add(HOT)
    base.partial_fit(*plant(50, seed=1))
    other.partial_fit(*plant(80, seed=2))
    sums = [[rule.outcomes[0].support for rule in clf.rules_.written] for clf in (base, other)]
    base.merge(other)
    hot, flow = base.rules_.written
    assert hot.outcomes[0].support == pytest.approx(sums[0][0] + sums[1][1])
    assert (flow.name, flow.outcomes[0].support) == ("flow", sums[1][0])
    assert base.decision_function(row(0.0, 1.0))[0, 2] == pytest.approx(flow.outcomes[0].answer)
    assert len({hot.number, flow.number, *(rule.identity for rule in base.rules_)}) == 2 + len(base.rules_)
    assert [event.rule for event in base.events_ if event.kind == "joined"][-1] == flow.number


def test_labels_and_features_come_and_go(clf):
    clf.rulebook.add(HOT)
    X, Y = plant(80, seed=1)
    clf.partial_fit(X, np.column_stack([Y, np.ones(80)]))
    assert clf.decision_function(row(2.0)).shape == (1, 4)
    assert [o.label for o in clf.rules_.written[0].outcomes] == ["leak"]


def test_a_rule_goes_with_a_feature_that_it_names(clf):
    stays = clf.rulebook.add("IF noise ABOVE 0.5 THEN jam 77%")
    goes = clf.rulebook.add(HOT)
    model = clf.inner.any_model
    grow_features(model, [np.array([1.0, 2.0, 3.0])])
    assert model.outputs(np.array([[2.0, 0.0, 1.0, np.nan]]))[0, :2].tolist() == [0.9, 0.77]
    keep_features(model, np.array([1, 2, 3]))
    assert model.written.arrays.number.tolist() == [stays]
    assert model.outputs(np.array([[0.0, 1.0, 2.0]]))[0, 1] == 0.77
    event = model.rules.events[-1]
    assert str(event) == f"sample 100: rule {goes} was removed, because a feature that it names is gone"
    assert model.rules.rule_names.names == {}


@pytest.mark.parametrize("classes", [["no", "yes"], ["a", "b", "c"]])
def test_a_rule_about_one_class_gives_sensible_outputs(classes):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 2))
    y = np.array(classes)[np.clip((X[:, 0] > 0).astype(int) + (X[:, 0] > 1), 0, len(classes) - 1)]
    clf = EvolvingFuzzyClassifier(max_rules=5).fit(X[:200], y[:200])
    inside, outside = [[-1.0, 2.0]], [[-1.0, 0.0]]
    before = clf.predict_proba(outside)
    clf.rulebook.add(f"IF x1 ABOVE 1.5 THEN {classes[-1]} 80%")
    shares = clf.inner.any_model.outputs(np.array(inside))[0]  # what predict_proba is calibrated from
    assert clf.predict(inside).tolist() == [classes[-1]]
    assert shares[-1] == pytest.approx(0.8)
    assert shares.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(clf.predict_proba(outside), before)
    clf.rulebook.add(f"IF x1 BELOW -1.5 THEN {classes[0]} 0%")
    assert clf.predict([[-1.0, -2.0]])[0] != classes[0]
    why = clf.explain(inside)
    np.testing.assert_allclose(why.total, clf.inner.any_model.outputs(np.array(inside))[0], atol=1e-12)
    assert all(rule is not None for rule in why.deciding)
    clf.partial_fit(X[200:], y[200:])
    told = [event for event in clf.events_ if event.kind == "rule contradicted"]
    assert len({event.rule for event in told}) == len(told) <= 2


def test_an_active_learner_uses_the_rules():
    clf = fitted()
    clf.rulebook.add("IF heat ABOVE 1 THEN leak 55%")
    learner = ActiveLearner(clf, budget=0.5)
    X, Y = plant(100, seed=6)
    for i in range(100):
        query = learner.query(X[i : i + 1])
        learner.update(query, Y[i : i + 1] if query.asked else None)
    assert clf.rules_.written[0].outcomes[0].support > 0.0


def test_a_threshold_rule_is_edited_by_a_written_one():
    clf = fitted()
    for seed in range(1, 6):
        clf.partial_fit(*plant(400, seed=seed))
    rule = next(rule for found in clf.rules_.threshold_rules for rule in found.rules if rule.label == "jam")
    book = clf.rulebook
    form = book.form(rule.number)
    assert [condition.feature for condition in form.conditions] == ["noise"]
    for call in (book.lock, book.delete, lambda number: book.rename(number, "x")):
        with pytest.raises(DataError, match=f"rule {rule.number} is a threshold rule, which follows the data"):
            call(rule.number)
    book.edit(rule.number, form)
    assert book.edits[-1].kind == "added"
    written = clf.rules_.written[0]
    assert written.outcomes[0].label == "jam"
    assert written.number != rule.number
    pasted = book.add(rule.text)
    assert book.form(pasted).conditions == form.conditions
    assert "samples" not in clf.rules_.written[1].written


def test_a_form_is_read_from_numbers_where_columns_have_other_names(clf):
    number = clf.rulebook.add(HOT)
    clf.name_columns(["h", "f", "n"], ["a", "b", "c"])
    form = clf.rulebook.form(number)
    assert [condition.feature for condition in form.conditions] == ["h", "f"]
    assert (form.conditions[1].low, form.conditions[1].high) == (-1.0, 1.0)
    assert (form.expectations[0].label, form.weight, form.name) == ("a", 10.0, "hot")
    before = clf.inner.any_model.written.arrays
    clf.rulebook.edit(number, form)
    for name in ("low", "high", "shares", "prior"):
        np.testing.assert_allclose(getattr(clf.inner.any_model.written.arrays, name), getattr(before, name), rtol=1e-15)
