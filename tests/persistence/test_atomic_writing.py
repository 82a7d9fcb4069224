"""Readers see the old file or the new one, whatever happens in between."""

import os
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from safetensors import SafetensorError

from evolabel import EvolvingFuzzyClassifier
from evolabel._utils.files import staged
from evolabel.errors import EvolabelError, ModelWriteError


@pytest.fixture
def saved(trained, tmp_path):
    """Path of a saved model that has learned on since."""
    path = tmp_path / "model"
    trained.save(path)
    trained.partial_fit(np.ones((5, 4)), np.ones((5, 3)))
    return path


def disk_full(*_):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failing_write_leaves_the_old_file_and_nothing_else(step, trained, saved, monkeypatch):
    before = saved.read_bytes()
    monkeypatch.setattr(os, step, disk_full)
    with pytest.raises(ModelWriteError, match="the old file is unchanged") as error:
        trained.save(saved)
    monkeypatch.undo()
    assert isinstance(error.value, OSError)
    assert isinstance(error.value, EvolabelError)
    assert "\n" not in str(error.value)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failing_first_write_leaves_no_file(step, trained, tmp_path, monkeypatch):
    monkeypatch.setattr(os, step, disk_full)
    with pytest.raises(ModelWriteError):
        trained.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_leaves_the_old_file_and_nothing_else(trained, saved, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    before = saved.read_bytes()
    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        trained.save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_the_new_file_is_complete_and_flushed_before_it_takes_the_place_of_the_old(trained, saved, monkeypatch):
    before, steps = saved.read_bytes(), []
    fsync, replace = os.fsync, os.replace

    def spy_fsync(handle):
        steps.append("fsync")
        fsync(handle)

    def spy_replace(source, target):
        steps.append("replace")
        assert saved.read_bytes() == before
        assert Path(source).parent.parent == saved.parent
        assert EvolvingFuzzyClassifier.load(source).n_samples_seen_ == trained.n_samples_seen_
        replace(source, target)

    monkeypatch.setattr(os, "fsync", spy_fsync)
    monkeypatch.setattr(os, "replace", spy_replace)
    trained.save(saved)
    assert steps[:2] == ["fsync", "replace"]
    assert EvolvingFuzzyClassifier.load(saved).n_samples_seen_ == trained.n_samples_seen_
    assert list(saved.parent.iterdir()) == [saved]


@pytest.mark.posix
def test_a_reader_of_the_old_file_is_not_disturbed(trained, saved):
    before = saved.read_bytes()
    with saved.open("rb") as reader:
        start = reader.read(100)
        trained.save(saved)
        assert start + reader.read() == before
    assert saved.read_bytes() != before


@pytest.mark.posix
def test_a_folder_that_is_missing_or_in_the_way_is_reported(trained, tmp_path):
    with pytest.raises(ModelWriteError):
        trained.save(tmp_path / "nowhere" / "model")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ModelWriteError):
        trained.save(tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    with pytest.raises(ModelWriteError, match=r"model file \.: Is a directory"):
        trained.save("")


def test_a_saved_file_may_be_read_by_whom_the_umask_allows(trained, tmp_path):
    (tmp_path / "plain").touch()
    trained.save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.posix
def test_saving_over_a_file_keeps_its_mode_and_follows_links(trained, tmp_path):
    (tmp_path / "store").mkdir()
    real, link = tmp_path / "store" / "model", tmp_path / "latest"
    trained.save(real)
    real.chmod(0o600)
    link.symlink_to(real)
    trained.partial_fit(np.ones((5, 4)), np.ones((5, 3))).save(link)
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o600
    assert EvolvingFuzzyClassifier.load(real).n_samples_seen_ == trained.n_samples_seen_


KILLED = """
import os, signal
from pathlib import Path
from evolabel._utils.files import staged, write_atomically

with staged(Path("out"), Path(".")) as stage:
    (stage / "figure").write_bytes(b"half of it")
    os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
    write_atomically(Path("model"), b"half of it")
"""


@pytest.mark.posix
def test_parts_of_killed_writers_are_removed_and_those_of_running_ones_stay(trained, tmp_path):
    process = subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path, check=False)
    assert process.returncode == -signal.SIGKILL
    assert len(list(tmp_path.glob(".*.part"))) == 2
    elsewhere = tmp_path / f".model.1-00000000-{'0' * 16}.part"  # of another computer
    elsewhere.touch()
    mine = tmp_path / "notes.part"
    mine.touch()
    with staged(tmp_path / "other", tmp_path) as running:
        trained.save(tmp_path / "model")
        assert set(tmp_path.iterdir()) == {tmp_path / "model", running, elsewhere, mine}
    assert EvolvingFuzzyClassifier.load(tmp_path / "model").n_samples_seen_ == trained.n_samples_seen_


def test_saving_needs_little_memory_beside_the_model(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 200))
    classifier = EvolvingFuzzyClassifier(max_rules=4, vigilance=0.0, threshold_rules=False)
    model = classifier.fit(X, (X[:, :2] > 0).astype(float))
    model.save(tmp_path / "model")
    tracemalloc.start()
    try:
        model.save(tmp_path / "model")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    size = (tmp_path / "model").stat().st_size
    assert size > 4_000_000
    assert peak < size / 2


def test_an_error_of_the_disk_inside_safetensors_is_an_error_of_the_disk(trained, saved, monkeypatch):
    def full(*_):
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr("safetensors.numpy.save_file", full)
    before = saved.read_bytes()
    with pytest.raises(ModelWriteError, match="No space left on device; the old file is unchanged"):
        trained.save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]
