"""What answers are worth in random answers: intervals that hold the truth, and nothing where it is not known."""

import numpy as np
import pytest

from evolabel.evaluate import ErrorsMet, Questions


def drawn(rng, answered, share, error_chosen, error):
    """Counts of a learner whose chosen predictions are wrong at one rate, and random ones at another."""
    n = int(share * answered)
    random, chosen = rng.binomial(n, error), rng.binomial(answered - n, error_chosen)
    return ErrorsMet(answered, int(random + chosen), n, int(random))


def test_the_interval_holds_the_number_of_random_answers_that_meet_as_many_errors():
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(400):
        met = drawn(rng, 2000, 0.1, 0.4, 0.1)
        low, about, high = met.worth
        assert low <= about <= high
        inside.append(low <= (0.9 * 2000 * 0.4 + 0.1 * 2000 * 0.1) / 0.1 <= high)
    assert np.mean(inside) >= 0.92


@pytest.mark.parametrize(
    ("met", "words"),
    [
        (ErrorsMet(), "0 answers: how many drawn at random they are worth is not yet known"),
        (ErrorsMet(700, 40, 0, 0), "700 answers: how many drawn at random they are worth is not yet known"),
        (ErrorsMet(700, 6, 60, 1), "700 answers: how many drawn at random they are worth is not yet known"),
        (ErrorsMet(700, 90, 60, 1), "700 answers are worth at least 1,182 drawn at random; how many is not yet known"),
        (ErrorsMet(700, 90, 60, 3), "700 answers are worth about 1,800 drawn at random (695 to 6,332)"),
    ],
)
def test_a_number_is_stated_only_where_errors_were_met_at_random(met, words):
    assert str(met) == words


def test_seeds_add_up():
    runs = [Questions(10, 0.1, "labels", {}, ErrorsMet(10, 5, 2, 1)), Questions(20, 0.2, "labels", {})]
    assert Questions.pooled(runs).met == ErrorsMet(10, 5, 2, 1)
    stored = {"asked": 1, "share": 0.1, "per": "labels", "reasons": {}}
    assert Questions.from_dict(stored).met == ErrorsMet()  # a file from before there were such counts
    assert Questions.from_dict({**stored, "met": [10, 5, 2, 1]}).met == ErrorsMet(10, 5, 2, 1)
