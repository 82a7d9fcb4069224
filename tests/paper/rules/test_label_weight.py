"""The weight of labels in the product space decides how many rules they cause."""

import pytest
from profiles import classifier_of

from evolabel.streams import DriftingStream


@pytest.mark.parametrize("covariance", ["diag", "full"])
def test_heavier_labels_make_more_rules(covariance):
    X, Y = DriftingStream(n_features=4, n_labels=3, seed=0).take(200)
    options = {"space": "product", "covariance": covariance, "novelty": "paper", "vigilance": 1.25, "max_rules": 60}
    light, heavy = (classifier_of(label_weight=weight, **options).fit(X, Y).n_rules_ for weight in (0.01, 8.0))
    assert heavy > 2 * light
