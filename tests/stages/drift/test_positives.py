"""The alarm on the positives of a label against its plain twin, answer by answer."""

import numpy as np
from callable_kernels import CallableKernels
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.alarm import NaivePositives

from evolabel.stages.drift.arrays import N_POSITIVES
from evolabel.stages.drift.loops import alarm as positives_module

positives = CallableKernels(positives_module)
ALONE, RARE = 1.0, 0.03


def watched(losses, answers, *, n_eff=ALONE, weight=1.0, share=RARE, margin=1.9, calm=True, every=1):
    """The rows at which the kernel raises the alarm, and the alarm at the end; the twin must agree at every answer."""
    a, twin, found = np.zeros(N_POSITIVES), NaivePositives(), []
    for number, (loss, y) in enumerate(zip(losses, answers, strict=True)):
        row = number * every
        raised = positives.watch_positives(a, loss, y, weight, n_eff, share, row, margin, calm)
        assert raised == twin.watch(loss, y, weight, n_eff, share, row, margin, calm=calm)
        assert positives.are_found(a) == twin.are_found()
        np.testing.assert_allclose(a, twin.vector(), rtol=1e-9, atol=1e-12)
        if raised:
            found.append(number)
    return found, a


def losses_of(rng, levels, rows):
    """Losses between 0 and 1 around each of these levels, that many answers each."""
    level = np.repeat(levels, rows)
    return np.clip(level * rng.exponential(size=len(level)), 0.0, 1.0)


@settings(max_examples=examples(40), deadline=None)
@given(
    st.integers(0, 10_000),
    st.lists(st.sampled_from([0.0, 0.01, 0.1, 0.4, 0.9]), min_size=1, max_size=4),
    st.sampled_from([1, 30, 300]),
    st.sampled_from([ALONE, 0.4, 0.07]),
    st.sampled_from([1.0, 0.3]),
    st.sampled_from([0.001, RARE, 0.5]),
    st.booleans(),
)
def test_positives_are_watched_as_by_the_twin(seed, levels, rows, n_eff, weight, share, calm):
    rng = np.random.default_rng(seed)
    losses = losses_of(rng, levels, rows)
    answers = (rng.random(len(losses)) < 0.6).astype(float)
    watched(losses, answers, n_eff=n_eff, weight=weight, share=share, calm=calm, every=7)


def test_five_positives_that_are_missed_are_enough():
    losses = np.r_[np.full(60, 0.02), np.full(10, 0.8)]
    found, a = watched(losses, np.ones(70))
    assert [place - 60 for place in found] == [4]
    assert a[positives.RECENT_LOSS] > 0.3
    assert a[positives.USUAL_LOSS] < 0.05


def test_a_label_that_was_never_found_has_lost_nothing():
    losses = np.random.default_rng(3).uniform(0.5, 1.0, 2000)
    found, _ = watched(losses, np.ones(2000))
    assert found == []


def test_positives_are_found_again_when_their_error_is_near_the_usual_one():
    losses = np.r_[np.full(60, 0.02), np.full(10, 0.8), np.full(100, 0.02)]
    _, a = watched(losses, np.ones(170))
    assert positives.are_found(a)
    assert a[positives.IS_LOST] == 0.0
    _, a = watched(losses[:80], np.ones(80))
    assert not positives.are_found(a)


def test_after_2000_rows_the_present_errors_are_learned_anew():
    losses = np.r_[np.full(60, 0.02), np.full(300, 0.8)]
    found, a = watched(losses, np.ones(360), every=10)
    assert len(found) == 1
    assert a[positives.IS_LOST] == 0.0
    assert a[positives.USUAL_LOSS] > 0.7


def test_one_run_of_positives_that_persist_counts_once():
    """It takes several runs to raise the alarm; a positive that is missed in between does not end one."""
    run = np.r_[np.ones(6), 0.0, np.ones(7), np.zeros(40)]
    losses = np.concatenate([np.where(np.tile(run, n) > 0.5, level, 0.0) for n, level in ((30, 0.02), (9, 0.8))])
    found, _ = watched(losses, np.tile(run, 39), n_eff=0.05)
    assert [place // len(run) - 30 for place in found] == [4]


def test_a_class_that_did_not_come_in_a_long_run_is_not_rare():
    """Its last 1,000 answers hold a few independent ones."""
    row = np.r_[1.0, np.zeros(19)]
    losses, answers = np.r_[np.tile(0.02 * row, 40), np.tile(0.8 * row, 9)], np.tile(row, 49)
    assert watched(losses, answers, n_eff=0.07)[0]
    assert watched(losses, answers, n_eff=0.005)[0] == []


def test_a_label_that_is_predicted_where_it_is_not_is_noticed():
    """Its limit has risen: no positive is missed, but five predicted ones are none."""
    row = np.r_[1.0, np.zeros(19)]
    right, wrong = np.tile(0.02 * row, 40), np.tile(0.8 * row, 9)
    found, _ = watched(np.r_[right, wrong], np.r_[np.tile(row, 40), np.zeros(180)])
    assert [place // 20 - 40 for place in found] == [4]


def test_rows_that_neither_are_nor_were_predicted_positive_do_not_count():
    found, a = watched(np.full(3000, 0.2), np.zeros(3000))
    assert found == []
    assert a[positives.N_USUAL] == 0.0


def test_answers_of_weight_0_change_nothing():
    _, before = watched(np.full(40, 0.1), np.ones(40))
    after = before.copy()
    assert not positives.watch_positives(after, 1.0, 1.0, 0.0, ALONE, RARE, 50, 1.9, True)
    np.testing.assert_array_equal(before, after)


def test_odds_of_a_label_that_is_not_rare_stay_finite():
    found, a = watched(np.r_[np.full(60, 0.02), np.full(2000, 0.8)], np.ones(2060), share=0.5)
    assert not found
    assert a[positives.LOST_ODDS] == positives_module.MOST_LOST_ODDS
