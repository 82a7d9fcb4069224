"""An interrupted search goes on where it was, and ends as if nothing had happened."""

import gc
import warnings

import numpy as np
import pytest
from profiles import PLAIN

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import CheckpointError
from evolabel.paper import PaperClassifier, PaperGridSearch
from evolabel.paper.tuning import search
from evolabel.paper.tuning.shared import shared_answers

GRID = {"vigilance": (0.5, 1.5), "alpha": (0.0, 0.5)}
TASKS = 6  # two structures on three folds


class Killed(Exception):
    """What ends a search in these tests."""


def stop_after(tasks):
    def listen(done, _):
        if done >= tasks:
            raise Killed

    return listen


def agreement(truth, outputs):
    return float(((outputs >= 0.5) == truth).mean())


def grid_search(path=None, grid=GRID, estimator=None, **options):
    options = {"cv": 3, "checkpoint": path} | options
    return PaperGridSearch(estimator or PaperClassifier(**PLAIN), grid, **options)


@pytest.fixture
def batch(stream):
    return stream[0][:60], stream[1][:60]


@pytest.fixture
def finished(monkeypatch):
    """Counts the tasks that are worked on."""
    counted = []

    def count(*arguments):
        counted.append(1)
        return shared_answers(*arguments)

    monkeypatch.setattr(search, "shared_answers", count)
    return counted


def interrupted(path, batch, tasks, **options):
    with pytest.raises(Killed):
        grid_search(path, progress=stop_after(tasks), **options).fit(*batch)
    return path


@pytest.mark.parametrize("tasks", [1, 4, TASKS])
def test_finished_tasks_are_not_repeated(tmp_path, batch, finished, tasks):
    expected = grid_search().fit(*batch)
    path = interrupted(tmp_path / "checkpoint", batch, tasks)
    finished.clear()
    found = grid_search(path).fit(*batch)
    assert len(finished) == TASKS - tasks
    assert found.surface_ == expected.surface_
    assert found.best_params_ == expected.best_params_


def test_a_search_killed_again_and_again_comes_to_its_end(tmp_path, batch, finished):
    path = tmp_path / "checkpoint"
    for tasks in range(1, TASKS + 1):
        interrupted(path, batch, tasks)
    assert len(finished) == TASKS
    assert grid_search(path).fit(*batch).surface_ == grid_search().fit(*batch).surface_


def test_tasks_that_are_given_up_are_not_complained_about(tmp_path, batch):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        interrupted(tmp_path / "checkpoint", batch, 1, n_jobs=2, backend="threading")
        gc.collect()
    assert [str(warning.message) for warning in told] == []


@pytest.mark.parametrize("missing", [1, 20])
def test_a_last_line_that_was_cut_is_done_again(tmp_path, batch, finished, missing):
    path = interrupted(tmp_path / "checkpoint", batch, 3)
    whole = path.read_bytes()
    path.write_bytes(whole[:-missing])
    finished.clear()
    found = grid_search(path).fit(*batch)
    assert len(finished) == TASKS - 2
    assert found.surface_ == grid_search().fit(*batch).surface_
    assert path.read_bytes().startswith(whole)


def test_a_search_that_is_over_is_only_read(tmp_path, batch, finished):
    expected = grid_search(tmp_path / "checkpoint").fit(*batch)
    finished.clear()
    assert grid_search(tmp_path / "checkpoint").fit(*batch).surface_ == expected.surface_
    assert finished == []


def test_progress_goes_on_counting(tmp_path, batch):
    path, told = interrupted(tmp_path / "checkpoint", batch, 4), []
    grid_search(path, progress=lambda *news: told.append(news)).fit(*batch)
    assert told == [(5, TASKS), (6, TASKS)]


def test_points_without_a_score_are_noted_too(tmp_path, batch, finished):
    options = {"estimator": EvolvingFuzzyClassifier.paper(coupling="paper"), "grid": {"beta": [1000.0, 0.0]}}
    path = interrupted(tmp_path / "checkpoint", batch, 2, **options)
    finished.clear()
    found = grid_search(path, **options).fit(*batch)
    assert len(finished) == 1
    assert repr(found.surface_) == repr(grid_search(**options).fit(*batch).surface_)


@pytest.mark.parametrize("backend", [None, "sequential", "threading"])
def test_the_checkpoint_is_written_after_every_task(tmp_path, batch, finished, monkeypatch, backend):
    """Killed in the middle of a task, not between two."""
    path, count = tmp_path / "checkpoint", search.shared_answers

    def killed_at_the_fourth(*arguments):
        if len(finished) == 3:
            raise Killed
        return count(*arguments)

    monkeypatch.setattr(search, "shared_answers", killed_at_the_fourth)
    with pytest.raises(Killed):
        grid_search(path, backend=backend).fit(*batch)
    monkeypatch.setattr(search, "shared_answers", count)
    finished.clear()
    found = grid_search(path, backend=backend).fit(*batch)
    assert len(finished) == TASKS - 3
    assert found.surface_ == grid_search().fit(*batch).surface_


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"cv": 2}, "cv"),
        ({"seed": 1}, "seed"),
        ({"score": "ap"}, "score"),
        ({"grid": {"vigilance": (0.5, 1.5), "alpha": (0.0, 0.6)}}, "grid"),
        ({"estimator": PaperClassifier(**{**PLAIN, "max_rules": 3})}, "estimator"),
        ({"seed": 1, "cv": 2}, "cv, seed"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_checkpoint_of_another_search_is_refused_and_kept(tmp_path, batch, change, told):
    path = interrupted(tmp_path / "checkpoint", batch, 2)
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=rf"belongs to another search \({told} differ\)"):
        grid_search(path, **change).fit(*batch)
    assert path.read_bytes() == before


def test_a_checkpoint_of_other_data_is_refused(tmp_path, batch):
    path = interrupted(tmp_path / "checkpoint", batch, 2)
    X, Y = batch
    for other in ((X + 1e-9, Y), (X, 1.0 - Y), (X[::-1], Y[::-1]), (X[:-1], Y[:-1])):
        with pytest.raises(CheckpointError, match=r"\(data differ\)"):
            grid_search(path).fit(*other)


def test_how_a_search_is_run_makes_no_difference_to_its_checkpoint(tmp_path, batch, finished):
    path = interrupted(tmp_path / "checkpoint", batch, 4)
    finished.clear()
    grid_search(path, n_jobs=1, backend="sequential", progress=lambda *_: None).fit(*batch)
    assert len(finished) == 2


def test_a_score_of_ones_own_is_known_again(tmp_path, batch, finished):
    path = interrupted(tmp_path / "checkpoint", batch, 4, score=agreement)
    finished.clear()
    grid_search(path, score=agreement).fit(*batch)
    assert len(finished) == 2
    with pytest.raises(CheckpointError, match=r"\(score differ\)"):
        grid_search(path, score="pa").fit(*batch)


def test_a_score_of_ones_own_is_noted_without_its_address(tmp_path, batch):
    """The next process has it elsewhere."""
    path = interrupted(tmp_path / "checkpoint", batch, 1, score=agreement)
    head = path.read_text().splitlines()[0]
    assert "agreement" in head
    assert " at 0x" not in head


def test_numbers_of_numpy_can_be_noted(tmp_path, batch, finished):
    path = interrupted(tmp_path / "checkpoint", batch, 1, grid={"max_rules": list(np.arange(2, 4))})
    finished.clear()
    assert grid_search(path, grid={"max_rules": [2, 3]}).fit(*batch).best_params_["max_rules"] in (2, 3)
    assert len(finished) == 5
