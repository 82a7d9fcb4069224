"""Results of each label: in the table, the JSON and the report of `evolabel run`, with notes on what to know."""

import json

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel.evaluate import prequential, repeat
from evolabel.evaluate.repeated import run_notes

COLUMNS = ["label", "support", "predicted", "precision", "recall", "F1", "PR-AUC", "ROC-AUC", "Brier"]


@pytest.fixture
def rare_plant(tmp_path):
    """A CSV with one common label, and a rare one that the columns do not tell anything about."""
    random = np.random.default_rng(1)  # whose rare rows never lie so close together that the first tree predicts one
    X = random.normal(size=(400, 2))
    Y = np.column_stack([X[:, 0] > 0.0, random.random(400) < 0.05]).astype(int)
    lines = ["a,b,leak,odd", *(f"{a},{b},{leak},{odd}" for (a, b), (leak, odd) in zip(X, Y, strict=True))]
    path = tmp_path / "plant.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.compiled
def test_table_json_and_report_have_every_label(command, rare_plant, tmp_path):
    told = command("run", rare_plant, "--labels", "leak,odd", "--quiet", "--out", tmp_path / "out")
    assert told.code == 0
    assert any(line.split() == COLUMNS for line in told.out.splitlines())
    row = next(line.split() for line in told.out.splitlines() if line.split()[:1] == ["leak"])
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())["runs"]["0"][0]
    leak, odd = summary["labels"]
    assert [row[0], row[1].replace(",", ""), row[2]] == ["leak", str(leak["support"]), str(leak["predicted"])]
    assert [float(cell) for cell in row[3:]] == pytest.approx([leak[name] for name in list(leak)[4:]], abs=6e-4)
    assert leak["roc_auc"] > 0.9
    assert leak["brier"] < 0.1
    assert (odd["predicted"], odd["precision"], odd["recall"]) == (0, None, 0.0)
    page = (tmp_path / "out" / "report.html").read_text()
    assert all(f"<th>{name}</th>" in page for name in COLUMNS)
    for name in ("roc", "precision-recall", "calibration"):
        assert (tmp_path / "out" / f"{name}.svg").read_text() in page


@pytest.mark.compiled
def test_labels_that_were_never_predicted_are_named_with_the_option_that_helps(command, rare_plant, tmp_path):
    told = command("run", rare_plant, "--labels", "leak,odd", "--quiet", "--out", tmp_path / "out")
    (note,) = [line for line in told.err.splitlines() if line.startswith("never predicted")]
    assert "odd (" in note
    assert "leak" not in note
    assert 'optimise="macro_f1"' in note
    (cost,) = [line for line in told.err.splitlines() if line.startswith('with optimise="macro_f1"')]
    assert "so far PA" in cost
    assert "never predicted: odd" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.compiled
def test_following_the_advice_predicts_the_rare_label():
    random = np.random.default_rng(0)
    X = random.normal(size=(1500, 3))
    rare = random.random(1500) < np.where(X[:, 0] > 0.0, 0.08, 0.02)
    stream = X, np.column_stack([X[:, 1] > 0.0, rare]).astype(float)

    def notes(**way):
        return run_notes(repeat(lambda seed: prequential(EvolvingFuzzyClassifier(**way), stream), [0]))

    (note,) = notes()
    assert "never predicted: label1 (" in note
    named = [value for value in ("macro_f1", "balanced") if f'"{value}"' in note]
    assert named == ["macro_f1", "balanced"]
    for value in named:
        assert notes(optimise=value) == []


@pytest.mark.compiled
def test_one_label_has_a_note_that_its_ranking_says_nothing(command, rare_plant):
    told = command("run", rare_plant, "--labels", "leak", "--drop", "odd", "--quiet")
    assert "AP: the same whatever the scores, because one label has no ranking" in told.err.replace("\n", " ")
    assert "ROC-AUC" in told.out


@pytest.mark.compiled
def test_several_labels_that_are_predicted_need_no_note(stream):
    found = repeat(lambda seed: prequential(EvolvingFuzzyClassifier(max_rules=4), stream, initial=40), [0])
    assert run_notes(found) == []


@pytest.mark.compiled
@pytest.mark.parametrize("optimise", ["accuracy", "macro_f1"])
def test_decisions_along_the_stream_are_those_before_each_row(stream, optimise):
    X, Y = stream
    clf, twin = (EvolvingFuzzyClassifier(max_rules=4, optimise=optimise).fit(X[:60], Y[:60]) for _ in range(2))
    found = clf.answer_then_train(X[60:], Y[60:])
    for row, decided in zip(range(60, len(X)), found.decisions, strict=True):
        np.testing.assert_array_equal(twin.predict(X[row : row + 1])[0], decided)
        twin.partial_fit(X[row : row + 1], Y[row : row + 1])
