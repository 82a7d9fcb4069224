"""`evolabel edit`: acts on a saved model, told line by line."""

import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.streams import from_csv

HOT = 'IF heat ABOVE 1 THEN fault_a LIKELY CALLED "hot idle"'


@pytest.fixture
def model(plant, tmp_path):
    data = from_csv(plant, ["fault_a", "fault_b"])
    EvolvingFuzzyClassifier(max_rules=6).fit(data.X, data.Y).save(tmp_path / "plant.model")
    return tmp_path / "plant.model"


def test_acts_are_done_and_told(command, model, tmp_path):
    form = HOT.replace("heat", "x0").replace("fault_a", "label0")
    first, second, third = (rule.identity for rule in EvolvingFuzzyClassifier.load(model).rules_[:3])
    told = command(
        "edit", model, "--add", form, "--lock", "hot idle", "--rename", first, "pump", "--delete", second,
        "--change", third, "IF x1 IS low THEN label0 UNLIKELY, label1 LIKELY", "--out", tmp_path / "new.model",
    )  # fmt: skip
    assert (told.code, told.out) == (0, "")
    kinds = ["renamed", "added", "deleted", "added", "locked"]
    lines = told.err.splitlines()
    assert len(lines) == 5
    assert all(kind in line for kind, line in zip(kinds, lines, strict=True))
    book = EvolvingFuzzyClassifier.load(tmp_path / "new.model").rulebook
    assert [event.kind for event in book.edits] == kinds
    assert set(book.names.values()) == {"pump", "hot idle"}
    assert EvolvingFuzzyClassifier.load(model).rulebook.edits == []


def test_the_last_act_is_undone_in_the_file_itself(command, model):
    before = EvolvingFuzzyClassifier.load(model)
    first, second = (rule.identity for rule in before.rules_[:2])
    assert command("edit", model, "--merge", first, second).code == 0
    assert EvolvingFuzzyClassifier.load(model).n_rules_ == before.n_rules_ - 1
    told = command("edit", model, "--undo")
    assert "undone: sample 300" in told.err
    assert EvolvingFuzzyClassifier.load(model).n_rules_ == before.n_rules_


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "nothing to do"),
        (["--undo"], "no edit to undo"),
        (["--delete", "99"], "no rule 99"),
        (["--lock", "hot"], "no rule is called 'hot'"),
        (["--add", "IF pressure IS high THEN label0 LIKELY"], "no feature 'pressure'"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line_and_leaves_the_file_alone(command, model, words, told):
    before = model.read_bytes()
    answer = command("edit", model, *words)
    assert answer.code == 2
    assert model.read_bytes() == before
    assert told in answer.err
    assert len(answer.err.splitlines()) == 1


def test_written_rules_are_moved_and_listed_first(command, model):
    for form in ("IF x0 ABOVE 1 THEN label0 LIKELY", "IF x1 ABOVE 1 THEN label0 UNLIKELY"):
        assert command("edit", model, "--add", form).code == 0
    first, second = (rule.number for rule in EvolvingFuzzyClassifier.load(model).rules_.written)
    told = command("edit", model, "--move", second, "1")
    assert told.err == f"sample 300: rule {second} was moved by hand: place 1\n"
    text = command("rules", model).out
    assert text.index(f"rule {second})") < text.index(f"rule {first})")
    assert "written: 10 %; no samples so far" in text


def test_help_shows_no_empty_defaults(command):
    assert "()" not in command("edit", "--help").out
