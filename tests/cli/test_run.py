"""`evolabel run`: what is printed, what is written, and what goes wrong clearly."""

import json
import re

import numpy as np
import pytest
from choices import first_quick

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import CRITERIA
from evolabel.cli.output import LiveBars, shift_table
from evolabel.core.events import Event
from evolabel.evaluate import Repeated, Results, Summary
from evolabel.evaluate.metrics import METRICS
from evolabel.learners import LEARNERS


def test_a_csv_file_is_learned_and_shown_as_a_table(command, plant):
    told = command("run", plant, "--labels", "fault_a,fault_b", "--against", "prior,rls", "--quiet")
    assert told.code == 0
    assert "2 features, 2 labels, 240 streamed after 60 initial rows" in told.out
    lines = {line.split()[0]: line.split() for line in told.out.splitlines() if line.split()[1:]}
    assert float(lines["evolabel"][1]) > float(lines["prior"][1])


@pytest.mark.parametrize("words", [["--labels=-2"], ["--labels", "-2"]])
def test_the_last_columns_may_be_the_labels(command, plant, words):
    told = command("run", plant, *words, "--learner", "prior", "--quiet")
    assert told.code == 0
    assert "2 features, 2 labels" in told.out


def test_names_of_data_sets_may_be_written_in_capitals(command):
    pytest.importorskip("river")
    told = command("run", "Yeast", "--samples", 100, "--learner", "prior", "--quiet")
    assert told.code == 0
    assert "103 features, 14 labels" in told.out


@pytest.mark.parametrize("data", ["yeast", "drift:none", "plant.npz"])
def test_labels_are_refused_where_the_data_names_its_own(command, plant, tmp_path, monkeypatch, data):
    monkeypatch.chdir(tmp_path)
    command("convert", plant, "plant.npz", "--labels=-2")
    told = command("run", data, "--labels", "fault_a", "--learner", "prior", "--samples", 50)
    assert told.code == 2
    assert re.search(rf"{data} .*; leave .*labels", told.err)


def test_labels_that_last_are_predicted_by_the_last_answers_unless_they_come_late(command, tmp_path):
    rng, state = np.random.default_rng(0), np.repeat(np.arange(40) % 2, 12)
    rows = [f"{x:.3f},{y},{1 - y}" for x, y in zip(rng.normal(size=len(state)), state, strict=True)]
    (tmp_path / "states.csv").write_text("\n".join(["heat,on,off", *rows]))

    def share(*words):
        told = command(
            "run", tmp_path / "states.csv", "--labels=-2", "--metrics", "pa,kappa_temporal", "--json", *words
        )
        return json.loads(told.out)["runs"]["0"][0]["metrics"]

    found, late = share(), share("--delay", 6)
    assert found["pa"] > 0.8
    assert max(share("--set", "memory=none")["pa"], late["pa"]) < 0.7
    assert found["kappa_temporal"] > late["kappa_temporal"]
    assert share("--learner", "no-change")["kappa_temporal"] == 0.0


@pytest.mark.parametrize("run", [1, 25])
def test_no_change_stands_beside_a_learner_where_answers_persist(command, tmp_path, run):
    rng = np.random.default_rng(0)
    on = rng.integers(0, 2, 600) if run == 1 else np.arange(600) // run % 2
    rows = [f"{x:.3f},{y},{1 - y}" for x, y in zip(rng.normal(size=600), on, strict=True)]
    (tmp_path / "states.csv").write_text("\n".join(["heat,on,off", *rows]))
    told = command("run", tmp_path / "states.csv", "--labels=-2", "--quiet")
    persists = run > 1
    assert ("Answers persist: 1,000 rows count for" in told.err) == persists
    assert "label0" not in told.err
    assert any(line.split()[:1] == ["no-change"] for line in told.out.splitlines()) == persists


def test_json_is_all_that_goes_to_standard_output(command):
    told = command("run", "drift", "--samples", 150, "--against", "prior", "--seeds", 2, "--json")
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
        told = command("run", "drift:gradual", "--samples", 150, "--json")
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
    assert "heat is" in page, "rules are shown with the names of the file"
    assert "fault_a" in page
    again = Results.read(out / "seed-0")
    assert list(again.summary) == ["evolabel", "prior"]
    saved = EvolvingFuzzyClassifier.load(out / "model.safetensors")
    assert list(saved.feature_names_in_) == ["heat", "flow"]
    assert list(saved.label_names_) == ["fault_a", "fault_b"]
    assert saved.n_samples_seen_ == 300


def test_progress_is_drawn_on_the_error_stream(command):
    told = command("run", "drift", "--samples", 100, "--json")
    assert told.err == ""
    shown = command("run", "drift", "--samples", 100)
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
        (["run", "drift", "--samples", "20", "--initial", "20"], 2, "leaves none to predict"),
        (["run", "drift", "--initial", "1"], 2, "--initial 1 is not allowed"),
        (["run", "drift", "--initial", "nan"], 2, "--initial nan is not allowed"),
        (["run", "drift", "--initial", "20.5"], 2, "--initial 20.5 is not allowed"),
        (["run", "drift", "--samples", "0"], 2, "samples=0"),
        (["run", "drift", "--every", "0"], 2, "every=0"),
        (["run", "drift", "--delay", "soon"], 2, "--delay soon"),
        (["run", "drift", "--metrics", "pa,PA"], 2, "none twice"),
        (["run", "drift", "--out", f"{__file__}/here"], 2, "choose another folder"),
        (["bench", "--sets", ""], 2, "names no data set"),
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


OUR_CRITERIA = {name for name, kind in CRITERIA.items() if kind.__module__.startswith("evolabel.")}  # tests have others


def test_help_teaches_and_names_all_there_is_to_choose(command):
    told = command("run", "--help")
    assert told.code == 0
    for word in ("--against", "--seeds", "drift:recurring", "my.csv", "--labels=-2"):
        assert word in told.out
    for names in (set(LEARNERS) - {"evolabel"}, set(METRICS), OUR_CRITERIA):
        assert names <= set(re.findall(r"[\w-]+", told.out))


@pytest.mark.data
def test_the_paper_protocol_starts_with_the_official_part(command):
    told = command("run", "emotions", "--protocol", "paper", "--learner", "prior", "--json")
    settings = json.loads(told.out)["settings"]
    assert (settings["initial"], settings["rows"]) == (391, 593)


@pytest.mark.parametrize("ridge", first_quick("10", "press"))
def test_tuned_parameters_join_the_run(command, plant, tmp_path, ridge):
    grid = ("--vigilance", "0.5,1", "--ridge", ridge, "--threshold-rules", "true")
    words = (*grid, "--cv", 2, "--jobs", 1, "--out", tmp_path)
    command("tune", plant, "--labels", "fault_a,fault_b", *words, "--json")
    told = command("run", plant, "--labels", "fault_a,fault_b", "--params", tmp_path / "best.json", "--json")
    assert [standing["learner"] for standing in json.loads(told.out)["standings"]] == ["evolabel (tuned)", "evolabel"]
    assert f'"evolabel (tuned)" has the parameters of --params {tmp_path / "best.json"}' in told.err


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"profile": "default", "best_params": {}}'])
def test_a_file_without_parameters_is_refused(command, plant, tmp_path, text):
    (tmp_path / "best.json").write_text(text)
    told = command("run", plant, "--labels", "fault_a,fault_b", "--params", tmp_path / "best.json")
    assert told.code == 2
    assert "holds no parameters" in told.err


def test_seeds_that_change_nothing_are_refused(command, plant):
    told = command("run", plant, "--labels", "fault_a,fault_b", "--seeds", 3)
    assert told.code == 2
    assert "--protocol benchmark" in told.err


def test_a_cold_start_and_late_labels_work_for_all(command):
    words = ("--samples", 120, "--initial", 0, "--delay", "0,20", "--against", "ovr,static,rls,knn,prior")
    told = command("run", "drift", *words, "--json")
    assert told.code == 0
    assert json.loads(told.out)["settings"]["delay"] == [0, 20]


def test_odd_names_reach_machines_as_they_are(command, plant):
    odd = plant.rename(plant.with_name("a:b:[bold]c.csv"))
    told = command("run", odd, "--labels", "fault_a,fault_b", "--learner", "prior", "--json")
    assert json.loads(told.out)["settings"]["stream"] == "a:b:[bold]c"


def test_results_of_earlier_seeds_do_not_stay(command, tmp_path):
    for seeds in (2, 1):
        words = ("--samples", 100, "--seeds", seeds, "--learner", "prior", "--metrics", "pa")
        command("run", "drift", *words, "--out", tmp_path, "--quiet", "--force")
    assert [folder.name for folder in tmp_path.glob("seed-*")] == ["seed-0"]


def test_figures_of_earlier_metrics_go_and_those_of_the_user_stay(command, tmp_path):
    mine = {"motor-current.svg", "my-sliding.svg", "rules-cumulative.svg"}
    for name in mine:
        (tmp_path / name).write_text("mine")
    words = ("run", "drift", "--samples", 100, "--learner", "prior", "--out", tmp_path, "--quiet", "--metrics")
    command(*words, "pa,one_error")
    assert {"pa-sliding.svg", "one_error-cumulative.svg"} < {file.name for file in tmp_path.glob("*.svg")}
    command(*words, "coverage", "--force")
    curves = {"roc.svg", "precision-recall.svg"}  # prior has no probabilities, so no calibration
    assert {file.name for file in tmp_path.glob("*.svg")} == {"coverage-cumulative.svg", *curves, *mine}


def test_a_run_that_was_interrupted_writes_nothing_and_starts_anew(command, tmp_path, monkeypatch):
    words = ("run", "drift", "--samples", 100, "--learner", "prior", "--out", tmp_path, "--quiet")
    with monkeypatch.context() as patch:
        patch.setattr(LiveBars, "step", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert command(*words).code == 130
    assert list(tmp_path.iterdir()) == []
    assert command(*words).code == 0


@pytest.fixture
def changing_plant(tmp_path):
    """A CSV file of 1,400 rows whose second label becomes its opposite at row 1,000."""
    X = np.random.default_rng(0).normal(size=(1400, 2))
    lines = ["heat,flow,fan,pump"]
    lines += [f"{a:.4f},{b:.4f},{int(a > 0)},{int((b > 0) == (i < 1000))}" for i, (a, b) in enumerate(X)]
    file = tmp_path / "changing.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


@pytest.mark.drawn
@pytest.mark.slow
def test_changes_of_the_stream_are_a_table_and_a_part_of_the_report(command, changing_plant, tmp_path):
    out = tmp_path / "results"
    told = command("run", changing_plant, "--labels", "fan,pump", "--out", out, "--quiet")
    lines = [line.strip() for line in told.out.splitlines() if line.startswith(" label pump")]
    assert len(lines) == 1
    assert re.match(r"label pump +1,0[0-4]\d +error 0\.\d+ -> 0\.\d+ +recovered after \d+ rows", lines[0])
    page = (out / "report.html").read_text()
    assert "When the stream changed" in page
    assert "<td>label pump</td>" in page
    assert "label drifted" in page, "marks have a legend"


def test_json_has_the_changes_of_the_stream(command, changing_plant):
    told = command("run", changing_plant, "--labels", "fan,pump", "--against", "prior", "--json")
    ours, prior = json.loads(told.out)["runs"]["0"]
    assert [event["kind"] for event in ours["events"] if event["label"] == "pump"] == ["drift", "recovered"]
    assert 'label "pump" has changed its meaning' in ours["events"][0]["text"]
    assert prior["events"] is None


def test_a_stream_that_does_not_change_has_one_table(command, plant):
    told = command("run", plant, "--labels", "fault_a,fault_b", "--quiet")
    assert "Changes of the stream" not in told.out


def test_many_changes_are_cut_and_seeds_have_a_column():
    drifts = tuple(Event(i, "drift", None, None, label=f"[b]{i}") for i in range(15))
    summary = {"ours": Summary("ours", {}, float("nan"), 1.0, 0.1, 30, {}, events=drifts)}
    run = Results(summary, (), {"metrics": {}, "learners": {"ours": ""}})
    table = shift_table(Repeated({0: run, 1: run}))
    assert table.row_count == 20
    assert "the first 20 of 30" in table.title.plain
    assert str(table.columns[0].header) == "seed"
    assert next(table.columns[1].cells).plain == "label [b]0"
    assert shift_table(Repeated({0: Results({"ours": Summary("ours", {}, 0.0, 1.0, 0.1, 1, {})}, (), {})})) is None


def test_the_last_shifts_are_shown_below_the_bars():
    bars = LiveBars(["ours", "prior"])
    bars.begin("plant")
    bars.show_event("ours", Event(1, "birth", 1, None))
    for row in range(5):
        bars.show_event("ours", Event(row, "drift", None, None, label="pump\n[b]"))
    shown = [line.plain for line in list(bars.get_renderables())[1:]]
    assert len(shown) == 3
    assert shown[-1].startswith('ours, sample 4: label "pump')
    assert "\n" not in shown[-1]
    bars.begin("next")
    assert len(list(bars.get_renderables())) == 1


@pytest.mark.compiled
@pytest.mark.slow
def test_the_report_has_threshold_rules_with_the_names_of_the_file(command, tmp_path):
    rng = np.random.default_rng(0)
    x, machine = rng.normal(size=(2500, 2)), rng.integers(0, 3, 2500)
    leak = (x[:, 0] < -0.5) & (x[:, 1] > 0.4) & (machine != 0)
    rows = [f"{p:.4f},{f:.4f},M-0{m + 1},{int(on)}" for (p, f), m, on in zip(x, machine, leak, strict=True)]
    (tmp_path / "pump.csv").write_text("\n".join(["pressure,flow,machine,leak", *rows]))
    told = command("run", tmp_path / "pump.csv", "--labels", "leak", "--out", tmp_path, "--quiet")
    assert told.code == 0
    page = (tmp_path / "report.html").read_text()
    assert re.search(r"IF .*pressure is below -0\.\d+ .*machine is not M-01 THEN leak \(", page)
    captions = re.findall("<figcaption>([^<]*)</figcaption>", page)
    assert "The threshold rules of leak: questions, shares and numbers of samples." in captions
    assert "Where the edges of leak stand among recent values of pressure." in captions
    drawn = sorted(file.name for file in tmp_path.glob("thresholds-*.svg"))
    assert drawn == ["thresholds-1.svg", "thresholds-2.svg", "thresholds-3.svg"]
    assert "Thresholds</h2>" in page
    model, data, out = tmp_path / "model.safetensors", tmp_path / "pump.csv", tmp_path / "all"
    assert command("figures", model, "--data", data, "--row", 7, "--out", out).code == 0
    assert {"threshold-tree-leak.svg", "sample-path-leak.svg", "threshold-edges-leak-flow.png"} <= {
        file.name for file in out.iterdir()
    }
    data.write_text("\n".join(["pressure,flow,machine,leak", *rows[:150]]))
    command("run", data, "--labels", "leak", "--out", tmp_path, "--quiet", "--force")
    assert list(tmp_path.glob("thresholds-*.svg")) == []
    assert "Thresholds</h2>" not in (tmp_path / "report.html").read_text()


def test_results_are_written_before_they_are_printed(command, plant, tmp_path, monkeypatch):
    def gone(*_):
        raise BrokenPipeError

    monkeypatch.setattr("evolabel.cli.run.print_table", gone)
    out = tmp_path / "out"
    told = command("run", plant, "--labels", "fault_a,fault_b", "--out", out, "--quiet")
    assert told.code != 0
    assert (out / "model.safetensors").exists()
    assert (out / "report.html").exists()
