"""Independent answers and pace against their plain twin, and against what they promise."""

import numpy as np
import pytest
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.pace import NaiveAnswers, pace_of

from evolabel.core import pace
from evolabel.core import pace as pace_module
from evolabel.core.pace import (
    BY_CHANCE,
    CHANGES,
    EPISODES,
    EXPECTED,
    LAST_ANSWER,
    N_ANSWERS,
    N_PERSISTENCE,
    SHARE,
)
from evolabel.errors import DataError

kernels = CallableKernels(pace_module)
SEEDS = st.integers(0, 10_000)


def answers_of(rng, n, share, run):
    """Answers of which a `share` is 1, each drawn anew once in `run` times and else as the one before."""
    drawn, is_new = rng.random(n) < share, rng.random(n) < 1.0 / run
    is_new[0] = True
    return drawn[np.maximum.accumulate(np.where(is_new, np.arange(n), 0))].astype(float)


def counted(y):
    a = np.zeros(N_PERSISTENCE)
    for each in y:
        kernels.count_answer(a, each)
    return a


@settings(max_examples=examples(40))
@given(SEEDS, st.sampled_from([0.5, 0.2, 0.05]), st.sampled_from([1, 5, 20, 200]), st.integers(2, 3000))
def test_counts_independent_answers_and_pace_are_those_of_the_twin(seed, share, run, n):
    twin, a = NaiveAnswers(), np.zeros(N_PERSISTENCE)
    for i, y in enumerate(answers_of(np.random.default_rng(seed), n, share, run)):
        kernels.count_answer(a, y)
        twin.add(float(y))
        if i % 97 == 0 or i == n - 1:
            n_eff = kernels.independent(a)
            assert n_eff == pytest.approx(twin.independent(), rel=1e-9)
            assert kernels.pace_of(n_eff) == pytest.approx(pace_of(n_eff), rel=1e-12)
            np.testing.assert_allclose(a[[CHANGES, EXPECTED]], twin.counts(), rtol=1e-9)
            assert a[SHARE] == pytest.approx(twin.shares[-1], rel=1e-9)
            np.testing.assert_allclose(a[[EPISODES, BY_CHANCE]], twin.episodes(), rtol=1e-9)
    assert a[LAST_ANSWER] == twin.answers[-1]
    assert a[N_ANSWERS] == min(n, 1000)


@pytest.mark.parametrize("share", [0.5, 0.3, 0.1])
def test_answers_that_come_at_random_count_one_each(share):
    rng = np.random.default_rng(0)
    for _ in range(20):
        a = np.zeros(N_PERSISTENCE)
        for y in rng.random(3000) < share:
            kernels.count_answer(a, float(y))
            assert kernels.pace_of(kernels.independent(a)) == 1.0
        assert kernels.independent(a) == 1.0


def test_a_share_that_drifts_is_not_taken_for_persistence():
    rng = np.random.default_rng(1)
    a = np.zeros(N_PERSISTENCE)
    for share in (0.1, 0.9, 0.3, 0.6):
        for y in rng.random(1500) < share:
            kernels.count_answer(a, float(y))
            assert kernels.pace_of(kernels.independent(a)) == 1.0


@pytest.mark.parametrize("run", [20, 200, 1000])
def test_answers_in_runs_count_for_about_one_per_run(run):
    rng = np.random.default_rng(2)
    lengths = rng.geometric(1.0 / run, 60_000 // run)
    a = counted(np.repeat(np.arange(len(lengths)) % 2, lengths).astype(float))
    n_eff = kernels.independent(a)
    assert 0.9 / (run - 1) < n_eff < 5.0 / (run - 1)
    assert n_eff < kernels.pace_of(n_eff) < 1.0


def test_answers_of_a_rare_label_that_flicker_while_they_persist_count_for_about_one_per_episode():
    """Each positive of an episode is read as a negative with a probability of .3: half of all changes are such."""
    rng = np.random.default_rng(4)
    y = answers_of(rng, 20_000, 0.03, 15) * (rng.random(20_000) < 0.7)
    for rows in (3000, 20_000):
        assert 0.05 < kernels.independent(counted(y[:rows])) < 0.25


@pytest.mark.parametrize("shares", [(0.05, 0.28), (0.02, 0.11), (0.1, 0.02)])
def test_a_rare_label_that_becomes_more_or_less_frequent_does_not_persist(shares):
    rng = np.random.default_rng(5)
    a = np.zeros(N_PERSISTENCE)
    for y in np.concatenate([rng.random(3000) < share for share in shares]):
        kernels.count_answer(a, float(y))
        assert kernels.independent(a) == 1.0


def test_answers_that_persist_no_more_count_one_each_again():
    rng = np.random.default_rng(3)
    a = counted(np.repeat(np.arange(40) % 2, 100).astype(float))
    assert kernels.independent(a) < 0.05
    for y in rng.random(6000) < 0.5:
        kernels.count_answer(a, float(y))
    assert kernels.independent(a) == 1.0


@settings(max_examples=examples(30))
@given(SEEDS, st.integers(0, 3000), st.integers(0, 3000))
def test_counts_of_two_models_add_up(seed, n, n_other):
    rng = np.random.default_rng(seed)
    y, other = answers_of(rng, n + 1, 0.3, 20)[1:], answers_of(rng, n_other + 1, 0.4, 5)[1:]
    one, two = counted(y)[None], counted(other)[None]
    merged = pace.merged_persistence(one, two)[0]
    assert merged[LAST_ANSWER] == (y[-1] if n else other[-1] if n_other else 0.0)
    assert merged[N_ANSWERS] == min(n + n_other, 1000)
    assert min(one[0, SHARE], two[0, SHARE]) <= merged[SHARE] + 1e-12
    assert merged[SHARE] <= max(one[0, SHARE], two[0, SHARE]) + 1e-12
    total = one[0, EXPECTED] + two[0, EXPECTED]
    assert merged[EXPECTED] == pytest.approx(min(total, 1000.0))
    if total > 0.0:
        ratio = (one[0, CHANGES] + two[0, CHANGES]) / total
        assert merged[CHANGES] / merged[EXPECTED] == pytest.approx(ratio)
    pace.check_persistence(merged[None])


@pytest.mark.parametrize(("place", "value"), [(LAST_ANSWER, 0.5), (SHARE, 1.1), (N_ANSWERS, 1001.0)])
def test_counts_that_cannot_be_are_refused(place, value):
    counts = counted([0.0, 1.0])[None]
    pace.check_persistence(counts)
    counts[0, place] = value
    with pytest.raises(DataError, match="array persistence"):
        pace.check_persistence(counts)


def test_independent_answers_of_all_labels():
    counts = np.array([counted(np.repeat(np.arange(40) % 2, 50)), np.zeros(N_PERSISTENCE)])
    found = pace.independent_answers(counts)
    assert found[0] < 0.1
    assert found[1] == 1.0
