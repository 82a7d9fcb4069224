"""river's own public checks of an estimator. None is left out."""

import random

import pytest
import river.datasets
from river.checks import yield_checks

from evolabel.adapters.river import RiverEvolvingFuzzyClassifier, RiverSingleLabelClassifier

MODELS = {
    "during the warm-up": RiverEvolvingFuzzyClassifier(),
    "beyond the warm-up": RiverEvolvingFuzzyClassifier(warm_up=10, max_rules=5),
    "of one class": RiverSingleLabelClassifier(),
    "of one class, short warm-up": RiverSingleLabelClassifier(warm_up=20, max_rules=5),
}


def is_slow(i, j, check):
    return (i + j) % 2 or (i > 0 and check.__name__ == "check_bounded_memory_growth")


def checks():
    """Every check with every model; `make test` has one of the two models of each kind for each check, and
    one of all for the longest check.

    River would download Music for them; Yeast is bundled, and of the same kind.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(river.datasets, "Music", river.datasets.Yeast)
        return [
            pytest.param(
                model, check, id=f"{check.__name__} {name}", marks=pytest.mark.slow if is_slow(i, j, check) else ()
            )
            for i, (name, model) in enumerate(MODELS.items())
            for j, check in enumerate(yield_checks(model))
        ]


@pytest.mark.compiled
@pytest.mark.parametrize(("model", "check"), checks())
def test_river_check(model, check):
    random.seed(1)  # the checks shuffle features
    check(model.clone())


def test_no_check_is_asked_to_be_skipped():
    assert all(model._unit_test_skips() == set() for model in MODELS.values())
