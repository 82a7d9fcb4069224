"""Statistics of rows say what learning them would bring; reading them changes nothing."""

import copy

import numpy as np
import pytest
from profiles import PAPER_PROFILE, new_model, options_of

from evolabel.active.scoring.row_statistics import RowStatistics
from evolabel.active.scoring.second_moments import SecondMoments
from evolabel.core.options import Options
from evolabel.core.rows import Batch
from evolabel.errors import StateError
from evolabel.model.storage.snapshot import model_to_arrays
from evolabel.model.stream_model import StreamModel
from evolabel.streams import DriftingStream

QUANTITIES = (
    "outputs", "memberships", "distances", "novelty", "leverage", "information", "trace_drop", "variance_reduction"
)  # fmt: skip
PER_SAMPLE = ("novelty", "leverage", "trace_drop", "variance_reduction")


@pytest.fixture(scope="module")
def samples():
    """180 samples with missing features."""
    X, Y = DriftingStream(n_features=5, n_labels=3, drift_every=70, seed=4).take(180)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    X[np.isnan(X).all(axis=1)] = 0.0
    return X, Y


def trained(samples, options):
    """A model that has learned 150 samples."""
    X, Y = samples
    made = new_model(5, 3, options)
    made.fit(Batch(X[:90], Y[:90]))
    made.learn(Batch(X[90:150], Y[90:150]))
    return made


@pytest.fixture(scope="module", params=[{}, PAPER_PROFILE], ids=["default", "paper"])
def model(request, samples):
    """A trained model of either profile."""
    return trained(samples, options_of(**request.param))


@pytest.fixture
def newcomers(samples):
    """Samples the model has not seen, and one far from all."""
    return np.vstack([samples[0][150:], np.full((1, 5), 1e3)])


def test_outputs_are_those_of_the_model_bit_for_bit(model, newcomers):
    np.testing.assert_array_equal(RowStatistics(model, newcomers).outputs, model.outputs(newcomers))


def test_shapes(model, newcomers):
    statistics, n, rules = RowStatistics(model, newcomers), len(newcomers), model.trained().n_rules
    assert statistics.ready
    assert statistics.n == n
    assert statistics.memberships.shape == statistics.distances.shape == statistics.information.shape == (n, rules)
    for name in PER_SAMPLE:
        assert getattr(statistics, name).shape == (n,), name


def test_rows_looked_at_one_by_one_give_the_same(model, newcomers):
    moments = SecondMoments()
    moments.update(model, newcomers)
    whole = RowStatistics(model, newcomers, moments)
    for i in range(len(newcomers)):
        single = RowStatistics(model, newcomers[i : i + 1], moments)
        for name in QUANTITIES:
            np.testing.assert_array_equal(getattr(single, name)[0], getattr(whole, name)[i], err_msg=name)


def test_reading_changes_neither_the_model_nor_the_moments(model, newcomers):
    moments = SecondMoments()
    moments.update(model, newcomers)
    before = copy.deepcopy((model_to_arrays(model)[0], moments.arrays()))
    statistics = RowStatistics(model, newcomers, moments)
    for name in QUANTITIES:
        getattr(statistics, name)
    for then, now in zip(before, (model_to_arrays(model)[0], moments.arrays()), strict=True):
        assert then.keys() == now.keys()
        for name, array in then.items():
            np.testing.assert_array_equal(now[name], array, err_msg=name)


def test_information_is_finite_and_shares_stay_below_one(model, newcomers):
    statistics = RowStatistics(model, newcomers)
    for name in ("leverage", "trace_drop"):
        assert (getattr(statistics, name) >= 0.0).all(), name
        assert (getattr(statistics, name) < 1.0).all(), name
    assert np.isfinite(statistics.novelty).all()
    assert (statistics.variance_reduction > 0.0).all()


def test_a_sample_learned_tells_less_when_it_comes_again(model, newcomers):
    """With the rules where they are."""
    sample, later = newcomers[:1], copy.deepcopy(model)
    later.trained().learn(Batch(later.scale(sample), np.ones((1, 3)), raw=sample), structure=False)
    for name in ("leverage", "trace_drop"):
        assert getattr(RowStatistics(later, sample), name)[0] < getattr(RowStatistics(model, sample), name)[0], name


def test_product_space_rules_judge_novelty_by_the_features_alone(samples, newcomers):
    options = options_of(**PAPER_PROFILE)
    model = trained(samples, options)
    statistics, rules, p = RowStatistics(model, newcomers), model.trained(), model.n_features
    nearest = statistics.distances.argmin(axis=1)
    young = (1.0 + 1.0 / rules.arrays.k[1 + nearest]) ** 8
    expected = statistics.distances.min(axis=1) / (options.vigilance**2 * p ** (2.0**0.5) / p * young)
    np.testing.assert_allclose(statistics.novelty, expected, rtol=1e-12)


def test_without_moments_the_labelled_samples_stand_for_the_stream(model, newcomers):
    """Moments of a model that has just been fitted are those of its labelled samples."""
    moments = SecondMoments()
    with_them = RowStatistics(model, newcomers, moments).variance_reduction
    np.testing.assert_allclose(RowStatistics(model, newcomers).variance_reduction, with_them, rtol=1e-9)


def test_samples_where_the_stream_is_reduce_its_variance_more_once_it_is_seen_there(model, newcomers):
    here, moments = newcomers[:1], SecondMoments()
    before = RowStatistics(model, here, moments).variance_reduction
    moments.update(model, np.repeat(here, 500, axis=0))
    assert RowStatistics(model, here, moments).variance_reduction > before


def test_a_model_in_warm_up_answers_priors_and_finds_everything_novel_and_equally_informative(samples):
    X, Y = samples
    cold = StreamModel(5, 3, Options())
    cold.learn(Batch(X[:10], Y[:10]))
    statistics = RowStatistics(cold, X[10:14], SecondMoments())
    assert not statistics.ready
    np.testing.assert_array_equal(statistics.outputs, cold.outputs(X[10:14]))
    assert statistics.memberships.shape == statistics.distances.shape == statistics.information.shape == (4, 0)
    assert (statistics.novelty > 1.0).all()
    for name in PER_SAMPLE:
        assert len(set(getattr(statistics, name))) == 1, name


def test_a_look_does_not_mix_the_model_before_and_after_learning(samples):
    X, Y = samples
    model = trained(samples, Options())
    statistics = RowStatistics(model, X[150:152])
    seen = statistics.outputs
    model.learn(Batch(X[150:151], Y[150:151]))
    assert statistics.outputs is seen
    with pytest.raises(StateError, match="make new ones"):
        _ = statistics.trace_drop
