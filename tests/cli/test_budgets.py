"""`evolabel run --budget`: who asks for how much, and why."""

import json
from itertools import product

import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.evaluate import Results

SHORT = ["run", "drift", "--samples", 100, "--metrics", "pa", "--quiet"]


def test_those_who_ask_stand_beside_random_questions_the_full_update_and_none(command):
    told = command(*SHORT, "--budget", "0.1,0.25", "--per", "labels", "--json")
    standings = {one["learner"]: one["questions"] for one in json.loads(told.out)["standings"]}
    asking = [f"{who} {share} %" for share, who in product(("10", "25"), ("active", "paper", "random"))]
    assert list(standings) == [*asking, "evolabel", "static"]
    assert standings["evolabel"] is standings["static"] is None
    for name in asking:
        budget = float(name.split()[1]) / 100
        assert standings[name]["per"] == "labels"
        assert 0.0 < standings[name]["share"] <= budget
        assert standings[name]["asked"] == pytest.approx(standings[name]["share"] * 80 * 5)
    assert standings["random 10 %"]["reasons"].keys() == {"random"}
    assert standings["active 10 %"]["reasons"]["ambiguity"] > 0


def test_criteria_and_selection_are_those_that_are_named(command):
    words = ["--budget", "0.2", "--criteria", "novelty,ambiguity", "--selection", "first_come"]
    document = json.loads(command(*SHORT, *words, "--json").out)
    assert "first_come" in document["settings"]["learners"]["active 20 %"]
    assert document["standings"][0]["questions"]["reasons"].keys() <= {"novelty", "ambiguity"}


@pytest.mark.drawn
def test_the_share_is_in_the_table_the_legend_and_the_report(command, tmp_path):
    told = command(*SHORT, "--budget", "0.2", "--out", tmp_path)
    used = Results.read(tmp_path / "seed-0").summary["active 20 %"].questions
    assert used is not None
    assert str(used) in told.out
    assert f"active 20 %: {used}" in (tmp_path / "pa-cumulative.svg").read_text()
    page = (tmp_path / "report.html").read_text()
    assert f"<td>{used}</td>" in page
    assert "Why it was asked" in page
    assert EvolvingFuzzyClassifier.load(tmp_path / "model.safetensors").n_rules_ > 0


def test_nothing_is_said_of_questions_where_nobody_asks(command, tmp_path):
    told = command(*SHORT, "--out", tmp_path)
    assert "asked" not in told.out
    assert "Why it was asked" not in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--budget", "much"], "--budget much is not allowed"),
        (["--budget", "1.5"], "budget=1.5"),
        (["--per", "labels"], "give a --budget"),
        (["--budget", "0.1", "--criteria", "luck"], "'luck' is no criterion"),
        (["--budget", "0.1", "--selection", "variable"], "has no threshold"),
        (["--budget", "0.1", "--learner", "knn"], "needs a fuzzy classifier to train, not knn"),
        (["--budget", "0.1", "--initial", "0"], "needs an initial batch"),
    ],
)
def test_wrong_budgets_are_one_clear_error(command, words, message):
    told = command(*SHORT, *words)
    assert told.code == 2
    assert message in told.err
    assert told.out == ""
