"""Verdicts follow from the results: a number that contradicts a claim changes its verdict."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from tiny_world import SEEDS, paper_is_right

from evolabel.paper.reproduce import CLAIMS, verdicts
from evolabel.paper.reproduce.claims import FAILS, HOLDS, NOT_DECIDED, UNKNOWN
from evolabel.paper.reproduce.claims.intervals import SeedInterval
from evolabel.paper.reproduce.experiments import EXPERIMENTS
from evolabel.paper.reproduce.results import ProfileResults, Task

BY_KEY = {claim.key: claim for claim in CLAIMS}

# For every claim one number that refutes it: set, method, which, value.
REFUTATIONS = {
    "birds-gain": ("birds", "ours", "pa", 0.92),
    "emotions-gain": ("emotions", "chain", "pa", 0.85),
    "pa-ahead": ("yeast", "ours", "pa", 0.799),
    "pa-static-worst": ("yeast", "static", "pa", 0.795),
    "ap-ahead": ("yeast", "ours", "ap", 0.68),
    "ap-static-worst": ("birds", "static", "ap", 0.65),
    "chain-below-static": ("yeast", "chain", "ap", 0.65),
    "rules-left": ("emotions", "ours", "rules", 30.0),
    "rules-of-each-rival": ("emotions", "ovr", "rules", 150.0),
    "rules-of-rivals": ("emotions", "ovr", "rules", 50.0),
    "static-falls": ("mediamill", "static", "trend", {"pa": [0.94] * 5}),
    "evolving-above-static": ("mediamill", "chain", "pa", 0.93),
    "mediamill-level": ("mediamill", "ovr", "ap", 0.76),
    "rfwls-worse": ("mediamill", "rfwls", "pa", 0.971),
    "mediamill-early-ap": ("mediamill", "ovr", "trend", {"ap": [0.99] * 5}),
    "rfwls-is-chain": ("mediamill", "rfwls", "ap", 0.77),
    "labels-little-lost": ("yeast", "labels-10", "pa", 0.80),
    "random-worse": ("yeast", "random-10", "pa", 0.82),
    "random-is-static": ("emotions", "random-10", "pa", 0.79),
    "asked-of-ten": ("birds", "labels-10", "asked", 0.05),
    "labels-drop": ("birds", "labels-10", "pa", 0.944),
    "within-budget": ("birds", "samples-20", "asked", 0.201),
    "samples-little-lost": ("emotions", "samples-10", "pa", 0.88),
    "water-quality-drop": ("water-quality", "samples-30", "pa", 0.749),
    "birds-need-thirty": ("birds", "samples-10", "pa", 0.90),
    "instability-helps": ("emotions", "labels-10-instability", "pa", 0.894),
    "birds-gain-most": ("yeast", "labels-10-instability", "pa", 0.9),
    "mediamill-keeps-pa": ("mediamill", "samples-10", "pa", 0.95),
    "mediamill-ap": ("mediamill", "samples-30", "ap", 0.75),
    "chance-is-static": ("mediamill", "random-10", "ap", 0.77),
    "ten-percent": ("mediamill", "samples-10", "pa", 0.95),
    "faster-than-ovr-birds": ("yeast", "ovr", "ms", 70.0),
    "faster-than-ovr-mediamill": ("mediamill", "ovr", "ms", 500.0),
    "faster-than-chain-birds": ("yeast", "chain", "ms", 171.0),
    "faster-than-chain-mediamill": ("mediamill", "chain", "ms", 500.0),
    "faster-with-active": ("yeast", "samples-10", "ms", 63.0),
    "1-hertz-birds": ("birds", "ours", "ms", 1001.0),
    "1-hertz-mediamill": ("mediamill", "ours", "ms", 1001.0),
    "10-hertz-emotions": ("yeast", "ours", "ms", 101.0),
    "10-hertz-active-birds": ("mediamill", "samples-10", "ms", 101.0),
    "100-hertz-active-emotions": ("yeast", "samples-10", "ms", 10.1),
}


def with_number(results, profile, dataset, method, which, value, seeds=SEEDS):
    tasks = [Task(dataset, profile, method, seed) for seed in seeds]
    if which == "ms":
        return replace(results, times={**results.times, **dict.fromkeys(tasks, value)})
    return replace(results, runs={**results.runs, **{t: replace(results.runs[t], **{which: value}) for t in tasks}})


def without(results, dataset):
    return replace(
        results,
        sizes={name: size for name, size in results.sizes.items() if name != dataset},
        runs={task: run for task, run in results.runs.items() if task.dataset != dataset},
        times={task: ms for task, ms in results.times.items() if task.dataset != dataset},
        cpu_seconds={step: seconds for step, seconds in results.cpu_seconds.items() if step.dataset != dataset},
    )


def test_where_the_paper_is_right_every_claim_holds():
    assert {(v.claim.key, v.ruling) for v in verdicts(paper_is_right())} == {(key, HOLDS) for key in BY_KEY}


def test_every_claim_has_a_number_that_refutes_it():
    assert REFUTATIONS.keys() == BY_KEY.keys()


@pytest.mark.parametrize("key", REFUTATIONS)
def test_a_number_that_contradicts_a_claim_changes_its_verdict(key):
    claim = BY_KEY[key]
    for profile in claim.profiles:
        turned = with_number(paper_is_right(), profile, *REFUTATIONS[key])
        verdict = claim.verdict(ProfileResults(turned, profile))
        assert verdict.ruling == FAILS
        assert verdict.explanation.endswith(".")
        assert verdict.measured != claim.verdict(ProfileResults(paper_is_right(), profile)).measured


@pytest.mark.parametrize("key", [key for key in REFUTATIONS if key != "ten-percent"])
def test_without_its_set_a_claim_cannot_be_checked(key):
    claim, dataset = BY_KEY[key], REFUTATIONS[key][0]
    for profile in claim.profiles:
        verdict = claim.verdict(ProfileResults(without(paper_is_right(), dataset), profile))
        assert verdict.ruling == UNKNOWN
        assert dataset in verdict.measured
        assert not verdict.explanation


def test_one_set_that_refutes_is_enough_even_if_others_are_absent():
    results = with_number(without(paper_is_right(), "birds"), "paper", "yeast", "ours", "pa", 0.5)
    assert BY_KEY["pa-ahead"].verdict(ProfileResults(results, "paper")).ruling == FAILS


def test_most_sets_are_counted_among_those_that_were_run():
    results = without(without(paper_is_right(), "birds"), "mediamill")
    assert BY_KEY["ten-percent"].verdict(ProfileResults(results, "paper")).ruling == HOLDS


def only_first_seed(results):
    kept = {task: run for task, run in results.runs.items() if task.seed == 0}
    return replace(results, runs=kept, times={task: ms for task, ms in results.times.items() if task.seed == 0})


def test_one_seed_decides_nothing_but_that_a_budget_was_kept():
    found = verdicts(only_first_seed(paper_is_right()))
    assert {v.claim.key for v in found if v.ruling == HOLDS} == {"within-budget"}
    open_ones = [v for v in found if v.ruling == NOT_DECIDED]
    assert len(open_ones) == len(found) - 2
    assert {v.explanation for v in open_ones} == {"One seed has no interval: this needs more seeds."}


def test_seeds_that_disagree_leave_a_claim_open():
    """A lead of 8, 3 and 3 points: the mean is above the bound of 4 points, the interval is not."""
    results = with_number(paper_is_right(), "paper", "birds", "ours", "pa", 0.98, seeds=[0])
    results = with_number(results, "paper", "birds", "ours", "pa", 0.93, seeds=[1, 2])
    verdict = BY_KEY["birds-gain"].verdict(ProfileResults(results, "paper"))
    assert verdict.ruling == NOT_DECIDED
    assert verdict.measured == "points over the better rival: birds +4.7 [-2.5, +11.8]"
    assert verdict.explanation == "The interval over the seeds crosses the bound on birds."


def test_a_budget_that_one_seed_exceeds_is_exceeded():
    results = with_number(paper_is_right(), "paper", "birds", "samples-20", "asked", 0.21, seeds=[1])
    assert BY_KEY["within-budget"].verdict(ProfileResults(results, "paper")).ruling == FAILS


def test_an_interval_is_that_of_students_t():
    values = np.random.default_rng(0).normal(size=7)
    expected = stats.t.interval(0.95, 6, values.mean(), stats.sem(values))
    assert SeedInterval.of(values.tolist())[1:] == pytest.approx(expected)


def test_every_claim_is_about_an_experiment_and_says_when_it_holds():
    for claim in CLAIMS:
        assert claim.experiment in EXPERIMENTS
        assert claim.holds_if
    assert len(BY_KEY) == len(CLAIMS), "two claims share a key"
