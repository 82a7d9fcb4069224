"""A checkpoint survives a kill at any moment, and is never mixed with that of another search."""

import json
from pathlib import Path

import numpy as np
import pytest
from choices import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evolabel.errors import CheckpointError
from evolabel.tuning.checkpoint import SearchCheckpoint, fingerprint

SETTINGS = {"grid": {"alpha": (0.0, 0.1)}, "cv": 3, "data": "abc"}
TASKS = {(structure, fold): [0.25 * structure, 0.1 * fold] for structure in range(3) for fold in range(2)}


def written(path, tasks=TASKS):
    checkpoint = SearchCheckpoint(path, SETTINGS)
    for task, scores in tasks.items():
        checkpoint.add(task, scores)
    return path


def test_scores_are_found_again(tmp_path):
    assert SearchCheckpoint(written(tmp_path / "checkpoint"), SETTINGS).scores == TASKS


def test_a_missing_score_is_found_again(tmp_path):
    path = written(tmp_path / "checkpoint", {(0, 0): [0.5, float("nan")]})
    np.testing.assert_array_equal(SearchCheckpoint(path, SETTINGS).scores[0, 0], [0.5, np.nan])


def test_folders_are_made(tmp_path):
    assert written(tmp_path / "some" / "where" / "checkpoint").exists()


def test_without_a_path_scores_stay_in_memory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    checkpoint = SearchCheckpoint(None, SETTINGS)
    checkpoint.add((0, 1), [0.5])
    assert checkpoint.scores == {(0, 1): [0.5]}
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=examples(80), deadline=None)
@given(data=st.data())
def test_a_file_cut_anywhere_loses_what_was_cut_and_nothing_else(tmp_path_factory, data):
    path = written(tmp_path_factory.mktemp("search") / "checkpoint")
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    checkpoint = SearchCheckpoint(path, SETTINGS)
    kept = max(whole[:cut].count(b"\n") - 1, 0)
    assert checkpoint.scores == dict(list(TASKS.items())[:kept])
    for task in list(TASKS)[kept:]:
        checkpoint.add(task, TASKS[task])
    assert path.read_bytes() == whole


@pytest.mark.parametrize("change", [{"grid": {"alpha": (0.0, 0.2)}}, {"cv": 4}, {"data": "abd"}, {"seed": 1}])
def test_a_checkpoint_of_another_search_is_refused_and_kept(tmp_path, change):
    path = written(tmp_path / "checkpoint")
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=rf"belongs to another search \({next(iter(change))} differ\)"):
        SearchCheckpoint(path, SETTINGS | change)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [
        b"no json\n",
        b"no line of ours",
        b'{"search": {"grid": {"beta',
        b'{"task": [0, 0], "scores": [1.0]}\n',
        b"[1, 2]\n",
        b'{"search": 3}\n',
        b"\xff\xfe\x00\n",
        json.dumps({"search": SETTINGS}).encode() + b'\n{"scores": [1.0]}\n',
    ],
    ids=["no JSON", "no line", "cut head of another search", "no head", "a list", "an odd head", "binary", "no task"],
)
def test_a_file_that_holds_no_search_is_refused_and_kept(tmp_path, content):
    path = tmp_path / "checkpoint"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="holds no search"):
        SearchCheckpoint(path, SETTINGS)
    assert path.read_bytes() == content


def test_a_path_that_is_no_file_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match="cannot"):
        SearchCheckpoint(tmp_path, SETTINGS)


@pytest.mark.parametrize("content", [b"", b'{"search": {"gr'], ids=["empty", "cut in the first line"])
def test_a_file_in_which_no_line_is_whole_is_started_again(tmp_path, content):
    (tmp_path / "checkpoint").write_bytes(content)
    assert SearchCheckpoint(written(tmp_path / "checkpoint"), SETTINGS).scores == TASKS


def test_the_first_line_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(CheckpointError, match="No space left"):
        SearchCheckpoint(tmp_path / "checkpoint", SETTINGS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no disk that is always full")
def test_the_error_of_a_full_disk_names_the_file():
    checkpoint = SearchCheckpoint(None, SETTINGS)
    checkpoint.path = Path("/dev/full")
    with pytest.raises(OSError, match=r"No space left on device: '/dev/full'"):
        checkpoint.add((0, 0), [0.5])


def test_the_fingerprint_depends_on_values_and_shapes():
    X, Y = np.arange(6.0).reshape(3, 2), np.ones((3, 1))
    known = fingerprint(X, Y)
    assert known == fingerprint(X.copy(), Y.copy())
    for other in (X + 1e-9, X[::-1].copy(), X.reshape(2, 3)):
        assert fingerprint(other, Y) != known
    assert fingerprint(X, 0.0 * Y) != known
