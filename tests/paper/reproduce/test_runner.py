"""An interrupted reproduction continues, and the same seed gives the same numbers."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from tiny_world import TINY, tiny_set

from evolabel.errors import DataWarning, FileFormatError
from evolabel.paper import PaperGridSearch
from evolabel.paper.reproduce import EXPERIMENTS, ReproductionResults, reproduce, tables, write_page
from evolabel.paper.reproduce import runner as runner_module
from evolabel.paper.reproduce import tasks as tasks_module
from evolabel.paper.reproduce.estimate import filled_seconds, sampled
from evolabel.paper.reproduce.results import NoResultError, ProfileResults, Task
from evolabel.paper.reproduce.tasks import best_point, build_learner

CHOSEN = [EXPERIMENTS["fig4"], EXPERIMENTS["rules"], EXPERIMENTS["table2"]]


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    """The experiments on a tiny set under the name emotions: folder, results, and the calls of `progress`."""
    folder, reported = tmp_path_factory.mktemp("once"), []
    results = reproduce(
        CHOSEN, {"emotions": tiny_set()}, folder, run_size=TINY, seeds=2, progress=lambda *step: reported.append(step)
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
    static, ours = (results.runs[Task("emotions", "default", method, 1)].params for method in ("static", "ours"))
    assert static == ours
    assert set(ours) == set(TINY.grids["default"])


def test_the_processor_time_of_every_task_is_kept_apart_from_the_results(once):
    folder, results, reported = once
    assert len(results.cpu_seconds) == len(reported)
    assert {step.stage for step in results.cpu_seconds} == {"searched", "run", "timed"}
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
    X, Y, task = dataset.X[:30], dataset.Y[:30], Task("tiny", "default", method, vigilance=0.5)
    tasks_module.search_task(task, dataset, replace(TINY, max_search_labels=24))
    tasks_module.search_task(task, dataset, TINY)
    drawn = tasks_module.search_rows(30, 12, 0)
    assert len(set(drawn)) == 12
    np.testing.assert_array_equal(seen[0][0], X[drawn])
    np.testing.assert_array_equal(seen[0][1], Y[drawn])
    np.testing.assert_array_equal(seen[1][0], X)


def test_the_parts_of_a_search_find_what_the_whole_search_finds(once):
    rows = TINY.cut(tiny_set(), 1)
    learner = build_learner("paper", "ours", {}, 1)
    search = PaperGridSearch(learner, TINY.grids["paper"], cv=TINY.folds, seed=1, refit=False)
    search.fit(rows.X[:30], rows.Y[:30])
    found = once[1].searches[Task("emotions", "paper", "ours", 1)]
    assert (found.params, found.points) == (search.best_params_, len(search.surface_))
    assert found.score == pytest.approx(search.best_score_, abs=1e-6)


def test_every_vigilance_has_a_run_with_its_best_point(once):
    results = once[1]
    parts = {task: run for task, run in results.runs.items() if task.vigilance is not None}
    assert {(task.seed, task.vigilance) for task in parts} == {(s, v) for s in (0, 1) for v in (0.6, 0.9)}
    for task, run in parts.items():
        assert run.params == results.searches[task].params
        assert run.params["vigilance"] == task.vigilance
    assert all(
        s.score >= results.searches[t].score for t in parts for s in [results.searches[t._replace(vigilance=None)]]
    )


def test_the_edge_of_a_grid_is_named_but_not_a_penalty_of_zero():
    grid = {"vigilance": (0.1, 0.2, 0.3), "alpha": (0.0, 1.0), "beta": (1.0,)}
    points = [
        {"params": {"vigilance": v, "alpha": a, "beta": 1.0}, "score": -abs(v - best) - abs(a - alpha)}
        for best, alpha in [(0.3, 1.0)]
        for v in grid["vigilance"]
        for a in grid["alpha"]
    ]
    assert best_point(points, grid).edges == ["vigilance", "alpha"]
    assert best_point([{**point, "score": -point["score"]} for point in points], grid).edges == ["vigilance"]
    inner = [point for point in points if point["params"]["vigilance"] == 0.2]
    assert best_point([{**point, "score": -point["score"]} for point in inner], grid).edges == []


def test_a_point_that_diverged_is_never_the_best():
    points = [{"params": {"vigilance": v}, "score": score} for v, score in ((0.1, float("nan")), (0.2, 0.5))]
    assert best_point(points, {"vigilance": (0.1, 0.2)}).score == 0.5


def test_a_seed_sets_the_order_on_either_side_of_the_split():
    dataset = tiny_set()
    first, second = (TINY.cut(dataset, seed) for seed in (0, 1))
    np.testing.assert_array_equal(first.X, dataset.X[[*range(30), *range(30, 50)]])
    assert not np.array_equal(first.X, second.X)
    np.testing.assert_array_equal(np.sort(second.X[:30], axis=0), np.sort(dataset.X[:30], axis=0))
    assert {tuple(row) for row in second.X[30:]} <= {tuple(row) for row in dataset.X[30:]}


def test_large_sets_have_one_seed():
    size = replace(TINY, max_rows_of_seeds=59)
    assert [list(size.seeds(tiny_set(), 3)), list(TINY.seeds(tiny_set(), 3))] == [[0], [0, 1, 2]]


def test_the_time_is_announced_before_the_other_tasks_and_falls_to_nothing(once, tmp_path):
    folder, _, _ = once
    order = []
    options = {"run_size": TINY, "progress": lambda *step: order.append("task"), "announce": order.append}
    reproduce(CHOSEN, {"emotions": tiny_set()}, tmp_path, **options)
    assert order.index("task") < next(i for i, step in enumerate(order) if step != "task") < len(order) - 1
    left = []
    reproduce(CHOSEN, {"emotions": tiny_set()}, folder, run_size=TINY, seeds=2, announce=left.append)
    assert left == [0.0]


def test_times_between_sampled_vigilances_are_interpolated():
    pieces = [
        Task("birds", "paper", "ours", seed, v)
        for seed in (0, 1)
        for v in (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
    ]
    chosen = sampled(pieces)
    assert [(task.seed, task.vigilance) for task in chosen] == [(0, 0.9), (0, 0.5), (0, 0.1)]
    seconds = filled_seconds(pieces, dict(zip(chosen, (1.0, 3.0, 11.0), strict=True)))
    assert [seconds[task] for task in pieces] == pytest.approx([1, 1.5, 2, 2.5, 3, 5, 7, 9, 11] * 2)


@pytest.mark.parametrize("vigilances", [(0.4, 0.8), (0.25, 0.5, 1.0), (0.35, 0.45, 0.6, 0.8)])
def test_most_of_a_short_search_comes_after_the_announced_time(vigilances):
    chosen = sampled([Task("birds", "paper", "ours", 0, v) for v in vigilances])
    assert len(chosen) == 1


def test_the_same_seed_gives_the_same_bytes_elsewhere(once, tmp_path):
    folder, _, _ = once
    reproduce(CHOSEN, {"emotions": tiny_set()}, tmp_path, run_size=TINY, seeds=2)
    assert (tmp_path / "results.json").read_bytes() == (folder / "results.json").read_bytes()


def test_advice_on_labels_is_not_printed_by_experiments(monkeypatch, tmp_path):
    def advising(task, *arguments):
        warnings.warn("never predicted: label0", DataWarning, stacklevel=1)
        return {"ours": 1.0, "ovr": 1.0, "chain": 1.0, "samples-10": 1.0}

    monkeypatch.setattr(runner_module, "time_task", advising)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reproduce([EXPERIMENTS["table2"]], {"emotions": tiny_set()}, tmp_path, run_size=TINY)


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
        reproduce(CHOSEN, {"emotions": tiny_set()}, tmp_path, run_size=TINY, seeds=2)
    before, stopped_after = list(done), 10**9
    reproduce(CHOSEN, {"emotions": tiny_set()}, tmp_path, run_size=TINY, seeds=2)
    assert len(before) == 3
    assert len(done) == len(set(done)), "no task is run twice"
    assert (tmp_path / "results.json").read_bytes() == (once[0] / "results.json").read_bytes()


@pytest.mark.parametrize("changed", ["behaviour", "params", "data"])
def test_a_task_finished_with_another_learner_or_other_rows_is_run_again(once, monkeypatch, changed):
    folder, _, _ = once
    file = folder / "cache" / "run" / "emotions-default-ours-seed-0.json"
    content = json.loads(file.read_text())
    rerun = []
    real = runner_module.run_task
    monkeypatch.setattr(runner_module, "run_task", lambda task, *rest: (rerun.append(task), real(task, *rest))[1])
    file.write_text(json.dumps({**content, "settings": {**content["settings"], changed: "another"}}))
    reproduce(CHOSEN, {"emotions": tiny_set()}, folder, run_size=TINY, seeds=2)
    assert [(task.method, task.seed) for task in rerun] == [("ours", 0)]
    again = json.loads(file.read_text())
    assert (again["settings"], again["value"]) == (content["settings"], content["value"])


def test_the_behaviour_of_a_learner_is_that_of_its_formulas():
    plain, coupled, other = (
        tasks_module.behaviour("paper", method, json.dumps(params))
        for method, params in (("ours", {"beta": 0.0}), ("ours", {"beta": 50.0}), ("labels-10", {"beta": 0.0}))
    )
    assert len({plain, coupled, other}) == 3


def test_scores_that_are_not_defined_are_kept_as_none(tmp_path):
    """Without a positive label in the stream AP is not defined, which JSON cannot hold as NaN."""
    dataset = tiny_set()
    dataset.Y[30:] = 0.0
    results = reproduce([EXPERIMENTS["fig5"]], {"own-file": dataset}, tmp_path, run_size=TINY)
    assert {run.ap for run in results.runs.values()} == {None}
    assert all(run.pa is not None and set(run.trend["ap"]) == {None} for run in results.runs.values())
    assert ReproductionResults.read(tmp_path) == results
    assert {row[6] for row in tables.scores_table(results).rows} == {"not defined"}
    assert write_page(results, [EXPERIMENTS["fig5"]], tmp_path).exists()
    with pytest.raises(NoResultError, match="AP of ours is not defined on own-file"):
        ProfileResults(results, "default").score("own-file", "ours", "ap")
