"""The printed formulas blow up and say so, naming the sample; ours stay finite on the same streams."""

import re

import numpy as np
import pytest
from paper_rule_bases import paper_base

from evolabel import EvolvingFuzzyClassifier
from evolabel.core.rows import Batch
from evolabel.errors import DivergenceError
from evolabel.paper.rules.kind import literal_settings

SAFE = {"coupling": "signed_laplacian", "lipschitz": "safe"}


def more_samples_than_features():
    """Companion 8.1: N = 400, p = 5, K = 6."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(400, 5))
    return Z, (Z @ rng.normal(size=(5, 6)) + rng.normal(size=(400, 6)) > 0.0).astype(float)


def more_features_than_samples(opposite=False):
    """Companion 8.2: n = 60 < p = 72; two labels that are uncorrelated, or opposites."""
    rng = np.random.default_rng(0)
    Z, Y = rng.normal(size=(60, 72)), rng.integers(0, 2, size=(60, 2)).astype(float)
    if opposite:
        Y[:, 1] = 1.0 - Y[:, 0]
    return Z, Y


STREAMS = {
    "8.1": more_samples_than_features,
    "8.2 uncorrelated": more_features_than_samples,
    "8.2 opposite": lambda: more_features_than_samples(opposite=True),
}
ONE_RULE = {"vigilance": 1e6, "alpha": 0.0}
LITERAL = {
    "printed step": {"lipschitz": "paper", "beta": 1.0},
    "printed step without coupling": {"lipschitz": "paper", "beta": 0.0, "alpha": 0.1},
    "printed coupling": {"coupling": "paper", "beta": 1000.0},
}


def fed_row_by_row(base, Z, Y):
    """The number of the row at which the weights blow up, and the message."""
    for i in range(len(Z)):
        try:
            base.learn(Batch(Z[i : i + 1], Y[i : i + 1]))
        except DivergenceError as error:
            return i + 1, str(error)
    return None, ""


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("name", LITERAL)
def test_a_printed_formula_blows_up_and_names_the_sample(name, stream):
    Z, Y = STREAMS[stream]()
    p, K = Z.shape[1], Y.shape[1]
    changes = {**ONE_RULE, "coupling": "signed_laplacian", **LITERAL[name]}
    row, message = fed_row_by_row(paper_base(p, K, **changes), Z, Y)
    assert row is not None
    assert re.search(r"at sample (\d+)", message).group(1) == str(row)
    assert "\n" not in message
    with pytest.raises(DivergenceError, match=f"at sample {row} "):
        paper_base(p, K, **changes).learn(Batch(Z, Y))


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("beta", [0.0, 1.0, 1000.0])
def test_ours_stays_finite_on_the_same_streams(stream, beta):
    Z, Y = STREAMS[stream]()
    base = paper_base(Z.shape[1], Y.shape[1], **{**ONE_RULE, **SAFE, "alpha": 0.1, "beta": beta})
    base.learn(Batch(Z, Y))
    assert np.isfinite(base.outputs(Z)).all()
    assert np.abs(base.arrays.W).max() < 10.0


@pytest.mark.parametrize("name", ["8.1", "8.2 uncorrelated"])
def test_the_batch_phase_blows_up_with_the_printed_coupling(name):
    """No warning, no NaN: the same error as in the stream, and the classifier is as it was."""
    X, Y = STREAMS[name]()
    clf = EvolvingFuzzyClassifier.paper(coupling="paper", beta=1000.0)
    with pytest.raises(DivergenceError, match="at sample 50 "):
        clf.fit(X[:50], Y[:50])
    assert not hasattr(clf, "n_features_in_")
    assert np.isfinite(EvolvingFuzzyClassifier.paper(beta=1000.0).fit(X[:50], Y[:50]).decision_function(X)).all()


def test_the_batch_phase_blows_up_with_the_printed_step():
    X, Y = more_samples_than_features()
    with pytest.raises(DivergenceError, match="at sample 30 "):
        EvolvingFuzzyClassifier.paper(lipschitz="paper").fit(X[:30], Y[:30])


def test_the_classifier_stops_in_the_stream():
    """A sibling skips the batch phase."""
    X, Y = more_samples_than_features()
    clf = EvolvingFuzzyClassifier.paper(vigilance=1e6).fit(X[:30], Y[:30])
    literal = clf.set_params(lipschitz="paper").sibling()
    literal.inner.any_model.options = clf.inner.options()
    literal.inner.any_model.rules.paper = literal_settings(clf.inner.options())
    with pytest.raises(DivergenceError, match="at sample"):
        literal.partial_fit(X, Y)
