"""Ablations differ from their method in one thing only, on the same rules."""

import numpy as np
import pytest
from tiny_world import tiny_set

from evolabel.paper.reproduce.methods import search_grid
from evolabel.paper.reproduce.run_size import QUICK
from evolabel.paper.reproduce.tasks import build_learner


def ends(method, **params):
    rows = tiny_set()
    learner = build_learner("paper", method, {"vigilance": 0.4, **params}, seed=0).fit(rows.X[:30], rows.Y[:30])
    return learner, learner.test_then_train(rows.X[30:], rows.Y[30:])


@pytest.mark.parametrize("control", ["ridge", "uncoupled", "rfwls"])
def test_controls_of_the_coupling_have_the_same_rules_and_other_answers(control):
    searched = {"alpha": 0.1, "beta": 10.0} if control == "ridge" else {"alpha": 0.1} if control == "uncoupled" else {}
    (ours, outputs), (other, others) = ends("ours", alpha=0.1, beta=10.0), ends(control, **searched)
    assert list(ours.events_) == list(other.events_)
    assert np.abs(outputs - others).max() > 1e-3


def test_random_questions_have_the_rates_and_savings_of_those_that_are_chosen():
    (chosen, _), (drawn, _) = ends("labels-10"), ends("random-labels-10")
    one, two = chosen.learner_, drawn.learner_
    assert (one.bucket.burst, one.bucket.per, one.bucket.budget) == (
        two.bucket.burst,
        two.bucket.per,
        two.bucket.budget,
    )
    assert one.antecedent_rate == two.antecedent_rate == 1.0


@pytest.mark.parametrize(
    ("control", "searched"), [("ours", 3), ("ridge", 3), ("uncoupled", 2), ("rfwls", 1), ("ovr", 1)]
)
def test_a_search_has_the_values_of_all_parameters_that_are_not_fixed(control, searched):
    assert [*search_grid("paper", control, QUICK.grids)] == ["vigilance", "alpha", "beta"][:searched]
    assert len(search_grid("default", control, QUICK.grids)) == 1
