"""What a person reads: predictions in parts that add up, and rules in original units."""

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import DataError

pd = pytest.importorskip("pandas")

FEATURES = ["heat", "flow", "load", "age"]
LABELS = ["rain", "snow", "wind"]


@pytest.fixture
def named(stream):
    X, Y = stream
    frames = pd.DataFrame(1000.0 + 50.0 * X, columns=FEATURES), pd.DataFrame(Y, columns=LABELS)
    return EvolvingFuzzyClassifier(max_rules=4).fit(*frames), *frames


def test_contributions_sum_to_the_output(trained, gappy_stream):
    X = gappy_stream[0]
    assert np.isnan(X).any()
    explained = np.array([trained.explain(x).total for x in X])
    np.testing.assert_allclose(explained, trained.decision_function(X), rtol=0.0, atol=1e-12)


def test_contributions_of_a_rule_are_its_share_of_the_output(trained, stream):
    why = trained.explain(stream[0][3])
    assert why.contributions.shape == (len(why.rules), 5, 3)
    assert why.memberships.shape == why.distances.shape == why.rules.shape
    np.testing.assert_allclose(why.memberships.sum(), 1.0)
    assert set(why.rules) <= {rule.identity for rule in trained.rules_}


def test_memberships_are_one_row_per_sample_that_sums_to_one(trained, gappy_stream):
    psi = trained.memberships(gappy_stream[0])
    assert psi.shape == (len(gappy_stream[0]), trained.n_rules_)
    np.testing.assert_allclose(psi.sum(axis=1), 1.0)
    assert psi.min() >= 0.0


def test_a_sample_may_be_a_row_of_an_array_or_a_one_row_frame(named, trained, stream):
    X, _ = stream
    assert np.array_equal(trained.explain(X[0]).total, trained.explain(X[:1]).total)
    clf, frame, _ = named
    np.testing.assert_allclose(clf.explain(frame[:1]).total, clf.decision_function(frame[:1])[0], atol=1e-10)


@pytest.mark.parametrize("rows", [0, 2])
def test_only_one_sample_is_explained_at_a_time(trained, stream, rows):
    with pytest.raises(DataError):
        trained.explain(stream[0][:rows])


def test_rules_lie_where_the_data_lies(named):
    clf, frame, _ = named
    low, high = frame.min().to_numpy(), frame.max().to_numpy()
    assert len(clf.rules_) == clf.n_rules_
    for rule in clf.rules_:
        assert (low <= rule.centre).all()
        assert (rule.centre <= high).all()
        assert (rule.low < rule.centre).all()
        assert (rule.centre < rule.high).all()
        assert (rule.spread > 0.0).all()


def test_a_lonely_rule_is_the_mean_of_the_data(stream):
    X, Y = stream
    clf = EvolvingFuzzyClassifier(max_rules=1, scaling="standard").fit(X, Y)
    (rule,) = clf.rules_
    np.testing.assert_allclose(rule.centre, X.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(rule.label_shares, Y.mean(axis=0), atol=1e-9)
    assert rule.support == len(X)
    assert rule.last_won == len(X)
    assert rule.born == 1


def test_label_shares_are_shares(trained, gappy_stream):
    trained.partial_fit(*gappy_stream)
    shares = np.array([rule.label_shares for rule in trained.rules_])
    assert shares.shape == (trained.n_rules_, 3)
    assert shares.min() >= 0.0
    assert shares.max() <= 1.0
    assert np.ptp(shares) > 0.1


def test_supports_sum_to_the_samples(stream):
    clf = EvolvingFuzzyClassifier(max_rules=4).fit(*stream)
    assert sum(rule.support for rule in clf.rules_) == pytest.approx(len(stream[0]))


def test_single_label_rules_name_the_classes(blobs):
    X, y = blobs
    clf = EvolvingFuzzyClassifier(max_rules=3).fit(X, np.array(["ash", "birch", "cedar"])[y])
    for rule in clf.rules_:
        assert {"ash", "birch", "cedar"} == set(rule.label_names)
        assert rule.label_shares.sum() == pytest.approx(1.0)
