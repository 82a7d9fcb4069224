"""Readers see the old file or the new one, whatever happens in between."""

import os
from pathlib import Path

import numpy as np
import pytest

from evolabel import EvolvingFuzzyClassifier
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
        assert Path(source).parent == saved.parent
        assert EvolvingFuzzyClassifier.load(source).n_samples_seen_ == trained.n_samples_seen_
        replace(source, target)

    monkeypatch.setattr(os, "fsync", spy_fsync)
    monkeypatch.setattr(os, "replace", spy_replace)
    trained.save(saved)
    assert steps[:2] == ["fsync", "replace"]
    assert EvolvingFuzzyClassifier.load(saved).n_samples_seen_ == trained.n_samples_seen_
    assert list(saved.parent.iterdir()) == [saved]


def test_a_reader_of_the_old_file_is_not_disturbed(trained, saved):
    before = saved.read_bytes()
    with saved.open("rb") as reader:
        start = reader.read(100)
        trained.save(saved)
        assert start + reader.read() == before
    assert saved.read_bytes() != before


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
