"""scikit-learn's own checks of an estimator, with every exception and its reason."""

from pathlib import Path

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from evolabel import EvolvingFuzzyClassifier
from evolabel.paper import PaperClassifier

EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": (
        "learning is sequential: a repeated sample is two events, a weight of two is one"
    ),
    "check_classifier_multioutput": (
        "the check cuts decision_function at 0 and wants one array classes_ for all labels; the outputs of eq. (2) are "
        "cut at 0.5, and classes_ of a label matrix has one row per label"
    ),
    "check_supervised_y_2d": "a 2-D target always is a label matrix of 0, 1 and NaN, never a column of classes",
}


@parametrize_with_checks(
    [EvolvingFuzzyClassifier(), PaperClassifier()],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
    xfail_strict=True,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", EXPECTED_FAILURES)
def test_exceptions_are_documented(name):
    assert f"`{name}`" in (Path(__file__).parents[2] / "docs" / "explanations" / "robustness.md").read_text()
