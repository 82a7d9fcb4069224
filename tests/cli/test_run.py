"""`evolabel run`: what is printed, what is written, and what goes wrong clearly."""

import json
import re

import numpy as np
import pytest

from evolabel.evaluate import Results


def test_a_csv_file_is_learned_and_shown_as_a_table(command, plant):
    told = command("run", plant, "--labels", "fault_a,fault_b", "--against", "prior,rls", "--quiet")
    assert told.code == 0
    assert "2 features, 2 labels, 240 streamed after 60 initial rows" in told.out
    lines = {line.split()[0]: line.split() for line in told.out.splitlines() if line.split()[1:]}
    assert float(lines["evolabel"][1]) > float(lines["prior"][1])


def test_json_is_all_that_goes_to_standard_output(command):
    told = command("run", "drift", "--samples", 400, "--against", "prior", "--seeds", 2, "--json")
    document = json.loads(told.out)
    assert document["seeds"] == [0, 1]
    ours, prior = document["standings"]
    assert (ours["learner"], prior["learner"]) == ("evolabel", "prior")
    runs = [document["runs"][seed][0]["metrics"]["pa"] for seed in "01"]
    assert ours["metrics"]["pa"]["mean"] == pytest.approx(np.mean(runs))
    assert ours["metrics"]["pa"]["deviation"] == pytest.approx(np.std(runs, ddof=1))
    assert prior["ahead"]["pa"]["mean"] == pytest.approx(ours["metrics"]["pa"]["mean"] - prior["metrics"]["pa"]["mean"])


def test_the_same_command_gives_the_same_numbers(command):
    def scores():
        told = command("run", "drift:gradual", "--samples", 300, "--json")
        return json.loads(told.out)["runs"]["0"][0]["metrics"]

    assert scores() == scores()


def test_results_figures_and_a_report_are_written(command, tmp_path, plant):
    out = tmp_path / "results"
    told = command("run", plant, "--labels", "fault_a,fault_b", "--against", "prior", "--out", out, "--quiet")
    assert f"Report: {out / 'report.html'}" in told.err.replace("\n", "")
    page = (out / "report.html").read_text()
    assert {"pa-cumulative.svg", "pa-sliding.svg", "ap-cumulative.svg", "rules-current.svg", "summary.json"} <= {
        file.name for file in out.iterdir()
    }
    assert page.count("<svg") == len(list(out.glob("*.svg")))
    assert not re.search(r"""(src|href)\s*=\s*["']https?:""", page), "the page must open without internet"
    assert "heat IS" in page, "rules are shown with the names of the file"
    assert "fault_a" in page
    again = Results.read(out / "seed-0")
    assert list(again.summary) == ["evolabel", "prior"]


def test_progress_is_drawn_on_the_error_stream(command):
    told = command("run", "drift", "--samples", 300, "--json")
    assert told.err == ""
    shown = command("run", "drift", "--samples", 300)
    assert "PA" in shown.out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["run", "nowhere"], 3, "neither a known data set nor a file"),
        (["run", "drift:sideways"], 2, "there is no drift 'sideways'"),
        (["run", "drift", "--protocol", "paper"], 2, "own order"),
        (["run", "drift", "--against", "magic"], 2, "there is no learner 'magic'"),
        (["run", "drift", "--metrics", "luck"], 2, "there is no metric 'luck'"),
        (["run", "drift", "--seeds", "0"], 2, "--seeds 0"),
        (["run", "drift", "--samples", "3", "--initial", "5"], 2, "leaves nothing to be answered"),
        (["run", "--speed"], 2, "--speed"),
        (["fly"], 2, "fly"),
    ],
)
def test_wrong_usage_is_one_clear_error(command, words, code, message):
    told = command(*words)
    assert told.code == code
    assert message in told.err
    assert "Traceback" not in told.err
    assert told.out == ""


def test_a_csv_without_labels_says_how_to_name_them(command, plant):
    told = command("run", plant)
    assert told.code == 2
    assert "label" in told.err


def test_interruption_has_its_own_exit_code(command, monkeypatch):
    import evolabel.cli.run as run_module

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(run_module, "prequential", interrupted)
    assert command("run", "drift").code == 130


def test_help_teaches(command):
    told = command("run", "--help")
    assert told.code == 0
    for word in ("--against", "--seeds", "drift:recurring", "my.csv"):
        assert word in told.out


@pytest.mark.data
def test_the_paper_protocol_starts_with_the_official_part(command):
    told = command("run", "emotions", "--protocol", "paper", "--learner", "prior", "--json")
    settings = json.loads(told.out)["settings"]
    assert (settings["initial"], settings["rows"]) == (391, 593)
