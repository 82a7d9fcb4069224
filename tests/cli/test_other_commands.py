"""`evolabel convert`, `datasets` and `bench`."""

import json
import subprocess
import sys

import numpy as np
import pytest

import evolabel.cli
from evolabel import __version__
from evolabel._utils.optional import install_command
from evolabel.evaluate import prequential
from evolabel.streams import from_csv, read_dataset
from evolabel.streams.named.catalogue import find_entry


@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_convert_keeps_everything(command, plant, tmp_path, ending):
    target = tmp_path / f"plant.{ending}"
    told = command("convert", plant, target, "--labels", "fault_a,fault_b")
    assert (told.code, told.out) == (0, "")
    assert "300 rows, 2 features, 2 labels" in told.err
    before, after = from_csv(plant, ["fault_a", "fault_b"]), read_dataset(target)
    np.testing.assert_array_equal(after.X, before.X)
    np.testing.assert_array_equal(after.Y, before.Y)
    assert (after.feature_names, after.label_names) == (before.feature_names, before.label_names)


def test_convert_refuses_unknown_kinds(command, plant, tmp_path):
    told = command("convert", plant, tmp_path / "plant.doc", "--labels", "fault_a")
    assert told.code == 2
    assert ".npz or .parquet" in told.err


def test_convert_tells_where_it_cannot_write(command, plant):
    inside_a_file = plant / "plant.npz"
    told = command("convert", plant, inside_a_file, "--labels", "fault_a,fault_b")
    assert told.code == 2
    assert told.err.splitlines()[-1].startswith(f"evolabel: cannot write {inside_a_file} (")
    assert told.err.endswith("); choose another file\n")


def test_the_data_sets_are_listed(command):
    told = command("datasets")
    assert told.code == 0
    for name in ("emotions", "yeast", "mediamill", "scene"):
        assert name in told.out


def test_the_data_sets_are_listed_though_a_file_is_damaged(command, tmp_path, monkeypatch):
    monkeypatch.delenv("EVOLABEL_DATA", raising=False)
    monkeypatch.setenv("EVOLABEL_CACHE", str(tmp_path))
    (tmp_path / "emotions").mkdir()
    for file in find_entry("emotions").files:
        (tmp_path / "emotions" / file.name).write_text("damaged")
    told = command("datasets")
    assert told.code == 0
    assert "emotions" in told.out


def test_bench_keeps_no_learner_and_no_counts_of_labels_in_memory(command, tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr("evolabel.cli.bench._write", lambda found, out: written.append(dict(found)))
    words = ("--sets", "yeast", "--learner", "prior", "--against", "rls", "--seeds", 1, "--out", tmp_path / "bench")
    assert command("bench", *words).code == 0
    (run,) = written[0]["yeast"].runs.values()
    assert run.learners == {}
    assert run.label_counts == {}


def test_bench_writes_json_and_markdown(command, tmp_path, monkeypatch):
    pytest.importorskip("river")
    monkeypatch.setattr("evolabel.cli.bench._METRICS", ("pa", "ap"))
    out = tmp_path / "bench"
    words = ("--sets", "yeast", "--learner", "prior", "--against", "rls", "--seeds", 2, "--out", out, "--json")
    told = command("bench", *words)
    assert told.code == 0
    document = json.loads(told.out)
    assert document == json.loads((out / "comparison.json").read_text())
    assert all("labels" not in run for found in document.values() for runs in found["runs"].values() for run in runs)
    prior, rls = document["yeast"]["standings"]
    assert rls["metrics"]["pa"]["mean"] > prior["metrics"]["pa"]["mean"]
    table = (out / "comparison.md").read_text()
    assert "| learner | PA | AP | rules | ms |" in table
    assert f".{round(rls['metrics']['pa']['mean'] * 1e4)}" in table


def test_an_interrupted_bench_goes_on_with_the_rounds_that_are_missing(command, plant, tmp_path, monkeypatch):
    command("convert", plant, tmp_path / "plant.npz", "--labels", "fault_a,fault_b")
    out = tmp_path / "bench"
    words = ("--sets", tmp_path / "plant.npz", "--against", "rls", "--out", out, "--json", "--learner")
    whole = json.loads(command("bench", *words, "prior", "--seeds", 3).out)["plant"]
    rounds = []

    def count(*arguments, **options):
        rounds.append(options["seed"])
        if rounds == [0, 1, 2]:
            raise KeyboardInterrupt
        return prequential(*arguments, **options)

    monkeypatch.setattr("evolabel.cli.bench.prequential", count)
    assert command("bench", *words, "prior", "--seeds", 3, "--force").code == 130
    resumed = json.loads(command("bench", *words, "prior", "--seeds", 3).out)["plant"]
    assert rounds == [0, 1, 2, 2], "only the interrupted round is done again"
    for standings in zip(whole["standings"], resumed["standings"], strict=True):
        assert standings[0]["metrics"] == standings[1]["metrics"]
    assert sorted(path.name for path in out.iterdir()) == ["comparison.json", "comparison.md"]


@pytest.mark.parametrize("others", [("rls", ""), ("rls", "prior")])
def test_rounds_of_other_learners_are_not_taken_over(command, plant, tmp_path, monkeypatch, others):
    command("convert", plant, tmp_path / "plant.npz", "--labels", "fault_a,fault_b")
    words = ("--sets", tmp_path / "plant.npz", "--seeds", 2, "--out", tmp_path, "--json", "--learner")

    def stop(*arguments, **options):
        if options["seed"] == 1:
            raise KeyboardInterrupt
        return prequential(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr("evolabel.cli.bench.prequential", stop)
        assert command("bench", *words, "prior", "--against", "rls").code == 130
    document = json.loads(command("bench", *words, others[0], "--against", others[1]).out)["plant"]
    expected = [name for name in others if name]
    assert [[one["learner"] for one in run] for run in document["runs"].values()] == [expected] * 2


def test_a_damaged_round_is_done_again_and_files_of_others_stay(command, plant, tmp_path):
    command("convert", plant, tmp_path / "plant.npz", "--labels", "fault_a,fault_b")
    unfinished = tmp_path / "bench" / "unfinished"
    unfinished.mkdir(parents=True)
    (unfinished / "0-0.json").write_text('{"sett')
    (unfinished / "notes.json").write_text("mine")
    words = ("--sets", tmp_path / "plant.npz", "--out", unfinished.parent, "--learner", "prior", "--against", "")
    assert command("bench", *words, "--seeds", 2).code == 0
    assert [path.name for path in unfinished.iterdir()] == ["notes.json"]


def test_without_its_packages_the_command_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "cyclopts", None)
    monkeypatch.setattr(sys, "argv", ["evolabel", "run"])
    with pytest.raises(SystemExit) as stop:
        evolabel.cli.main()
    assert stop.value.code == 3
    assert f"run: {install_command('cli')}" in capsys.readouterr().err


def test_all_that_a_report_needs_is_in_one_extra(command, plant, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    refused = command("run", plant, "--labels", "fault_a,fault_b", "--out", tmp_path / "results")
    assert refused.code == 3
    assert f"run: {install_command('report')}" in refused.err


def test_the_module_is_the_command():
    told = subprocess.run([sys.executable, "-m", "evolabel", "--version"], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == __version__
