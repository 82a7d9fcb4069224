"""Parameters on the command line, and results that are not replaced by accident."""

import json
import sys

import numpy as np
import pytest
from choices import first_quick

from evolabel import EvolvingFuzzyClassifier

LABELS = ("--labels", "fault_a,fault_b")


def learners_of(told):
    return [standing["learner"] for standing in json.loads(told.out)["standings"]]


def parameters_of(told):
    """The first learner of a run as text."""
    return next(iter(json.loads(told.out)["settings"]["learners"].values()))


@pytest.mark.parametrize("as_file", [True, False])
def test_plain_json_of_parameters_names_the_learner(command, plant, tmp_path, as_file):
    given = text = '{"vigilance": 0.4, "max_rules": 5}'
    if as_file:
        given = tmp_path / "params.json"
        given.write_text(text)
    told = command("run", plant, *LABELS, "--params", given, "--json")
    assert told.code == 0, told.err
    assert learners_of(told) == ["evolabel (vigilance=0.4, max_rules=5)", "evolabel"]
    assert parameters_of(told) == repr(EvolvingFuzzyClassifier(vigilance=0.4, max_rules=5))


def test_single_parameters_are_typed_and_win_over_the_file(command, plant):
    words = ("--set", "max_rules=5", "--set", "follow_drift=false", "--set", "prune_after=none", "--set", "ridge=press")
    told = command("run", plant, *LABELS, "--params", '{"max_rules": 9}', *words, "--json")
    assert told.code == 0, told.err
    assert learners_of(told)[0] == "evolabel (max_rules=5, follow_drift=False, prune_after=None and 1 more)"
    given = (
        'has the parameters of --params {"max_rules": 9} and --set (--set wins: max_rules=5 instead of 9), the other'
    )
    assert given in told.err
    assert parameters_of(told) == repr(EvolvingFuzzyClassifier(max_rules=5, follow_drift=False))


def test_parameters_change_the_learner_named(command, plant):
    told = command("run", plant, *LABELS, "--learner", "macro-f1", "--set", "vigilance=2", "--json")
    assert learners_of(told) == ["macro-f1 (vigilance=2)", "macro-f1"]
    assert parameters_of(told) == repr(EvolvingFuzzyClassifier(optimise="macro_f1", vigilance=2))


@pytest.mark.parametrize(
    "words",
    first_quick(("--set", 'class_weight={"fault_b": 20}'), ("--params", '{"class_weight": {"fault_b": 20}}')),
)
def test_weights_of_labels_are_given_by_their_names_and_kept_in_the_model(command, plant, tmp_path, words):
    told = command("run", plant, *LABELS, *words, "--out", tmp_path / "out", "--quiet")
    assert told.code == 0, told.err
    clf = EvolvingFuzzyClassifier.load(tmp_path / "out" / "model.safetensors")
    assert clf.class_weight == {"fault_b": 20}
    X = np.random.default_rng(1).normal(size=(50, 2))
    with pytest.warns(UserWarning, match="feature names"):
        P, decided = clf.predict_proba(X), clf.predict(X)
    np.testing.assert_array_equal(decided, P * [1, 20] >= 1.0 - P)


def test_a_weight_of_no_label_is_wrong_usage(command, plant):
    told = command("run", plant, *LABELS, "--set", 'class_weight={"heat": 2}')
    assert told.code == 2
    assert told.err.endswith("class_weight has 'heat', which y does not have; use names of fault_a, fault_b\n")


def test_balanced_weights_can_be_set(command, plant):
    told = command("run", plant, *LABELS, "--set", "class_weight=balanced", "--json")
    assert parameters_of(told) == repr(EvolvingFuzzyClassifier(class_weight="balanced"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--set", "class_weight={heat: 2}"), "holds no weights"),
        (("--set", "vigilence=0.4"), "there is no parameter 'vigilence'; did you mean vigilance?"),
        (("--params", '{"vigilence": 0.4}'), "there is no parameter 'vigilence'; did you mean vigilance?"),
        (("--set", "qqq=1"), "there is no parameter 'qqq'; use one of max_rules, vigilance, "),
        (("--set", "vigilance"), "--set vigilance has no value; write it as --set vigilance=0.4"),
        (("--set", "max_rules=many"), "max_rules='many' is not allowed; use a whole number >= 1"),
        (("--set", "follow_drift=perhaps"), "follow_drift='perhaps' is unknown; use one of True, False"),
        (("--set", "alpha=0.1"), "alpha is no parameter of --learner evolabel; use --learner paper, or leave it out"),
        (
            ("--params", '{"beta": 1}'),
            "beta is no parameter of --learner evolabel; use --learner paper, or leave it out",
        ),
        (
            ("--learner", "paper", "--set", "follow_drift=true"),
            "follow_drift is no parameter of --learner paper; use --learner evolabel, or leave it out",
        ),
        (("--params", "[1]"), "there is no file [1]; use a JSON file"),
        (("--params", "{]"), "holds no parameters"),
        (("--learner", "knn", "--set", "vigilance=1"), "are for a fuzzy classifier, not knn; use --learner evolabel"),
    ],
)
def test_wrong_parameters_are_wrong_usage(command, plant, words, message):
    told = command("run", plant, *LABELS, *words)
    assert told.code == 2
    assert message in told.err
    assert len(told.err.splitlines()) == 1


def files_in(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_second_run_into_the_same_folder_needs_force(command, plant, tmp_path):
    words = ("run", plant, *LABELS, "--samples", 100, "--metrics", "pa", "--out", tmp_path / "out", "--quiet")
    told = command(*words)
    assert f"Report: {tmp_path / 'out' / 'report.html'}" in told.err
    assert f"Model: {tmp_path / 'out' / 'model.safetensors'}" in told.err
    before = files_in(tmp_path)
    told = command(*words, "--set", "vigilance=2")
    assert told.code == 2
    assert f"{tmp_path / 'out' / 'summary.json'} exists; use --force to replace it" in told.err
    assert files_in(tmp_path) == before
    assert command(*words, "--set", "vigilance=2", "--force").code == 0
    assert files_in(tmp_path).keys() == before.keys()
    assert files_in(tmp_path) != before


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (("predict", "model.safetensors", "plant.csv", "--out", "answers.csv"), "answers.csv"),
        (("rules", "model.safetensors", "--out", "rules.txt"), "rules.txt"),
        (("explain", "model.safetensors", "--row", 0, "--data", "plant.csv", "--out", "row.txt"), "row.txt"),
        (("figures", "model.safetensors", "--out", "pictures"), "pictures/index.html"),
        (("edit", "model.safetensors", "--lock", 1, "--out", "edited.safetensors"), "edited.safetensors"),
        (("convert", "plant.csv", "plant.npz", *LABELS), "plant.npz"),
        (("bench", "--out", "bench"), "bench/comparison.json"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
@pytest.mark.usefixtures("plant_model")
def test_commands_replace_files_only_when_told(command, tmp_path, monkeypatch, words, file):
    monkeypatch.chdir(tmp_path)
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("mine")
    before = files_in(tmp_path)
    told = command(*words)
    assert told.code == 2
    assert f"{file} exists; use --force to replace it" in told.err
    assert files_in(tmp_path) == before
    if words[0] != "bench":
        assert command(*words, "--force").code == 0
        assert (tmp_path / file).read_bytes() != b"mine"


class Terminal:
    """Standard input of a person who types `line`."""

    def __init__(self, line):
        self.line = line

    def isatty(self):
        return True

    def readline(self):
        return self.line


@pytest.mark.parametrize(("line", "code"), [("y\n", 0), ("Yes\n", 0), ("\n", 2), ("", 2), ("no\n", 2)])
@pytest.mark.usefixtures("plant_model")
def test_a_person_at_the_terminal_is_asked(command, tmp_path, monkeypatch, line, code):
    (tmp_path / "rules.txt").write_text("mine")
    monkeypatch.setattr(sys, "stdin", Terminal(line))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    told = command("rules", tmp_path / "model.safetensors", "--out", tmp_path / "rules.txt")
    assert told.code == code
    assert "rules.txt exists; replace it? [y/N]" in told.err
    assert ((tmp_path / "rules.txt").read_text() == "mine") == (code == 2)


@pytest.mark.posix
@pytest.mark.usefixtures("plant_model")
def test_devices_are_written_to_without_force(command, tmp_path):
    assert command("rules", tmp_path / "model.safetensors", "--out", "/dev/null").code == 0
