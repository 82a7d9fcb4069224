"""Terms are fifths of the stream, in the units of the features, wherever the stream goes."""

import numpy as np
import pytest
from washing_machine import SCALINGS

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError
from evolabel.stages.rules.stream_terms import stream_terms
from evolabel.words.terms import ANY, TERMS, Vocabulary


def skewed(rows, seed, shift=0.0):
    """Three features of other scales and shapes, two labels."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(rows, 3)) + shift
    X = np.column_stack([1000.0 + 50.0 * z[:, 0], np.exp(0.5 * z[:, 1]), 1e-3 * z[:, 2]])
    return X, np.column_stack([z[:, 0] > shift, z[:, 1] + z[:, 2] > 2.0 * shift]).astype(float)


def words_of(clf):
    return stream_terms(clf.inner.any_model, [f"x{j}" for j in range(clf.n_features_in_)])


def shares_below(X, words):
    return np.array(
        [[(column < edge).mean() for edge in edges] for column, edges in zip(X.T, words.edges, strict=True)]
    )


@pytest.mark.parametrize("scaling", SCALINGS)
def test_every_term_is_a_fifth_of_the_stream_in_original_units(scaling):
    X, Y = skewed(1200, 0)
    clf = EvolvingFuzzyClassifier(scaling=scaling, max_rules=12).fit(X[:300], Y[:300]).partial_fit(X[300:], Y[300:])
    np.testing.assert_allclose(shares_below(X, words_of(clf))[:, 1:-1], [[0.2, 0.4, 0.6, 0.8]] * 3, atol=0.06)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_terms_follow_the_stream_after_a_drift(scaling):
    X, Y = skewed(300, 0)
    later = skewed(3000, 1, shift=1.0)
    clf = EvolvingFuzzyClassifier(scaling=scaling, max_rules=12).fit(X, Y)
    before = words_of(clf)
    clf.partial_fit(*later)
    everything = np.vstack([X, later[0]])
    assert (words_of(clf).edges[:, 1:-1] > before.edges[:, 1:-1]).all()
    shares = shares_below(everything, words_of(clf))[:, 1:-1]
    np.testing.assert_allclose(shares, [[0.2, 0.4, 0.6, 0.8]] * 3, atol=0.08)
    assert np.abs(shares_below(everything, before)[:, 1:-1] - [0.2, 0.4, 0.6, 0.8]).max() > 0.25


def test_terms_survive_saving_and_merging(trained, stream, tmp_path):
    trained.save(tmp_path / "model.safetensors")
    twin = EvolvingFuzzyClassifier.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(words_of(twin).edges, words_of(trained).edges)
    part = trained.sibling().partial_fit(stream[0][:60] + 1.0, stream[1][:60])
    before = words_of(trained).edges
    assert (words_of(trained.merge(part)).edges[:, 1:-1] >= before[:, 1:-1]).mean() > 0.7


@pytest.mark.parametrize("first", range(5))
@pytest.mark.parametrize("last", range(5))
def test_a_term_leads_to_a_range_and_back(first, last):
    if first > last:
        return
    words = Vocabulary(["heat"], np.array([[-1.0, 0.0, 0.5, 3.0, 7.0, 9.0]]))
    term = TERMS[first] if first == last else f"{TERMS[first]} to {TERMS[last]}"
    low, high = words.range_of("heat", term)
    assert low < high
    assert words.term_for("heat", low, high) == (ANY if (first, last) == (0, 4) else term)


def test_any_is_the_whole_range():
    words = Vocabulary(["heat"], np.array([[-1.0, 0.0, 0.5, 3.0, 7.0, 9.0]]))
    assert words.range_of("heat", ANY) == (-1.0, 9.0)
    assert words.term_for("heat", 2.0, 2.0) == "medium"


@pytest.mark.parametrize(
    ("feature", "term", "message"),
    [
        ("cold", "low", "there is no feature 'cold'; the features are heat"),
        ("heat", "hot", "there is no term 'hot'; use one of very low"),
        ("heat", "high to low", "runs downwards; write it as low to high"),
    ],
)
def test_unknown_words_are_refused(feature, term, message):
    with pytest.raises(DataError, match=message):
        Vocabulary(["heat"], np.arange(6.0)[None]).range_of(feature, term)


def test_a_constant_feature_has_terms_that_hold_its_value(stream):
    X = np.column_stack([stream[0], np.full(len(stream[0]), 7.0)])
    words = words_of(EvolvingFuzzyClassifier(max_rules=4).fit(X, stream[1]))
    np.testing.assert_array_equal(words.edges[-1], np.full(6, 7.0))
