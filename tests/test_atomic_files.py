"""Files appear together, complete, or not at all."""

import errno
import os
import stat
import threading

import pytest

from evolabel._utils.files import staged, write_atomically


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


def put(way, target, text):
    """Write a file by `write_atomically`, or by `staged`."""
    if way == "staged":
        with staged(target.parent, workplace=target.parent) as stage:
            (stage / target.name).write_text(text)
    else:
        write_atomically(target, text.encode())


each_way = pytest.mark.parametrize("way", ["atomic", "staged"])


@pytest.mark.posix
@each_way
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o666])
def test_a_file_that_is_replaced_passes_on_its_mode(tmp_path, way, mode):
    target = tmp_path / "a"
    target.write_text("old")
    target.chmod(mode)
    put(way, target, "new")
    assert (target.read_text(), stat.S_IMODE(target.stat().st_mode)) == ("new", mode)


@pytest.mark.posix
@each_way
def test_a_file_that_is_replaced_passes_on_its_owner_where_permitted(tmp_path, monkeypatch, way):
    given, target = [], tmp_path / "a"
    target.write_text("old")
    foreign = os.stat_result((0o100640, 1, 1, 1, 1234, 5678, 3, 0, 0, 0))
    real_stat = type(target).stat

    def stat_of(path, **options):
        return foreign if path == target else real_stat(path, **options)

    def chown(path, *owner):
        given.append(owner)
        raise PermissionError(errno.EPERM, "not yours")

    monkeypatch.setattr(type(target), "stat", stat_of)
    monkeypatch.setattr(os, "chown", chown)
    put(way, target, "new")
    monkeypatch.undo()
    assert given == [(1234, 5678)]
    assert (target.read_text(), stat.S_IMODE(target.stat().st_mode)) == ("new", 0o640)


@pytest.mark.posix
def test_a_secret_file_is_never_readable_by_others_while_it_is_written(tmp_path, monkeypatch):
    target, modes, fsync = tmp_path / "a", [], os.fsync
    target.write_text("old")
    target.chmod(0o600)

    def spy(handle):
        modes.append(stat.S_IMODE(os.fstat(handle).st_mode))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", spy)
    write_atomically(target, b"new")
    assert modes[0] == 0o600


@pytest.mark.posix
@each_way
@pytest.mark.parametrize("there", [True, False], ids=["file", "dangling"])
def test_links_are_followed(tmp_path, way, there):
    (tmp_path / "far").mkdir()
    (tmp_path / "near").mkdir()
    far, middle, link = tmp_path / "far" / "a", tmp_path / "middle", tmp_path / "near" / "link"
    if there:
        far.write_text("old")
    middle.symlink_to("far/a")
    link.symlink_to("../middle")
    put(way, link, "new")
    assert link.is_symlink()
    assert middle.is_symlink()
    assert not far.is_symlink()
    assert far.read_text() == "new"
    assert [len(list((tmp_path / name).iterdir())) for name in ("far", "near")] == [1, 1]


@pytest.mark.posix
@each_way
def test_links_in_a_circle_are_refused(tmp_path, way):
    one, other = tmp_path / "one", tmp_path / "other"
    one.symlink_to(other)
    other.symlink_to(one)
    with pytest.raises(OSError, match="symbolic links") as error:
        put(way, one, "new")
    assert error.value.errno == errno.ELOOP
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "other"]


@pytest.mark.posix
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_atomically(pipe, b"new")
    reader.join(10)
    assert read == [b"new"]
    assert pipe.is_fifo()
