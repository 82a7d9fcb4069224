"""The token bucket allows exactly what the budget allows."""

import copy
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.token_bucket import NaiveBucket

from evolabel.active import TokenBucket
from evolabel.active.selection.token_bucket import exact_share
from evolabel.errors import BudgetError, ParameterError

BUDGETS = st.one_of(st.floats(1e-6, 1.0), st.sampled_from([0.1, 0.29, 0.3, 0.7, 1 / 3, 1.0]))


@given(budget=BUDGETS, per=st.sampled_from(["samples", "labels"]), growth=st.lists(st.integers(0, 2), max_size=60))
def test_spending_everything_stays_within_the_budget_as_written_and_as_stored(budget, per, growth):
    bucket, K = TokenBucket(budget, per), 1
    for step in growth:
        K += step
        bucket.count(K, min(bucket.affordable(K), bucket.unit(K)))
        total = bucket.seen * (K if per == "labels" else 1)
        assert bucket.asked <= budget * total  # as floats
        assert bucket.asked <= Fraction(budget) * total  # as stored
        assert bucket.asked <= Fraction(repr(budget)) * total  # as written


@given(budget=BUDGETS, per=st.sampled_from(["samples", "labels"]), rows=st.integers(1, 50), K=st.integers(1, 5))
def test_asking_whenever_possible_uses_the_whole_budget(budget, per, rows, K):
    bucket = TokenBucket(budget, per)
    for _ in range(rows):
        bucket.count(K, min(bucket.affordable(K), bucket.unit(K)))
    share = min(Fraction(repr(budget)), Fraction(budget))
    assert bucket.asked == int(share * rows * bucket.unit(K))


@given(budget=BUDGETS, seen=st.integers(0, 40), credit=st.integers(0, 9), K=st.integers(1, 4), cost=st.integers(1, 4))
def test_limits_of_the_next_rows_agree_with_counting_them(budget, seen, credit, K, cost):
    bucket = TokenBucket(budget, "labels", credit)
    bucket.skip(K, seen)
    free, tokens = bucket.limits(K, 20), bucket.tokens(K, 20)
    rows = bucket.rows_before(K, cost)
    for row in range(20):
        assert bucket.affordable(K) == free[row]
        assert bucket.tokens(K, 1)[0] == tokens[row]
        assert (row < rows) == (bucket.affordable(K) < cost)
        bucket.skip(K, 1)


WALKS = st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0, 1, 5, 40]), st.floats(0, 1)), max_size=25)


@given(
    budget=st.one_of(BUDGETS, st.floats(0.05, 1.0)),
    per=st.sampled_from(["samples", "labels"]),
    credit=st.sampled_from([0, 1, 30]),
    burst=st.sampled_from([None, 1, 2, 10, 200]),
    walk=WALKS,
)
def test_the_bucket_is_its_naive_twin(budget, per, credit, burst, walk):
    bucket, K = TokenBucket(budget, per, credit, burst), 1
    twin = NaiveBucket(exact_share(budget), per, credit, burst)
    for new_labels, passed, greed in walk:
        K += new_labels
        free, tokens = bucket.limits(K, passed + 1), bucket.tokens(K, passed + 1)
        within = bucket.rows_before(K, bucket.unit(K))
        bucket.skip(K, passed)
        for row in range(passed + 1):
            available = twin.available(K)
            assert free[row] == available // 1
            assert tokens[row] == pytest.approx(float(available), rel=1e-9, abs=1e-9)
            assert (row < within) == (available < bucket.unit(K))
            if row < passed:
                twin.count(K, 0)
        assert bucket.affordable(K) == available // 1
        assert bucket._next_tokens(K) == (tokens[-1], free[-1])
        cost = int(greed * min(bucket.affordable(K), bucket.unit(K)))
        bucket.count(K, cost)
        twin.count(K, cost)
        units = bucket.unit(K) * (bucket.seen + credit)
        assert bucket.asked <= exact_share(budget) * units


@given(
    budget=BUDGETS,
    credit=st.sampled_from([0, 3, 300]),
    burst=st.sampled_from([None, 1, 7, 200]),
    spent=st.integers(0, 3),
    rows=st.integers(1, 60),
)
def test_one_row_and_many_rows_are_the_same_to_the_bit(budget, credit, burst, spent, rows):
    bucket = TokenBucket(budget, "labels", credit, burst)
    bucket.skip(3, 250)
    bucket.count(3, min(spent, bucket.affordable(3)))
    free, tokens = bucket.limits(3, rows), bucket.tokens(3, rows)
    together = copy.deepcopy(bucket)
    together.skip(3, rows)
    for row in range(rows):
        assert bucket.limits(3, 1)[0] == free[row]
        assert bucket.tokens(3, 1)[0] == tokens[row]
        assert bucket._next_tokens(3) == (tokens[row], free[row])
        bucket.skip(3, 1)
    assert vars(bucket) == vars(together)


@pytest.mark.parametrize(("budget", "per", "most"), [(0.1, "samples", 20), (0.1, "labels", 60), (0.001, "labels", 3)])
def test_a_pause_saves_what_200_rows_earn_and_one_whole_sample_at_least(budget, per, most):
    bucket = TokenBucket(budget, per)
    bucket.skip(3, 10**6)
    assert bucket.affordable(3) == most
    assert TokenBucket(budget, per, burst=None).rows_before(3, most + 1) < 10**6
    assert bucket.rows_before(3, most + 1) == sys.maxsize


def test_credit_is_not_cut_and_nothing_is_earned_while_it_lasts():
    bucket = TokenBucket(0.1, credit=1000)
    assert bucket.affordable(1) == 100
    bucket.skip(1, 500)
    assert bucket.affordable(1) == 100
    for _ in range(95):
        bucket.count(1, 1)
    bucket.skip(1, 500)
    assert bucket.affordable(1) == 20


def test_what_cannot_be_paid_is_refused_and_not_counted():
    bucket = TokenBucket(0.1)
    bucket.skip(3, 8)
    with pytest.raises(BudgetError, match="costs 1, but only 0"):
        bucket.count(3, 1)
    assert (bucket.seen, bucket.asked) == (8, 0)


def test_credit_counts_as_seen():
    assert TokenBucket(0.1, credit=9).affordable(3) == 1
    assert TokenBucket(0.1, "labels", credit=9).affordable(3) == 3


def test_the_share_is_0_before_anything_is_seen():
    assert TokenBucket(0.5).share == 0.0
    bucket = TokenBucket(0.5, "labels")
    bucket.count(4, 2)
    assert bucket.share == 0.5


@pytest.mark.parametrize(
    "bad",
    [
        {"budget": 0},
        {"budget": 1.1},
        {"budget": np.nan},
        {"per": "words"},
        {"credit": -1},
        {"burst": 0},
        {"burst": 2.5},
    ],
)
def test_bad_parameters_raise_an_error(bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        TokenBucket(**{"budget": 0.1, **bad})


def test_a_bucket_is_written_as_the_call_that_makes_it():
    assert repr(TokenBucket(0.1)) == "TokenBucket(budget=0.1)"
    assert repr(TokenBucket(0.1, "labels", credit=20)) == "TokenBucket(budget=0.1, per='labels', credit=20)"
