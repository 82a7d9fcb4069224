"""Notes survive a kill at any moment, and are never mixed with those of another search."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolabel.errors import CheckpointError
from evolabel.tuning.checkpoint import Notes, fingerprint

FACTS = {"grid": {"alpha": (0.0, 0.1)}, "cv": 3, "data": "abc"}
TASKS = {(structure, fold): [0.25 * structure, 0.1 * fold] for structure in range(3) for fold in range(2)}


def written(path, tasks=TASKS):
    notes = Notes(path, FACTS)
    for task, scores in tasks.items():
        notes.add(task, scores)
    return path


def test_what_was_noted_is_found_again(tmp_path):
    assert Notes(written(tmp_path / "notes"), FACTS).scores == TASKS


def test_a_missing_score_is_found_again(tmp_path):
    path = written(tmp_path / "notes", {(0, 0): [0.5, float("nan")]})
    np.testing.assert_array_equal(Notes(path, FACTS).scores[0, 0], [0.5, np.nan])


def test_folders_are_made(tmp_path):
    assert written(tmp_path / "some" / "where" / "notes").exists()


def test_without_a_path_notes_stay_in_memory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notes = Notes(None, FACTS)
    notes.add((0, 1), [0.5])
    assert notes.scores == {(0, 1): [0.5]}
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_a_file_cut_anywhere_loses_what_was_cut_and_nothing_else(tmp_path_factory, data):
    path = written(tmp_path_factory.mktemp("search") / "notes")
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    notes = Notes(path, FACTS)
    kept = max(whole[:cut].count(b"\n") - 1, 0)
    assert notes.scores == dict(list(TASKS.items())[:kept])
    for task in list(TASKS)[kept:]:
        notes.add(task, TASKS[task])
    assert path.read_bytes() == whole


@pytest.mark.parametrize("change", [{"grid": {"alpha": (0.0, 0.2)}}, {"cv": 4}, {"data": "abd"}, {"seed": 1}])
def test_notes_of_another_search_are_refused_and_kept(tmp_path, change):
    path = written(tmp_path / "notes")
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=rf"belongs to another search \({next(iter(change))} differ\)"):
        Notes(path, FACTS | change)
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
        json.dumps({"search": FACTS}).encode() + b'\n{"scores": [1.0]}\n',
    ],
    ids=["no JSON", "no line", "cut head of another search", "no head", "a list", "an odd head", "binary", "no task"],
)
def test_a_file_that_holds_no_search_is_refused_and_kept(tmp_path, content):
    path = tmp_path / "notes"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="holds no search"):
        Notes(path, FACTS)
    assert path.read_bytes() == content


def test_a_place_that_is_no_file_is_told(tmp_path):
    with pytest.raises(CheckpointError, match="cannot"):
        Notes(tmp_path, FACTS)


@pytest.mark.parametrize("content", [b"", b'{"search": {"gr'], ids=["empty", "cut in the first line"])
def test_a_file_in_which_no_line_is_whole_is_begun_anew(tmp_path, content):
    (tmp_path / "notes").write_bytes(content)
    assert Notes(written(tmp_path / "notes"), FACTS).scores == TASKS


def test_the_first_line_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(CheckpointError, match="No space left"):
        Notes(tmp_path / "notes", FACTS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no disk that is always full")
def test_a_full_disk_is_told_with_the_name_of_the_notes():
    notes = Notes(None, FACTS)
    notes.path = Path("/dev/full")
    with pytest.raises(OSError, match=r"No space left on device: '/dev/full'"):
        notes.add((0, 0), [0.5])


def test_the_fingerprint_knows_values_and_shapes():
    X, Y = np.arange(6.0).reshape(3, 2), np.ones((3, 1))
    known = fingerprint(X, Y)
    assert known == fingerprint(X.copy(), Y.copy())
    for other in (X + 1e-9, X[::-1].copy(), X.reshape(2, 3)):
        assert fingerprint(other, Y) != known
    assert fingerprint(X, 0.0 * Y) != known
