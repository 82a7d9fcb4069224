"""`evolabel tune`: parameters from the initial batch, compared with the defaults on the rows after it."""

import json

import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel._utils.files import write_atomically
from evolabel.evaluate import prequential
from evolabel.streams import from_csv
from evolabel.tuning import stream_score

LABELS = ("--labels", "fault_a,fault_b")
SMALL = ("--vigilance", "0.5,1", "--ridge", "press,1000", "--threshold-rules", "true", "--cv", 2, "--jobs", 1)
BY_VIGILANCE = ("--vigilance", "0.5,1", "--ridge", "press", "--threshold-rules", "true", "--cv", 2, "--jobs", 1)
DEFAULTS = {"vigilance": 0.5, "ridge": "press", "threshold_rules": True}
FOUND = {"vigilance": 1.0, "ridge": "press", "threshold_rules": True}


@pytest.fixture
def scores(monkeypatch):
    """Sets the scores that the search gets, by vigilance; the defaults have 0.5."""

    def replace(by_vigilance):
        def score(estimator, X, y):
            assert len(X) <= 40, "at most the initial batch without the first rows"
            return by_vigilance[estimator.vigilance]

        monkeypatch.setattr("evolabel.cli.tune.stream_score", score)

    return replace


@pytest.fixture
def held_out(monkeypatch):
    """Sets what is measured on the held-out rows, by vigilance."""

    def replace(by_vigilance):
        def measured(params, *_):
            return by_vigilance[params["vigilance"]]

        monkeypatch.setattr("evolabel.cli.tune.held_out_score", measured)

    return replace


def test_the_result_is_printed_and_written(command, plant, tmp_path):
    out = tmp_path / "tuned"
    told = command("tune", plant, *LABELS, *SMALL, "--out", out, "--json")
    assert told.code == 0
    outcome = json.loads(told.out)
    assert outcome == json.loads((out / "best.json").read_text())
    assert (outcome["rows"], outcome["held_out_rows"]) == (60, 240)
    lines = (out / "surface.csv").read_text().splitlines()
    assert lines[0] == "vigilance,ridge,threshold_rules,score,deviation"
    scores = [float(line.split(",")[3]) for line in lines[1:]]
    assert len(scores) == 4
    assert max(scores) == outcome["found"]["score"]
    assert (out / "heat-map.svg").is_file()


@pytest.mark.parametrize("values", [("0.5", "press", "true"), ("1,2", "press", "true"), ("1,0.5", "1000", "false")])
def test_the_defaults_are_always_the_first_candidate(command, plant, tmp_path, values):
    words = [
        word for pair in zip(("--vigilance", "--ridge", "--threshold-rules"), values, strict=True) for word in pair
    ]
    command("tune", plant, *LABELS, *words, "--cv", 2, "--jobs", 1, "--out", tmp_path, "--json")
    lines = (tmp_path / "surface.csv").read_text().splitlines()[1:]
    assert lines[0].startswith("0.5,press,True,")
    assert [line.startswith("0.5,press,True,") for line in lines].count(True) == 1


@pytest.mark.parametrize("optimise", ["accuracy", "macro_f1"])
def test_the_returned_setting_is_not_worse_than_the_defaults(command, plant, optimise):
    outcome = json.loads(command("tune", plant, *LABELS, *SMALL, "--optimise", optimise, "--json").out)
    returned = outcome["found"] if outcome["beats_defaults"] else outcome["defaults"]
    assert outcome["best_params"] == {**returned["params"], "optimise": optimise}
    assert returned["score"] >= outcome["defaults"]["score"]
    assert returned["held_out"] >= outcome["defaults"]["held_out"]


@pytest.mark.parametrize(
    ("optimise", "measure"),
    [
        ("accuracy", "pa"),
        ("balanced", "balanced_accuracy"),
        ("macro_f1", "macro_f1"),
        ("micro_f1", "micro_f1"),
        ("subset_accuracy", "subset_accuracy"),
    ],
)
def test_both_numbers_of_the_defaults_are_those_of_the_measure_that_is_optimised(command, plant, optimise, measure):
    words = ("--vigilance", "0.5", *BY_VIGILANCE[2:])
    outcome = json.loads(command("tune", plant, *LABELS, *words, "--optimise", optimise, "--json").out)
    data, clf = from_csv(plant, ["fault_a", "fault_b"]), EvolvingFuzzyClassifier(optimise=optimise)
    X, Y = data.X[:60], data.Y[:60]
    parts = [stream_score(clf.fit(X[:end], Y[:end]), X[end : end + 20], Y[end : end + 20]) for end in (20, 40)]
    later = prequential({"defaults": EvolvingFuzzyClassifier(optimise=optimise)}, data, initial=60, metrics=[measure])
    assert outcome["measure"] == measure
    assert outcome["defaults"]["score"] == pytest.approx(sum(parts) / 2)
    assert outcome["defaults"]["held_out"] == later.summary["defaults"].metrics[measure]


def test_a_setting_that_is_better_on_both_parts_is_returned(command, plant, scores, held_out):
    scores({0.5: 0.5, 1.0: 0.6})
    held_out({0.5: 0.7, 1.0: 0.8})
    told = command("tune", plant, *LABELS, *BY_VIGILANCE, "--json")
    outcome = json.loads(told.out)
    assert outcome["beats_defaults"]
    assert outcome["best_params"] == {**FOUND, "optimise": "accuracy"}
    assert "PA on the 240 held-out rows: 0.8000, with the defaults 0.7000" in told.err


@pytest.mark.parametrize(
    ("chosen", "later", "told"),
    [
        ({0.5: 0.5, 1.0: 0.4}, {0.5: 0.7}, "no other setting has a higher PA on the initial batch"),
        ({0.5: 0.5, 1.0: 0.5}, {0.5: 0.7}, "no other setting has a higher PA on the initial batch"),
        ({0.5: 0.5, 1.0: 0.6}, {0.5: 0.7, 1.0: 0.6}, "PA on the 240 held-out rows: 0.6000, with the defaults 0.7000"),
        ({0.5: 0.5, 1.0: 0.6}, {0.5: 0.7, 1.0: 0.7}, "PA on the 240 held-out rows: 0.7000, with the defaults 0.7000"),
    ],
    ids=["worse", "equal", "worse later", "equal later"],
)
def test_the_defaults_are_returned_where_nothing_beats_them(
    command, plant, tmp_path, scores, held_out, chosen, later, told
):
    scores(chosen)
    held_out(later)
    said = command("tune", plant, *LABELS, *BY_VIGILANCE, "--out", tmp_path, "--json")
    outcome = json.loads((tmp_path / "best.json").read_text())
    assert said.code == 0
    assert "Nothing beats the defaults" in said.err
    assert told in said.err
    assert not outcome["beats_defaults"]
    assert outcome["best_params"] == {**DEFAULTS, "optimise": "accuracy"}


def test_the_search_reads_only_the_initial_batch(command, plant, tmp_path):
    def surface(file):
        command("tune", file, *LABELS, *SMALL, "--json", "--out", tmp_path / file.stem)
        return (tmp_path / file.stem / "surface.csv").read_text()

    lines = plant.read_text().splitlines()
    changed = tmp_path / "changed.csv"
    changed.write_text("\n".join(lines[:61] + ["9,9,1,0"] * 240) + "\n")
    assert surface(changed) == surface(plant)


def test_classes_are_searched_as_they_are_learned(command, tmp_path):
    rows = [f"{at % 7},{at % 5},{'abc'[at % 7 // 3]}" for at in range(200)]
    file = tmp_path / "states.csv"
    file.write_text("\n".join(["heat,flow,state", *rows]) + "\n")
    outcome = json.loads(command("tune", file, "--class-column", "state", *SMALL, "--json").out)
    assert outcome["defaults"]["held_out"] > 0.9
    assert outcome["defaults"]["score"] > 0.7


def test_a_finished_search_is_not_repeated(command, plant, tmp_path, monkeypatch):
    words = ("tune", plant, *LABELS, *SMALL, "--out", tmp_path / "tuned", "--json")
    first = command(*words)

    def never(*_):
        raise AssertionError("this was done already")

    monkeypatch.setattr("evolabel.cli.tune.stream_score", never)
    assert command(*words).out == first.out


def test_a_search_continues_where_it_was_interrupted(command, plant, tmp_path):
    words = ("tune", plant, *LABELS, *SMALL, "--out", tmp_path, "--json")
    first, file = command(*words), tmp_path / "checkpoint.jsonl"
    whole = file.read_text()
    file.write_text("".join(whole.splitlines(keepends=True)[:4]))  # one setting, and one fold of the second
    assert command(*words).out == first.out
    assert sorted(set(file.read_text().splitlines())) == sorted(whole.splitlines())


def test_the_best_settings_are_shown_as_a_table_with_the_defaults_marked(command, plant):
    words = ("tune", plant, *LABELS, *SMALL)
    table, outcome = command(*words, "--quiet").out.splitlines(), json.loads(command(*words, "--json").out)
    rows = [line.split() for line in table[4:] if line.strip()]
    assert "settings by PA on 60 rows, and on the 240 held-out rows" in table[0]
    assert rows[0][3] == f"{outcome['found']['score']:.4f}"
    assert len(rows) == 4
    (marked,) = [row for row in rows if row[-1] == "defaults"]
    assert marked[3:5] == [f"{outcome['defaults'][name]:.4f}" for name in ("score", "held_out")]


def test_the_defaults_are_shown_below_the_best_settings(command, plant, scores, held_out):
    values = [0.5, *(1.0 + at for at in range(11))]
    scores({value: value / 100 for value in values})
    held_out({0.5: 0.5, 11.0: 0.6})
    words = ("--vigilance", ",".join(map(str, values)), *BY_VIGILANCE[2:])
    told = command("tune", plant, *LABELS, *words)
    rows = [line.split() for line in told.out.splitlines()[4:] if line.strip()]
    assert [row[0] for row in rows] == [*(str(value) for value in values[:1:-1]), "0.5"]


def test_a_heat_map_is_never_half_written(command, plant, tmp_path, monkeypatch):
    (tmp_path / "heat-map.svg").write_text("old")
    write = write_atomically

    def refuse(target, data):
        if target.name == "heat-map.svg":
            assert data.rstrip().endswith(b"</svg>")
            raise OSError(28, "No space left on device", str(target))
        write(target, data)

    monkeypatch.setattr("evolabel.cli.tune.write_atomically", refuse)
    told = command("tune", plant, *LABELS, *SMALL, "--out", tmp_path, "--json")
    assert told.code == 1
    assert (tmp_path / "heat-map.svg").read_text() == "old"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--ridge", "much"), "ridge='much' is not allowed"),
        (("--vigilance=-1",), "vigilance=-1 is not allowed"),
        (("--threshold-rules", "perhaps"), "threshold_rules='perhaps'"),
        (("--optimise", "luck"), "luck"),
        (("--cv", "1"), "cv=1"),
        (("--jobs", "0"), "n_jobs=0"),
        (("--cv", "40"), "60 rows are too few for 40 folds"),
    ],
)
def test_wrong_usage_is_one_clear_error(command, plant, tmp_path, words, message):
    told = command("tune", plant, *LABELS, *words, "--out", tmp_path / "out")
    assert told.code == 2
    assert message in told.err
    assert told.out == ""


def test_rows_without_labels_cannot_be_scored(command, plant):
    lines = plant.read_text().splitlines()
    plant.write_text("\n".join([*lines[:21], *(f"{line.rsplit(',', 2)[0]},," for line in lines[21:])]) + "\n")
    told = command("tune", plant, *LABELS, *SMALL)
    assert told.code == 2
    assert "a fold has too few annotated labels" in told.err


def test_the_first_rows_of_a_fold_need_labels_too(command, plant):
    lines = plant.read_text().splitlines()
    plant.write_text(
        "\n".join([lines[0], *(f"{line.rsplit(',', 2)[0]},," for line in lines[1:21]), *lines[21:]]) + "\n"
    )
    told = command("tune", plant, *LABELS, *SMALL)
    assert told.code == 2
    assert "a fold has too few annotated labels" in told.err


def test_a_search_needs_rows(command, plant):
    told = command("tune", plant, *LABELS, *SMALL, "--initial", 0)
    assert told.code == 2
    assert "leaves nothing to search on" in told.err
