"""The explanation of a claim that does not hold names the numbers that contradict it."""

from dataclasses import replace

import pytest
from test_claims import BY_KEY, with_number
from tiny_world import paper_is_right

from evolabel.paper.reproduce.claims.checks import hundredths, points
from evolabel.paper.reproduce.results import ProfileResults


def explained(key, *numbers, profile="paper", results=None):
    """The explanation of a claim after some numbers have changed: (set, method, which, value)."""
    results = results or paper_is_right()
    for number in numbers:
        results = with_number(results, profile, *number)
    return BY_KEY[key].verdict(ProfileResults(results, profile)).explanation


def with_params(results, dataset, method, **params):
    return with_number(results, "paper", dataset, method, "params", params)


@pytest.mark.parametrize(
    ("pa", "text"),
    [
        (0.932, "Ours is ahead, by 64 % of what the paper reports."),
        (0.901, "Ours and the better rival are level."),
        (0.88, "The better rival is ahead."),
    ],
)
def test_a_smaller_lead_is_called_what_it_is(pa, text):
    assert text in explained("birds-gain", ("birds", "ours", "pa", pa))


def test_sets_that_are_level_and_sets_that_are_behind_are_distinguished():
    text = explained("pa-ahead", ("yeast", "ours", "pa", 0.799), ("emotions", "ours", "pa", 0.7))
    assert "On yeast ours and the better rival differ by at most 0.2 points." in text
    assert "On emotions separate rules for each label are better" in text


def test_static_is_above_because_learning_on_does_not_pay_or_because_a_rival_starts_behind():
    text = explained("pa-static-worst", ("yeast", "chain", "pa", 0.7), ("birds", "ours", "pa", 0.87))
    assert "On yeast learning from the stream adds +4.0 points to ours, but classifier chain starts further" in text
    assert "On birds not even ours gains by learning from the stream (-1.0): 323 rows of 260 features are too" in text
    level = explained("pa-static-worst", ("birds", "ours", "pa", 0.88))
    assert level == (
        "On birds not even ours gains by learning from the stream (0.0): 323 rows of 260 features add nothing new."
    )


def test_the_number_of_rules_is_explained_by_the_vigilance():
    results = with_params(paper_is_right(), "emotions", "ours", vigilance=0.8)
    text = explained("rules-left", ("emotions", "ours", "rules", 30.0), results=results)
    assert "On emotions the search chooses a vigilance of 0.8, which leaves 30 rules." in text
    assert "water-quality" not in text


@pytest.mark.parametrize(("last", "text"), [(0.94, "It stays level"), (0.96, "It rises"), (0.9395, "It stays level")])
def test_a_static_line_that_does_not_fall(last, text):
    line = {"pa": [0.94, 0.94, 0.94, 0.94, last]}
    assert explained("static-falls", ("mediamill", "static", "trend", line)).startswith(text)


def test_methods_below_static_are_named():
    text = explained("evolving-above-static", ("mediamill", "chain", "pa", 0.93))
    assert text.startswith("Classifier chain is at -1.0 points of PA and +5.0 of AP against it, while EFC-ML (ours)")


def test_mediamill_names_where_ours_is_ahead_and_where_behind():
    text = explained("mediamill-level", ("mediamill", "ovr", "pa", 0.99), ("mediamill", "ovr", "ap", 0.76))
    assert "Ours is behind in PA and ahead in AP" in text
    assert "chain" not in text


@pytest.mark.parametrize(
    ("pa", "ap", "text"),
    [
        (0.97, 0.80, "with which PA hardly changes and AP hardly changes by the step."),
        (0.98, 0.76, "with which PA falls by the step."),
    ],
)
def test_the_correlation_step_is_explained_by_what_was_chosen(pa, ap, text):
    results = with_params(paper_is_right(), "mediamill", "ours", alpha=0.0, beta=1.0)
    why = explained("rfwls-worse", ("mediamill", "rfwls", "pa", pa), ("mediamill", "rfwls", "ap", ap), results=results)
    assert why.startswith("The search chooses alpha 0 and beta 1")
    assert text in why


def test_random_is_as_good_where_there_is_little_to_gain_and_where_there_is_much():
    text = explained("random-worse", ("yeast", "random-10", "pa", 0.82), ("birds", "labels-10", "pa", 0.88))
    assert "There is little to gain: a full update over random is yeast 0.0." in text
    assert "A full update over random is birds +6.5, so there is more to gain" in text


def test_a_budget_is_explained_by_what_learning_on_is_worth():
    text = explained("labels-little-lost", ("yeast", "labels-10", "pa", 0.80))
    assert text.endswith("on yeast +4.0 points of PA with a full update and +2.0 with 10 % of the labels."), (
        "emotions is fine, and not mentioned"
    )


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([("birds", "ours", "pa", 0.86)], "Not even a full update is above the static classifier (-2.0)"),
        ([("birds", "samples-30", "pa", 0.88)], "by +7.0, but 30 % of the samples are too few"),
        ([("birds", "samples-10", "pa", 0.90)], "Fewer samples suffice here."),
    ],
)
def test_birds_and_their_budget(numbers, text):
    refuted = [("birds", "samples-30", "pa", 0.85)] if "Not even" in text else []
    assert text in explained("birds-need-thirty", *numbers, *refuted)


def test_a_slow_rule_base_is_explained_by_its_rules():
    text = explained("faster-than-ovr-birds", ("yeast", "ovr", "ms", 70.0))
    assert "On yeast the search chooses 14.3 rules for each of 14 classifiers of one-versus-rest, 200 with one" in text
    assert "for ours 10 with 14 labels each, each with a correlation step" in text


@pytest.mark.parametrize(
    ("before", "after", "pa", "text"),
    [
        (0.096, 0.099, 0.894, "On emotions 96 % of the budget are used without it"),
        (0.044, 0.044, 0.895, "On emotions it changes nothing: 44 %"),
        (0.044, 0.080, 0.894, "from 44 to 80 %, but these queries do not"),
    ],
)
def test_a_criterion_that_does_not_help_is_explained_by_what_it_asks(before, after, pa, text):
    numbers = [("emotions", "labels-10", "asked", before), ("emotions", "labels-10-instability", "asked", after)]
    assert text in explained("instability-helps", *numbers, ("emotions", "labels-10-instability", "pa", pa))


@pytest.mark.parametrize(
    ("chance", "active", "text"),
    [
        (0.69, 0.68, "add -1.0 points of AP, chosen ones -2.0: a tenth of the samples lowers AP"),
        (0.704, 0.705, "add +0.4 points of AP, chosen ones +0.5: a tenth of the samples adds little"),
        (0.77, 0.78, "add +7.0 points of AP, chosen ones +8.0: most of the possible gain"),
    ],
)
def test_random_and_active_selection_are_compared_by_their_gains(chance, active, text):
    numbers = ("mediamill", "random-10", "ap", chance), ("mediamill", "samples-10", "ap", active)
    assert text in explained("chance-is-static", *numbers)


def test_what_was_not_run_explains_nothing_and_the_verdict_stays():
    results = with_number(paper_is_right(), "paper", "yeast", "ovr", "ms", 70.0)
    alone = replace(results, runs={})
    verdict = BY_KEY["faster-than-ovr-birds"].verdict(ProfileResults(alone, "paper"))
    assert verdict.ruling == "does not hold"
    assert verdict.explanation == "The numbers that could explain it are missing: ours was not run on yeast."


def test_a_difference_that_rounds_to_nothing_has_no_sign():
    assert [points(0.0), points(-0.0004), points(0.032), points(-0.012)] == ["0.0", "0.0", "+3.2", "-1.2"]
    assert hundredths(-0.0004) == "-0.04"
