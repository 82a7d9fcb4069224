"""`evolabel rules` and `evolabel explain` on a model that `evolabel run` has saved."""

import json

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.streams import from_csv


def test_rules_are_told_under_the_names_of_the_file(command, plant_model):
    told = command("rules", plant_model)
    assert (told.code, told.err) == (0, "")
    assert told.out == EvolvingFuzzyClassifier.load(plant_model).rules_.text
    assert "Rules for fault_a" in told.out
    assert "IF heat is " in told.out
    regions = command("rules", plant_model, "--regions")
    assert regions.out == EvolvingFuzzyClassifier.load(plant_model).rules_.regions.text
    assert "fault_b is" in regions.out


def test_rules_in_all_formats(command, plant_model, tmp_path):
    rules = EvolvingFuzzyClassifier.load(plant_model).rules_
    assert json.loads(command("rules", plant_model, "--format", "json").out) == rules.to_dict()
    assert "#### Rules for fault_a" in command("rules", plant_model, "--format", "markdown").out
    assert json.loads(command("rules", plant_model, "--regions", "--format", "json").out) == rules.regions.to_dict()
    told = command("rules", plant_model, "--format", "html", "--out", tmp_path / "rules.html")
    assert told.out == ""
    assert (tmp_path / "rules.html").read_text() == rules.html()


def test_some_rules_only(command, plant_model):
    shown = command("rules", plant_model, "--regions", "--top", 2).out
    assert shown.count("\nRule ") == 2
    assert f"2 of {EvolvingFuzzyClassifier.load(plant_model).n_rules_} regions with " in shown
    assert "Rules for fault_a" not in command("rules", plant_model, "--label", "fault_b").out
    document = json.loads(command("rules", plant_model, "--label", "fault_b", "--format", "json").out)
    shares = [next(o["share"] for o in rule["then"] if o["label"] == "fault_b") for rule in document["rules"]]
    assert shares == sorted(shares, reverse=True)


def test_fidelity_is_measured_on_the_rows_of_a_file(command, plant_model, plant):
    told = json.loads(command("rules", plant_model, "--data", plant, "--format", "json").out)
    X = from_csv(plant, ["fault_a", "fault_b"]).X
    clf = EvolvingFuzzyClassifier.load(plant_model)
    del clf.feature_names_in_
    assert [rule["activity"] for rule in told["rules"]] == pytest.approx(clf.memberships(X).mean(axis=0).tolist())


def test_one_row_is_explained(command, plant_model, plant):
    told = command("explain", plant_model, "--row", 7, "--data", plant)
    assert (told.code, told.err) == (0, "")
    assert "fault_a: " in told.out
    assert "Rules for fault_a" not in command("rules", plant_model, "--label", "fault_b").out
    document = json.loads(command("explain", plant_model, "--row", 7, "--data", plant, "--format", "json").out)
    data = from_csv(plant, ["fault_a", "fault_b"])
    assert document["values"] == data.X[7].tolist()
    outputs = [np.sum(label["contributions"]) + label["threshold_rules"] for label in document["labels"]]
    assert outputs == pytest.approx([label["output"] for label in document["labels"]], abs=1e-12)


@pytest.mark.parametrize("form", ["IF heat BELOW 0 THEN fault_a UNLIKELY", "IF heat ABOVE 0 THEN fault_a LIKELY"])
def test_a_row_is_explained_beside_a_rule_that_ends_at_0(command, plant_model, plant, form):
    clf = EvolvingFuzzyClassifier.load(plant_model)
    clf.rulebook.add(form)
    clf.save(plant_model)
    for row in range(4):
        told = command("explain", plant_model, "--row", row, "--data", plant)
        assert (told.code, told.err) == (0, "")
        assert "if heat went from " in told.out


@pytest.mark.parametrize("scale", ["e-320", "e18"])
def test_rows_of_tiny_and_of_huge_values_are_explained(command, tmp_path, scale):
    rows = np.random.default_rng(0).normal(size=(300, 2))
    file, model = tmp_path / "rows.csv", tmp_path / "model.safetensors"
    file.write_text("a,b,on\n" + "".join(f"{a:.4f}{scale},{b:.4f}{scale},{int(a > 0)}\n" for a, b in rows))
    data = from_csv(file, ["on"])
    EvolvingFuzzyClassifier(max_rules=4).fit(data.X, data.Y).name_columns(["a", "b"], ["on"]).save(model)
    for row in range(4):
        told = command("explain", model, "--row", row, "--data", file)
        assert (told.code, told.err) == (0, "")
        assert " inf" not in told.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rules", "{model}", "--label", "hail"], "no label 'hail'; it has fault_a, fault_b"),
        (["rules", "{model}", "--top", "0"], "top=0"),
        (["rules", "{model}", "--top", "2"], "add --regions, or leave it out"),
        (["rules", "nowhere.safetensors"], "no model file at"),
        (
            ["rules", "{model}", "--out", "nowhere/rules.md"],
            "cannot write nowhere/rules.md (No such file or directory)",
        ),
        (["rules", "{model}", "--out", "."], "cannot write . (Is a directory); choose another file"),
        (["explain", "{model}", "--row", "300", "--data", "{plant}"], "has rows 0 to 299"),
        (["explain", "{model}", "--row", "0", "--data", "drift"], "features, the model has 2"),
        (["explain", "{model}", "--row", "0", "--data", "{other}"], "the model needs heat, flow"),
    ],
)
def test_what_is_not_there_is_told(command, plant_model, plant, tmp_path, words, message):
    other = tmp_path / "other.csv"
    other.write_text(plant.read_text().replace("heat", "cold", 1))
    told = command(*(word.format(model=plant_model, plant=plant, other=other) for word in words))
    assert told.code == 2
    assert message in told.err.replace("\n", " ")
