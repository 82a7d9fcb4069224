"""Second moments are the batch formula, and follow the rules through births, merges and deaths."""

import numpy as np
import pytest
from profiles import PAPER_PROFILE, new_model, options_of

from evolabel.active.scoring.second_moments import SecondMoments
from evolabel.core.options import Options
from evolabel.core.rows import Batch
from evolabel.errors import DataError, ParameterError
from evolabel.model.stream_model import StreamModel
from evolabel.streams import DriftingStream

P = 4


@pytest.fixture(scope="module")
def samples():
    X, Y = DriftingStream(n_features=P, n_labels=3, drift_every=60, seed=2).take(200)
    X[::7, 1] = np.nan
    return X, Y


def fitted(samples, **options):
    model = new_model(P, 3, options_of(**options))
    model.fit(Batch(samples[0][:100], samples[1][:100]))
    return model


def batch_moments(model, X, weight=1.0):
    """sum of psi r r' per slot, by the formula."""
    rules, Z = model.trained(), model.scale(np.ascontiguousarray(X))
    psi, _ = rules.memberships(Z)
    whole = np.column_stack([np.where(np.isnan(Z), rules.arrays.c[0, :P], Z), np.ones(len(Z))])
    sums = [whole.T @ whole]
    for slot in range(1, rules.n_rules + 1):
        r = np.array([rules.regressor(z, slot) for z in Z])
        sums.append(r.T @ (psi[:, slot - 1, None] * r))
    return weight * np.array(sums)


def labelled(model):
    rules = model.trained()
    return np.array([rules.hessian(slot) for slot in range(rules.n_rules + 1)])


def matrices(moments, model):
    now = moments.of(model.trained())
    return np.array([now.matrix(slot) for slot in range(len(now.M))])


@pytest.mark.parametrize("options", [{}, PAPER_PROFILE], ids=["default", "paper"])
@pytest.mark.parametrize("pieces", [1, 9, 100])
def test_moments_are_those_of_the_labelled_samples_plus_the_batch_formula(samples, options, pieces):
    model, moments = fitted(samples, **options), SecondMoments()
    for part in np.array_split(samples[0][100:], pieces):
        moments.update(model, part)
    expected = labelled(model) + batch_moments(model, samples[0][100:])
    got = matrices(moments, model)
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(got, got.transpose(0, 2, 1))
    assert moments.total_of(moments.of(model.trained())) == pytest.approx(200.0)


@pytest.mark.parametrize("pieces", [1, 100])
def test_every_third_sample_counts_three_times(samples, pieces):
    model, moments = fitted(samples), SecondMoments(every=3)
    for part in np.array_split(samples[0][100:], pieces):
        moments.update(model, part)
    expected = labelled(model) + batch_moments(model, samples[0][100::3], weight=3.0)
    np.testing.assert_allclose(matrices(moments, model), expected, rtol=1e-10, atol=1e-10)


def test_where_every_sample_is_labelled_the_moments_are_h(samples):
    model, moments = fitted(samples), SecondMoments()
    rules, Z = model.trained(), model.scale(samples[0])
    for i in range(100, 150):
        moments.update(model, samples[0][i : i + 1])
        row = slice(i, i + 1)
        rules.learn(Batch(Z[row], samples[1][row], raw=samples[0][row]), structure=False)
    np.testing.assert_allclose(matrices(moments, model), labelled(model), rtol=1e-9, atol=1e-9)


def test_merged_rules_add_up_however_often_they_merge(samples):
    model, moments = fitted(samples), SecondMoments()
    moments.update(model, samples[0][100:])
    rules = model.trained()
    before = matrices(moments, model)
    rules.shrink_to(rules.n_rules - 4)
    after = matrices(moments, model)
    assert len(after) == len(before) - 4
    np.testing.assert_allclose(after[1:].sum(axis=0), before[1:].sum(axis=0), rtol=1e-10)
    np.testing.assert_array_equal(after[0], before[0])


def test_a_dead_rule_is_dropped_and_the_others_keep_theirs_in_their_new_slots(samples):
    model, moments = fitted(samples), SecondMoments()
    moments.update(model, samples[0][100:])
    rules = model.trained()
    before = dict(zip(rules.arrays.identity[1:].tolist(), matrices(moments, model)[1:], strict=False))
    dead = int(rules.arrays.identity[2])
    rules.contents.free(2)
    living = rules.arrays.identity[1 : rules.n_rules + 1].tolist()
    assert dead not in living
    for identity, M in zip(living, matrices(moments, model)[1:], strict=True):
        np.testing.assert_array_equal(M, before[identity])


def test_a_rule_born_later_enters_with_what_it_has_learned(samples):
    model, moments = fitted(samples, max_rules=100, vigilance=0.1), SecondMoments()
    moments.update(model, samples[0][100:])
    before, rules = matrices(moments, model), model.trained()
    model.learn(Batch(np.full((1, P), 1e3), np.ones((1, 3))))
    after = matrices(moments, model)
    assert len(after) == len(before) + 1
    np.testing.assert_array_equal(after[:-1], before)
    np.testing.assert_array_equal(after[-1], rules.hessian(rules.n_rules))
    assert after[-1, -1, -1] > 0.0


@pytest.mark.parametrize(
    "options", [{}, PAPER_PROFILE, {"alpha": 0.1, "follow_drift": False}], ids=["default", "paper", "iterated"]
)
def test_stored_moments_go_on_as_if_nothing_had_happened(samples, options):
    model, moments = fitted(samples, **options), SecondMoments(every=2)
    moments.update(model, samples[0][100:131])
    again = SecondMoments.from_arrays(moments.arrays())
    for copy in (moments, again):
        copy.update(model, samples[0][131:])
    for name, array in moments.arrays().items():
        np.testing.assert_array_equal(again.arrays()[name], array, err_msg=name)


def test_moments_that_have_seen_nothing_can_be_stored():
    again = SecondMoments.from_arrays(SecondMoments(every=4).arrays())
    assert again.every == 4


def test_damaged_arrays_are_refused(samples):
    model, moments = fitted(samples), SecondMoments()
    moments.update(model, samples[0][100:])
    stored = moments.arrays()
    for damage in (
        {"M": stored["M"][1:]},
        {"n_pending": stored["n_pending"] + 100},
        {"pending_M": stored["pending_M"][:, :1]},
    ):
        with pytest.raises(DataError, match="array "):
            SecondMoments.from_arrays({**stored, **damage})


def test_other_features_start_the_moments_anew(samples):
    model, moments = fitted(samples), SecondMoments()
    moments.update(model, samples[0][100:])
    wider = StreamModel(P + 1, 3, Options())
    wider.fit(Batch(np.column_stack([samples[0], samples[0][:, 0]]), samples[1]))
    np.testing.assert_array_equal(matrices(moments, wider), labelled(wider))


def test_samples_of_the_warm_up_are_left_out(samples):
    moments = SecondMoments()
    moments.update(StreamModel(P, 3, Options()), samples[0][:10])
    assert moments.n_seen == 0


def test_every_must_be_a_whole_number():
    with pytest.raises(ParameterError, match="every=0"):
        SecondMoments(every=0)
