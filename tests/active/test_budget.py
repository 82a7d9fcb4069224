"""What may be asked, to the last unit."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolabel.active import TokenBucket
from evolabel.errors import BudgetError, ParameterError

BUDGETS = st.one_of(st.floats(1e-6, 1.0), st.sampled_from([0.1, 0.29, 0.3, 0.7, 1 / 3, 1.0]))


@given(budget=BUDGETS, per=st.sampled_from(["samples", "labels"]), growth=st.lists(st.integers(0, 2), max_size=60))
def test_spending_all_that_can_be_spent_keeps_the_promise_in_every_reading(budget, per, growth):
    bucket, K = TokenBucket(budget, per), 1
    for step in growth:
        K += step
        bucket.see(K, min(bucket.affordable(K), bucket.unit(K)))
        total = bucket.seen * (K if per == "labels" else 1)
        assert bucket.asked <= budget * total  # as floats
        assert bucket.asked <= Fraction(budget) * total  # as stored
        assert bucket.asked <= Fraction(repr(budget)) * total  # as written


@given(budget=BUDGETS, per=st.sampled_from(["samples", "labels"]), rows=st.integers(1, 50), K=st.integers(1, 5))
def test_a_greedy_spender_gets_everything(budget, per, rows, K):
    bucket = TokenBucket(budget, per)
    for _ in range(rows):
        bucket.see(K, min(bucket.affordable(K), bucket.unit(K)))
    share = min(Fraction(repr(budget)), Fraction(budget))
    assert bucket.asked == int(share * rows * bucket.unit(K))


@given(budget=BUDGETS, seen=st.integers(0, 40), credit=st.integers(0, 9), K=st.integers(1, 4), cost=st.integers(1, 4))
def test_looking_ahead_agrees_with_going_there(budget, seen, credit, K, cost):
    bucket = TokenBucket(budget, "labels", credit)
    bucket.pass_by(K, seen)
    free, tokens = bucket.free(K, 20), bucket.tokens(K, 20)
    rows = bucket.rows_before(K, cost)
    for row in range(20):
        assert bucket.affordable(K) == free[row]
        assert bucket.tokens(K, 1)[0] == tokens[row]
        assert (row < rows) == (bucket.affordable(K) < cost)
        bucket.pass_by(K, 1)


def test_what_cannot_be_paid_is_refused_and_not_counted():
    bucket = TokenBucket(0.1)
    bucket.pass_by(3, 8)
    with pytest.raises(BudgetError, match="costs 1, but only 0"):
        bucket.see(3, 1)
    assert (bucket.seen, bucket.asked) == (8, 0)


def test_credit_counts_as_seen():
    assert TokenBucket(0.1, credit=9).affordable(3) == 1
    assert TokenBucket(0.1, "labels", credit=9).affordable(3) == 3


def test_nothing_is_shared_before_anything_is_seen():
    assert TokenBucket(0.5).share == 0.0
    bucket = TokenBucket(0.5, "labels")
    bucket.see(4, 2)
    assert bucket.share == 0.5


@pytest.mark.parametrize("bad", [{"budget": 0}, {"budget": 1.1}, {"budget": np.nan}, {"per": "words"}, {"credit": -1}])
def test_bad_parameters_are_told(bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        TokenBucket(**{"budget": 0.1, **bad})


def test_a_bucket_is_written_as_the_call_that_makes_it():
    assert repr(TokenBucket(0.1)) == "TokenBucket(budget=0.1)"
    assert repr(TokenBucket(0.1, "labels", credit=20)) == "TokenBucket(budget=0.1, per='labels', credit=20)"
