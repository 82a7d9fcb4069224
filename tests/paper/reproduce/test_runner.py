"""An interrupted reproduction continues, and the same seed gives the same numbers."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tiny_world import TINY, tiny_set

from evolabel.errors import FileFormatError
from evolabel.paper.reproduce import EXPERIMENTS, ReproductionResults, reproduce, tables, write_page
from evolabel.paper.reproduce import runner as runner_module
from evolabel.paper.reproduce import tasks as tasks_module
from evolabel.paper.reproduce.results import NoResultError, ProfileResults, Task

CHOSEN = [EXPERIMENTS["fig4"], EXPERIMENTS["table2"]]


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    """The experiments on a tiny set under the name emotions: folder, results, and the calls of `progress`."""
    folder, reported = tmp_path_factory.mktemp("once"), []
    results = reproduce(
        CHOSEN, {"emotions": tiny_set()}, folder, run_size=TINY, progress=lambda *step: reported.append(step)
    )
    return folder, results, reported


def test_every_method_is_run_in_both_profiles(once):
    _, results, _ = once
    assert {(task.profile, task.method) for task in results.runs} == {
        (profile, method) for profile in ("paper", "default") for method in ("ours", "ovr", "chain", "static")
    }
    assert all(0.0 <= run.pa <= 1.0 and run.trend["pa"] for run in results.runs.values())
    assert {task.method for task in results.times} == {"ours", "ovr", "chain", "samples-10"}


def test_progress_counts_every_task_once(once):
    reported = once[2]
    total = reported[-1][2]
    assert [done for _, done, _ in reported] == list(range(1, total + 1))


def test_rows_are_cut_and_split_by_the_run_size(once):
    size = once[1].sizes["emotions"]
    assert (size.initial, size.streamed) == (TINY.max_initial, TINY.max_streamed)


def test_methods_that_differ_only_later_share_their_parameters(once):
    results = once[1]
    static, ours = (results.runs[Task("emotions", "default", method)].params for method in ("static", "ours"))
    assert static == ours
    assert set(ours) == set(TINY.grids["default"])


def test_the_processor_time_of_every_task_is_kept_apart_from_the_results(once):
    folder, results, reported = once
    assert len(results.cpu_seconds) == len(reported)
    assert {step.stage for step in results.cpu_seconds} == {"tuned", "run", "timed"}
    assert all(seconds >= 0.0 for seconds in results.cpu_seconds.values())
    assert b"seconds" not in (folder / "results.json").read_bytes()
    heads, rows, _ = tables.cpu_table(results)
    assert [row[:2] for row in rows] == [["tiny", "paper"], ["tiny", "default"], ["all", "both"]]
    assert all(len(row) == len(heads) for row in rows)


@pytest.mark.parametrize("method", ["ours", "chain"])
def test_a_search_uses_no_more_labels_than_the_run_size_allows(method, monkeypatch):
    dataset, seen = tiny_set(), []
    real = tasks_module.PaperGridSearch.fit
    monkeypatch.setattr(
        tasks_module.PaperGridSearch, "fit", lambda search, X, Y: (seen.append((X, Y)), real(search, X, Y))[1]
    )
    X, Y, task = dataset.X[:30], dataset.Y[:30], Task("tiny", "default", method)
    tasks_module.tune_task(task, dataset, replace(TINY, max_search_labels=24), 0)
    tasks_module.tune_task(task, dataset, TINY, 0)
    drawn = tasks_module.search_rows(30, 12, 0)
    assert len(set(drawn)) == 12
    np.testing.assert_array_equal(seen[0][0], X[drawn])
    np.testing.assert_array_equal(seen[0][1], Y[drawn])
    np.testing.assert_array_equal(seen[1][0], X)


def test_the_same_seed_gives_the_same_bytes_elsewhere(once, tmp_path):
    folder, _, _ = once
    reproduce(CHOSEN, {"emotions": tiny_set()}, tmp_path, run_size=TINY)
    assert (tmp_path / "results.json").read_bytes() == (folder / "results.json").read_bytes()


def test_what_is_written_is_read_again(once):
    folder, results, _ = once
    assert ReproductionResults.read(folder) == results


def test_broken_results_are_refused(tmp_path):
    (tmp_path / "results.json").write_text("{}")
    with pytest.raises(FileFormatError, match="run it again"):
        ReproductionResults.read(tmp_path)


def test_an_interrupted_run_continues_with_the_unfinished_tasks(once, tmp_path, monkeypatch):
    stopped_after = 3
    real = runner_module.run_task
    done = []

    def interrupted(task, *arguments):
        if len(done) == stopped_after:
            raise KeyboardInterrupt
        done.append(task)
        return real(task, *arguments)

    monkeypatch.setattr(runner_module, "run_task", interrupted)
    with pytest.raises(KeyboardInterrupt):
        reproduce(CHOSEN, {"emotions": tiny_set()}, tmp_path, run_size=TINY)
    before, stopped_after = list(done), 10**9
    reproduce(CHOSEN, {"emotions": tiny_set()}, tmp_path, run_size=TINY)
    assert len(before) == 3
    assert len(done) == len(set(done)), "no task is run twice"
    assert (tmp_path / "results.json").read_bytes() == (once[0] / "results.json").read_bytes()


def test_a_task_finished_with_other_settings_is_run_again(once, monkeypatch, tmp_path):
    folder, _, _ = once
    file = folder / "cache" / "run" / "emotions-default-ours.json"
    content = json.loads(file.read_text())
    assert content["settings"]["seed"] == 0
    rerun = []
    real = runner_module.run_task
    monkeypatch.setattr(runner_module, "run_task", lambda task, *rest: (rerun.append(task), real(task, *rest))[1])
    altered = json.dumps({**content, "settings": {**content["settings"], "seed": 1}})
    file.write_text(altered)
    reproduce(CHOSEN, {"emotions": tiny_set()}, folder, run_size=TINY)
    assert [task.method for task in rerun] == ["ours"]
    again = json.loads(file.read_text())
    assert (again["settings"], again["value"]) == (content["settings"], content["value"])


def test_scores_that_are_not_defined_are_kept_as_none(tmp_path):
    """Without a positive label in the stream AP is not defined, which JSON cannot hold as NaN."""
    dataset = tiny_set()
    dataset.Y[30:] = 0.0
    results = reproduce([EXPERIMENTS["fig5"]], {"own-file": dataset}, tmp_path, run_size=TINY)
    assert {run.ap for run in results.runs.values()} == {None}
    assert all(run.pa is not None and set(run.trend["ap"]) == {None} for run in results.runs.values())
    assert ReproductionResults.read(tmp_path) == results
    assert {row[5] for row in tables.scores_table(results).rows} == {"not defined"}
    assert write_page(results, [EXPERIMENTS["fig5"]], tmp_path).exists()
    with pytest.raises(NoResultError, match="AP of ours is not defined on own-file"):
        ProfileResults(results, "default").score("own-file", "ours", "ap")
