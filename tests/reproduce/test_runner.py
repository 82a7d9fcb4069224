"""A reproduction goes on where it stopped, and gives the same numbers again."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tiny_world import TINY, tiny_set

from evolabel.errors import FileFormatError
from evolabel.reproduce import EXPERIMENTS, Findings, reproduce, tables
from evolabel.reproduce import runner as runner_module
from evolabel.reproduce import search as search_module

CHOSEN = [EXPERIMENTS["fig4"], EXPERIMENTS["table2"]]


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    """The experiments on a tiny set that goes by the name of emotions: folder, findings, what was told on the way."""
    folder, told = tmp_path_factory.mktemp("once"), []
    findings = reproduce(
        CHOSEN, {"emotions": tiny_set()}, folder, effort=TINY, progress=lambda *step: told.append(step)
    )
    return folder, findings, told


def test_every_method_is_run_in_both_profiles(once):
    _, findings, _ = once
    assert {(task.profile, task.method) for task in findings.outcomes} == {
        (profile, method) for profile in ("paper", "default") for method in ("ours", "ovr", "chain", "static")
    }
    assert all(0.0 <= outcome.pa <= 1.0 and outcome.trend["pa"] for outcome in findings.outcomes.values())
    assert {task.method for task in findings.times} == {"ours", "ovr", "chain", "samples-10"}


def test_progress_counts_every_task_once(once):
    told = once[2]
    total = told[-1][2]
    assert [done for _, done, _ in told] == list(range(1, total + 1))


def test_rows_are_cut_and_split_as_the_effort_says(once):
    size = once[1].size("emotions")
    assert (size.initial, size.streamed) == (TINY.initial, TINY.streamed)


def test_methods_that_differ_only_later_share_their_parameters(once):
    findings = once[1]
    static, ours = (findings.outcome("emotions", "default", method).params for method in ("static", "ours"))
    assert static == ours
    assert set(ours) == set(TINY.grids["default"])


def test_the_processor_time_of_every_piece_is_kept_apart_from_the_results(once):
    folder, findings, told = once
    assert len(findings.work) == len(told)
    assert {step.stage for step in findings.work} == {"tuned", "run", "timed"}
    assert all(seconds >= 0.0 for seconds in findings.work.values())
    assert b"seconds" not in (folder / "results.json").read_bytes()
    heads, rows, _ = tables.work(findings)
    assert [row[:2] for row in rows] == [["tiny", "paper"], ["tiny", "default"], ["all", "both"]]
    assert all(len(row) == len(heads) for row in rows)


@pytest.mark.parametrize("method", ["ours", "chain"])
def test_a_search_sees_no_more_labels_than_the_effort_allows(method, monkeypatch):
    dataset, seen = tiny_set(), []
    real = search_module.GridSearch.fit
    monkeypatch.setattr(
        search_module.GridSearch, "fit", lambda search, X, Y: (seen.append((X, Y)), real(search, X, Y))[1]
    )
    X, Y = dataset.X[:30], dataset.Y[:30]
    search_module.tuned("default", method, X, Y, replace(TINY, searched=24), 0)
    search_module.tuned("default", method, X, Y, TINY, 0)
    drawn = search_module.searched(30, 12, 0)
    assert len(set(drawn)) == 12
    np.testing.assert_array_equal(seen[0][0], X[drawn])
    np.testing.assert_array_equal(seen[0][1], Y[drawn])
    np.testing.assert_array_equal(seen[1][0], X)


def test_the_same_seed_gives_the_same_bytes_elsewhere(once, tmp_path):
    folder, _, _ = once
    reproduce(CHOSEN, {"emotions": tiny_set()}, tmp_path, effort=TINY)
    assert (tmp_path / "results.json").read_bytes() == (folder / "results.json").read_bytes()


def test_what_is_written_is_read_again(once):
    folder, findings, _ = once
    assert Findings.read(folder) == findings


def test_broken_results_are_refused(tmp_path):
    (tmp_path / "results.json").write_text("{}")
    with pytest.raises(FileFormatError, match="run it again"):
        Findings.read(tmp_path)


def test_an_interrupted_run_goes_on_with_what_is_missing(once, tmp_path, monkeypatch):
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
        reproduce(CHOSEN, {"emotions": tiny_set()}, tmp_path, effort=TINY)
    before, stopped_after = list(done), 10**9
    reproduce(CHOSEN, {"emotions": tiny_set()}, tmp_path, effort=TINY)
    assert len(before) == 3
    assert len(done) == len(set(done)), "no task is run twice"
    assert (tmp_path / "results.json").read_bytes() == (once[0] / "results.json").read_bytes()


def test_a_part_made_under_other_settings_is_made_anew(once, monkeypatch, tmp_path):
    folder, _, _ = once
    part = folder / "parts" / "run" / "emotions-default-ours.json"
    content = json.loads(part.read_text())
    assert content["settings"]["seed"] == 0
    asked = []
    real = runner_module.run_task
    monkeypatch.setattr(runner_module, "run_task", lambda task, *rest: (asked.append(task), real(task, *rest))[1])
    altered = json.dumps({**content, "settings": {**content["settings"], "seed": 1}})
    part.write_text(altered)
    reproduce(CHOSEN, {"emotions": tiny_set()}, folder, effort=TINY)
    assert [task.method for task in asked] == ["ours"]
    assert json.loads(part.read_text()) == content
