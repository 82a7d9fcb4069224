"""`evolabel tune`: parameters from the initial batch."""

import json

import pytest

from evolabel._utils.atomic_files import write_atomically

SMALL = ("--vigilance", "0.5,1", "--alpha", "0,0.1", "--beta", "0", "--cv", 2, "--jobs", 1)


def test_the_best_point_is_told_and_written(command, plant, tmp_path):
    out = tmp_path / "tuned"
    told = command("tune", plant, "--labels", "fault_a,fault_b", *SMALL, "--out", out, "--json")
    assert told.code == 0
    outcome = json.loads(told.out)
    assert outcome == json.loads((out / "best.json").read_text())
    assert outcome["rows"] == 60, "only the initial batch is looked at"
    lines = (out / "surface.csv").read_text().splitlines()
    assert lines[0] == "vigilance,follow_drift,alpha,beta,score,deviation"
    scores = [float(line.split(",")[4]) for line in lines[1:]]
    assert len(scores) == 4
    assert max(scores) == outcome["best_score"]
    assert (out / "heat-map.svg").is_file()


def test_the_search_sees_nothing_but_the_initial_batch(command, plant, tmp_path):
    def best(file):
        return json.loads(command("tune", file, "--labels", "fault_a,fault_b", *SMALL, "--json").out)["best_score"]

    lines = plant.read_text().splitlines()
    changed = tmp_path / "changed.csv"
    changed.write_text("\n".join(lines[:61] + ["9,9,1,0"] * 240) + "\n")
    assert best(changed) == best(plant)


def test_a_finished_search_is_not_repeated(command, plant, tmp_path, monkeypatch):
    words = ("tune", plant, "--labels", "fault_a,fault_b", *SMALL, "--out", tmp_path / "tuned", "--json")
    first = command(*words)

    def never(*_):
        raise AssertionError("this was done already")

    monkeypatch.setattr("evolabel.tuning.search.shared_answers", never)
    assert command(*words).out == first.out


def test_the_best_points_are_shown_as_a_table(command, plant):
    words = ("tune", plant, "--labels", "fault_a,fault_b", *SMALL)
    table, best = command(*words, "--quiet").out.splitlines(), json.loads(command(*words, "--json").out)
    points = [line.split() for line in table[4:] if line.strip()]
    assert "the best points on 60 rows" in table[0]
    assert points[0][-1] == f"{best['best_score']:.4f}"
    assert len(points) == 4


def test_a_heat_map_is_never_half_written(command, plant, tmp_path, monkeypatch):
    (tmp_path / "heat-map.svg").write_text("old")
    write = write_atomically

    def refuse(target, data):
        if target.name == "heat-map.svg":
            assert data.rstrip().endswith(b"</svg>")
            raise OSError(28, "No space left on device", str(target))
        write(target, data)

    monkeypatch.setattr("evolabel.cli.tune.write_atomically", refuse)
    told = command("tune", plant, "--labels", "fault_a,fault_b", *SMALL, "--out", tmp_path, "--json")
    assert told.code == 1
    assert (tmp_path / "heat-map.svg").read_text() == "old"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--alpha", "much"), "no number"),
        (("--score", "luck"), "luck"),
        (("--cv", "1"), "cv=1"),
        (("--profile", "golden"), "golden"),
    ],
)
def test_wrong_usage_is_one_clear_error(command, plant, words, message):
    told = command("tune", plant, "--labels", "fault_a,fault_b", "--vigilance", "0.5", "--beta", "0", *words)
    assert told.code == 2
    assert message in told.err
    assert told.out == ""


def test_a_search_needs_rows(command, plant):
    told = command("tune", plant, "--labels", "fault_a,fault_b", *SMALL, "--initial", 0)
    assert told.code == 2
    assert "leaves nothing to search on" in told.err
