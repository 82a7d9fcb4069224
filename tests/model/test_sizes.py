"""Arrays of the wrong size are refused before a kernel is called, and nothing is changed."""

import copy

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.active.scoring.second_moments import SecondMoments
from evolabel.active.selection import FirstCome, QuantileSelector, TokenSelector
from evolabel.active.selection.token_bucket import Allowance
from evolabel.core.rows import Batch, Rows, check_batch, check_learned
from evolabel.errors import InternalError
from evolabel.stages.feedback.stage import ErrorFeedback

N, P, K = 5, 4, 3


def batch(**changes):
    return Batch(np.zeros((N, P)), np.zeros((N, K)))._replace(**changes)


WRONG = {
    "narrow rows": {"X": np.zeros((N, P - 1))},
    "wide rows": {"X": np.zeros((N, P + 1))},
    "narrow labels": {"Y": np.zeros((N, K - 1))},
    "wide labels": {"Y": np.zeros((N, K + 1))},
    "fewer labels than rows": {"Y": np.zeros((N - 1, K))},
    "more labels than rows": {"Y": np.zeros((N + 1, K))},
    "few weights": {"weights": np.ones(N - 1)},
    "many weights": {"weights": np.ones(N + 1)},
    "narrow confidences": {"confidences": np.ones((N, 1))},
    "few confidences": {"confidences": np.ones((1, K))},
    "narrow outputs": {"outputs": np.zeros((N, K - 1))},
    "few outputs": {"outputs": np.zeros((N - 1, K))},
    "single precision": {"X": np.zeros((N, P), np.float32)},
    "columns first": {"X": np.asfortranarray(np.zeros((N, P)))},
    "every other label": {"Y": np.zeros((N, 2 * K))[:, ::2]},
    "every other weight": {"weights": np.ones(2 * N)[::2]},
    "narrow probabilities": {"probabilities": np.zeros((N, K - 1))},
    "few plain outputs": {"plain": np.zeros((N - 1, K))},
    "limits without coverages": {"set_limits": np.zeros((N, K))},
    "every other output": {"outputs": np.zeros((N, 2 * K))[:, ::2]},
}


def state(clf):
    return [array.copy() for array in clf.inner.any_model.rules.arrays]


def test_what_fits_passes():
    check_batch(batch(), P, K)
    check_batch(batch(weights=np.ones(N), confidences=np.ones((N, K)), outputs=np.zeros((N, K))), P, K)


@pytest.mark.parametrize("wrong", WRONG)
def test_a_batch_that_does_not_fit_is_refused(wrong, trained):
    before = state(trained)
    model, given = trained.inner.any_model, batch(**WRONG[wrong])
    with pytest.raises(InternalError, match="do not fit") as error:
        model.learn_rows(given)
    assert "\n" not in str(error.value)
    with pytest.raises(InternalError):
        model.rules.learn(given)
    assert all(np.array_equal(a, b) for a, b in zip(state(trained), before, strict=True))


@pytest.mark.parametrize("width", [P - 1, P + 1])
@pytest.mark.parametrize("rows", [1, 100])
def test_rows_of_another_width_are_not_answered(width, rows, trained):
    Z = np.zeros((rows, width))
    for ask in (
        trained.inner.any_model.rules.outputs,
        trained.inner.any_model.rules.memberships,
        trained.inner.any_model.scale,
    ):
        with pytest.raises(InternalError):
            ask(Z)


def test_a_model_and_its_counters_must_be_as_wide(trained):
    trained.inner.any_model.n_answers = np.zeros(K - 1)
    with pytest.raises(InternalError, match="2 labels"):
        trained.inner.any_model.learn(Batch(np.zeros((1, P)), np.zeros((1, K))))


@pytest.mark.parametrize("optimise", ["macro_f1", "micro_f1", "balanced", "subset_accuracy"])
def test_decisions_refuse_what_does_not_fit(optimise, stream):
    counts = EvolvingFuzzyClassifier(max_rules=2, optimise=optimise).fit(*stream).inner.any_model.decisions
    Y = np.zeros((N, K))
    wrong = (
        {"outputs": np.zeros((N, K + 1))},
        {"outputs": np.zeros((N - 1, K))},
        {"outputs": Y, "probabilities": np.zeros((N, K - 1))},
        {"outputs": Y, "decisions": np.zeros((N, K - 1))},
    )
    for parts in wrong:
        with pytest.raises(InternalError):
            counts.update(Batch(Y, Y, **parts))


def test_error_feedback_refuses_what_does_not_fit():
    feedback, X, Y = ErrorFeedback(P, np.full(K, 2.0), np.ones(K)), np.zeros((N, P)), np.zeros((N, K))
    for f, confidences in ((Y[:, :2].copy(), Y), (Y, Y[:2]), (np.empty((0, 0)), Y)):
        with pytest.raises(InternalError):
            feedback.learn(Batch(X, Y, confidences=confidences), f)
    with pytest.raises(InternalError):
        feedback.correction(X, np.arange(N - 1), K)


def test_second_moments_refuse_rules_they_do_not_fit(trained, stream):
    moments = SecondMoments()
    moments.update(trained.inner.any_model, stream[0])
    other = copy.deepcopy(trained)
    moments._moments = type(moments._moments)(*(part[:2] for part in moments._moments))
    moments._fits = lambda rules: True
    with pytest.raises(InternalError):
        moments.update(other.inner.any_model, stream[0])


@pytest.mark.parametrize("kind", [QuantileSelector, TokenSelector, FirstCome])
def test_selectors_refuse_rows_of_another_shape(kind):
    from evolabel.active.scoring.criteria import Ambiguity

    selector = kind()
    selector.reset((Ambiguity(),), 0.5, K, 1)
    allowance = Allowance(np.ones(N), np.ones(N, np.int64))
    selector.select(np.zeros((N, *selector.row_shape)), allowance, commit=False)
    *rest, last = selector.row_shape
    for parts in (np.zeros((N, *rest, last + 1)), np.zeros((N + 1, *selector.row_shape))):
        with pytest.raises(InternalError):
            selector.select(parts, allowance, commit=True)


def test_the_quantile_selector_refuses_other_criteria_and_parts_of_other_widths():
    from evolabel.active.scoring.criteria import Ambiguity
    from evolabel.active.scoring.scored_rows import ScoreTable

    selector = QuantileSelector()
    selector.reset((Ambiguity(),), 0.5, K, 1)
    assert selector.values(ScoreTable.of([np.zeros((1, K))])).shape == (1, K)
    with pytest.raises(InternalError):
        selector.values(ScoreTable.of([np.zeros((1, K)), np.zeros((1, K))]))
    with pytest.raises(InternalError):
        selector.record(np.zeros(K + 1), 1, cost=0)


@pytest.mark.parametrize("wrong", ["wide labels", "columns first", "few confidences", "narrow outputs"])
def test_rows_that_do_not_fit_are_refused_by_a_stage_unless_they_were_checked(wrong):
    given = batch(**WRONG[wrong])
    rows = Rows(given.X, given.Y, given.weights, given.confidences, outputs=given.outputs)
    rows.fits = P + 1, K  # by other widths
    with pytest.raises(InternalError, match="do not fit"):
        check_learned(rows, P, K)
    rows.fits = P, K
    check_learned(rows, P, K)
