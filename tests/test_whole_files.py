"""Files appear together, complete, or not at all."""

import pytest

from evolabel.whole_files import staged, write_atomically


def contents(folder):
    return {path.name: path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_files_move_when_the_block_ends_well(tmp_path):
    target = tmp_path / "target"
    with staged(target, workplace=tmp_path) as stage:
        (stage / "a").write_text("1")
        (stage / "b").write_text("2")
        assert not target.exists()
    assert contents(target) == {"a": "1", "b": "2"}
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("failure", [OSError("no space left on device"), KeyboardInterrupt()])
def test_nothing_changes_when_the_block_fails(tmp_path, failure):
    (tmp_path / "a").write_text("old")

    def write():
        with staged(tmp_path, workplace=tmp_path) as stage:
            (stage / "a").write_text("new")
            (stage / "b").write_text("new")
            raise failure

    with pytest.raises(type(failure)):
        write()
    assert contents(tmp_path) == {"a": "old"}
    assert len(list(tmp_path.iterdir())) == 1


def test_nothing_changes_when_the_disk_refuses_to_flush(tmp_path, monkeypatch):
    def full(_):
        raise OSError("no space left on device")

    (tmp_path / "a").write_text("old")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space"), staged(tmp_path, workplace=tmp_path) as stage:
        (stage / "a").write_text("new")
    assert contents(tmp_path) == {"a": "old"}


def test_old_files_are_replaced_and_others_stay(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / "c").write_text("mine")
    with staged(tmp_path, workplace=tmp_path) as stage:
        (stage / "a").write_text("new")
    assert contents(tmp_path) == {"a": "new", "c": "mine"}


@pytest.mark.parametrize(("number", "kind"), [(28, OSError), (13, PermissionError), (21, IsADirectoryError)])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_the_file_that_cannot_be_written_is_named(tmp_path, monkeypatch, step, number, kind):
    def refuse(*_):
        raise OSError(number, "no way")

    (tmp_path / "a").write_text("old")
    monkeypatch.setattr(f"os.{step}", refuse)
    with pytest.raises(kind, match="no way") as error:
        write_atomically(tmp_path / "a", b"new")
    assert (type(error.value), error.value.errno, error.value.filename) == (kind, number, str(tmp_path / "a"))
    assert contents(tmp_path) == {"a": "old"}
