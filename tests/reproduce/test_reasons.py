"""Why a claim does not hold is told by the numbers it does not hold by."""

from dataclasses import replace

import pytest
from test_claims import BY_KEY, with_number
from tiny_world import paper_is_right

from evolabel.reproduce.claims.numbers import hundredths, points
from evolabel.reproduce.results import Task


def explained(key, *numbers, profile="paper", findings=None):
    """The explanation of a claim after some numbers have changed: (set, method, which, value)."""
    findings = findings or paper_is_right()
    for number in numbers:
        findings = with_number(findings, profile, *number)
    return BY_KEY[key].verdict(findings, profile).explanation


def with_params(findings, dataset, method, **params):
    task = Task(dataset, "paper", method)
    return replace(findings, outcomes={**findings.outcomes, task: replace(findings.outcomes[task], params=params)})


@pytest.mark.parametrize(
    ("pa", "told"),
    [
        (0.932, "Ours is ahead, by 64 % of what the paper reports."),
        (0.901, "Ours and the better rival are level."),
        (0.88, "The better rival is ahead."),
    ],
)
def test_a_smaller_lead_is_called_what_it_is(pa, told):
    assert told in explained("birds-gain", ("birds", "ours", "pa", pa))


def test_sets_that_are_level_and_sets_that_are_behind_are_told_apart():
    told = explained("pa-ahead", ("yeast", "ours", "pa", 0.801), ("emotions", "ours", "pa", 0.7))
    assert "On yeast that leaves no more than 0.2 points" in told
    assert "On emotions rules of its own" in told


def test_static_is_above_because_learning_on_does_not_pay_or_because_a_rival_starts_behind():
    told = explained("pa-static-worst", ("yeast", "chain", "pa", 0.7), ("birds", "ours", "pa", 0.87))
    assert "On yeast learning on brings ours +4.0 points, but classifier chain starts from further behind" in told
    assert "On birds not even ours gains by learning on (-1.0): 323 rows of 260 features are few" in told
    level = explained("pa-static-worst", ("birds", "ours", "pa", 0.88))
    assert level == "On birds not even ours gains by learning on (0.0): 323 rows of 260 features teach nothing new."


def test_the_number_of_rules_is_explained_by_the_vigilance():
    findings = with_params(paper_is_right(), "emotions", "ours", vigilance=0.8)
    told = explained("rules-left", ("emotions", "ours", "rules", 30.0), findings=findings)
    assert "On emotions the batch chooses a vigilance of 0.8, which leaves 30 rules, the most there may be." in told
    assert "water-quality" not in told


@pytest.mark.parametrize(
    ("last", "told"), [(0.94, "It stays where it is"), (0.96, "It rises"), (0.9395, "It stays where it is")]
)
def test_a_static_line_that_does_not_fall(last, told):
    line = {"pa": [0.94, 0.94, 0.94, 0.94, last]}
    assert explained("static-falls", ("mediamill", "static", "trend", line)).startswith(told)


def test_methods_below_static_are_named():
    told = explained("evolving-above-static", ("mediamill", "chain", "pa", 0.93))
    assert told.startswith("Classifier chain is at -1.0 points of PA and +5.0 of AP against it, while EFC-ML (ours)")


def test_mediamill_is_told_where_ours_is_ahead_and_where_behind():
    told = explained("mediamill-level", ("mediamill", "ovr", "pa", 0.99), ("mediamill", "ovr", "ap", 0.76))
    assert "Ours is behind in PA and ahead in AP" in told
    assert "chain" not in told


@pytest.mark.parametrize(
    ("pa", "ap", "told"),
    [
        (0.97, 0.80, "with which PA hardly changes and AP hardly changes by the step."),
        (0.98, 0.76, "with which PA suffers by the step."),
    ],
)
def test_the_correlation_step_is_explained_by_what_was_chosen(pa, ap, told):
    findings = with_params(paper_is_right(), "mediamill", "ours", alpha=0.0, beta=1.0)
    why = explained(
        "rfwls-worse", ("mediamill", "rfwls", "pa", pa), ("mediamill", "rfwls", "ap", ap), findings=findings
    )
    assert why.startswith("The batch chooses alpha 0 and beta 1")
    assert told in why


def test_chance_is_as_good_where_little_is_left_to_win_and_where_much_is():
    told = explained("random-worse", ("yeast", "random-10", "pa", 0.82), ("birds", "labels-10", "pa", 0.88))
    assert "Hardly anything is left to win: a full update over chance is yeast 0.0." in told
    assert "A full update over chance is birds +6.5, so there is more to win" in told


def test_a_budget_is_explained_by_what_learning_on_is_worth():
    told = explained("labels-little-lost", ("yeast", "labels-10", "pa", 0.80))
    assert told.endswith("on yeast +4.0 points of PA with a full update and +2.0 with 10 % of the labels."), (
        "emotions is fine, and not mentioned"
    )


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ([("birds", "ours", "pa", 0.86)], "Not even a full update is above the static classifier (-2.0)"),
        ([("birds", "samples-30", "pa", 0.88)], "by +7.0, and 30 % of the samples are too few"),
        ([("birds", "samples-10", "pa", 0.90)], "Fewer samples suffice here."),
    ],
)
def test_birds_and_their_budget(numbers, told):
    refuted = [("birds", "samples-30", "pa", 0.85)] if "Not even" in told else []
    assert told in explained("birds-need-thirty", *numbers, *refuted)


def test_a_slow_rule_base_is_explained_by_its_rules():
    told = explained("faster-than-ovr-birds", ("yeast", "ovr", "ms", 70.0))
    assert "On yeast the batch chooses 14.3 rules for each of 14 classifiers of one-versus-rest, 200 with one" in told
    assert "for ours 10 with 14 labels each, each with a correlation step" in told


@pytest.mark.parametrize(
    ("before", "after", "pa", "told"),
    [
        (0.096, 0.099, 0.894, "On emotions 96 % of the budget are used without it"),
        (0.044, 0.044, 0.895, "On emotions it changes nothing: 44 %"),
        (0.044, 0.080, 0.894, "from 44 to 80 %, but PA has nothing"),
    ],
)
def test_a_criterion_that_does_not_help_is_explained_by_what_it_asks(before, after, pa, told):
    numbers = [("emotions", "labels-10", "asked", before), ("emotions", "labels-10-instability", "asked", after)]
    assert told in explained("instability-helps", *numbers, ("emotions", "labels-10-instability", "pa", pa))


@pytest.mark.parametrize(
    ("chance", "active", "told"),
    [
        (0.69, 0.68, "bring -1.0 points of AP, chosen ones -2.0: a tenth of the samples does more harm than good"),
        (0.704, 0.705, "bring +0.4 points of AP, chosen ones +0.5: a tenth of the samples teaches little"),
        (0.77, 0.78, "bring +7.0 points of AP, chosen ones +8.0: most of what there is to learn"),
    ],
)
def test_chance_and_choice_are_told_by_what_both_bring(chance, active, told):
    numbers = ("mediamill", "random-10", "ap", chance), ("mediamill", "samples-10", "ap", active)
    assert told in explained("chance-is-static", *numbers)


def test_what_was_not_run_explains_nothing_and_the_verdict_stays():
    findings = with_number(paper_is_right(), "paper", "yeast", "ovr", "ms", 70.0)
    alone = replace(findings, outcomes={})
    verdict = BY_KEY["faster-than-ovr-birds"].verdict(alone, "paper")
    assert verdict.ruling == "does not hold"
    assert verdict.explanation == "What could explain it is missing: ours was not run on yeast."


def test_a_difference_that_rounds_to_nothing_has_no_sign():
    assert [points(0.0), points(-0.0004), points(0.032), points(-0.012)] == ["0.0", "0.0", "+3.2", "-1.2"]
    assert hundredths(-0.0004) == "-0.04"
