"""Downloads are complete and checked, or leave no trace."""

import logging
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO

import pytest
from pond import CONTENTS, digest, pond, publish

from evolabel.errors import DatasetNotFoundError, FileFormatError
from evolabel.streams.named.download import cache_folder, download, find_checked_folder, open_address, progress_bar

pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def address(tmp_path):
    return publish(tmp_path / "published")


@pytest.fixture
def server(tmp_path):
    """The published files over HTTP, on this machine."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    publish(tmp_path / "published")
    serving = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path / "published"))
    thread = threading.Thread(target=serving.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{serving.server_port}"
    serving.shutdown()
    thread.join()
    serving.server_close()


class Answer(BytesIO):
    """What an address answers; it may announce more bytes than it has, or fail on the way."""

    def __init__(self, text, announced=None, failure=None):
        super().__init__(text.encode())
        self.headers = {} if announced is None else {"Content-Length": str(announced)}
        self.failure = failure

    def read(self, size=-1):
        if self.failure and self.tell():
            raise self.failure
        return super().read(5 if self.failure else size)


def accept(folder):
    pass


def published(address):
    name = address.rpartition("/")[2]
    return Answer(CONTENTS[name], len(CONTENTS[name]))


def fails_at(name, answer):
    return lambda address: answer if address.endswith(name) else published(address)


def listing(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*")) if folder.exists() else []


def assert_refused(entry, opener, reason, cache, check=accept):
    before = listing(cache)
    with pytest.raises(DatasetNotFoundError, match=reason) as reported:
        download(entry, check, opener)
    assert listing(cache) == before
    return str(reported.value)


def test_files_come_over_http(server, cache):
    folder = download(pond(server), accept)
    assert folder == cache / "pond"
    assert {path.name: path.read_text() for path in folder.iterdir() if path.suffix != ".sha256"} == CONTENTS
    assert find_checked_folder(pond(server)) == folder


def test_files_come_from_a_folder(address):
    assert (download(pond(address), accept) / "pond.xml").read_text() == CONTENTS["pond.xml"]


def test_digests_are_noted_in_the_form_of_sha256sum(address):
    folder = download(pond(address, known=False), accept)
    for name in CONTENTS:
        assert (folder / f"{name}.sha256").read_text() == f"{digest(name)}  {name}\n"


def test_a_later_change_is_detected_even_where_the_catalogue_knows_no_digest(address):
    entry = pond(address, known=False)
    file = download(entry, accept) / "pond-test.arff"
    file.write_text(file.read_text().replace("?,s", "9,s"))
    with pytest.raises(FileFormatError, match=r"pond-test\.arff was changed .* delete it"):
        find_checked_folder(entry)


def test_a_deleted_file_is_fetched_again(address):
    entry = pond(address)
    (download(entry, accept) / "pond.xml").unlink()
    assert find_checked_folder(entry) is None
    folder = download(entry, accept)
    assert find_checked_folder(entry) == folder


def test_the_check_sees_all_files_before_they_are_in_the_cache(cache):
    def check(folder):
        assert {path.name for path in folder.iterdir() if path.suffix != ".sha256"} == CONTENTS.keys()
        assert not (cache / "pond").exists()
        raise FileFormatError("only a drawing of a pond")

    assert_refused(pond("x:"), published, r"downloading failed \(only a drawing of a pond\)", cache, check)


def test_a_wrong_digest_is_refused_and_reported(cache):
    opener = fails_at("pond-test.arff", Answer("<html>try again later</html>"))
    reported = assert_refused(pond("x:"), opener, "x:/pond-test.arff gave a file with SHA-256", cache)
    assert digest("pond-test.arff") in reported


def test_a_connection_that_breaks_leaves_nothing_behind(cache):
    answer = Answer(CONTENTS["pond-test.arff"], failure=ConnectionResetError("reset by peer"))
    assert_refused(pond("x:"), fails_at("pond-test.arff", answer), "reset by peer", cache)


def test_an_answer_that_ends_early_leaves_nothing_behind(cache):
    answer = Answer(CONTENTS["pond.xml"], announced=1000)
    assert_refused(pond("x:"), fails_at("pond.xml", answer), r"ended after \d+ of 1000 bytes", cache)


def test_an_interruption_by_the_user_leaves_nothing_behind(cache):
    answer = Answer(CONTENTS["pond.xml"], failure=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        download(pond("x:"), accept, fails_at("pond.xml", answer))
    assert listing(cache) == []


def test_a_full_disk_leaves_the_cache_as_it_was(cache, monkeypatch):
    entry = pond("x:")
    (download(entry, accept, published) / "pond.xml").unlink()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert_refused(entry, published, "No space left on device", cache)


def test_an_address_without_the_file_is_reported(server, cache):
    reported = assert_refused(pond(f"{server}/nowhere"), open_address, "404", cache)
    assert (
        "put pond-train.arff, pond-test.arff, pond.xml into the folder pond of the folder named by EVOLABEL_DATA"
        in reported
    )
    assert str(cache / "pond") in reported


def test_a_set_without_addresses_says_where_to_put_what(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("EVOLABEL_DATA", str(tmp_path / "mine"))
    reported = assert_refused(pond(None, note="drawn by hand"), published, "its files have no address", cache)
    names = "put pond-train.arff, pond-test.arff, pond.xml (drawn by hand)"
    assert f"{names} into {tmp_path / 'mine' / 'pond'}, or into {cache / 'pond'}" in reported


def test_a_folder_that_is_not_there_is_reported(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("EVOLABEL_DATA", str(tmp_path / "mine"))
    absent = f"EVOLABEL_DATA (there is no folder {tmp_path / 'mine'})"
    assert absent in assert_refused(pond(None), published, "neither in", cache)
    (tmp_path / "mine").mkdir()
    assert absent not in assert_refused(pond(None), published, "neither in EVOLABEL_DATA nor in the cache", cache)


def test_downloads_are_logged(address, caplog):
    with caplog.at_level(logging.INFO):
        download(pond(address), accept)
    assert [record.args[0] for record in caplog.records] == [f"{address}/{name}" for name in CONTENTS]


@pytest.mark.parametrize("installed", [True, False])
def test_downloads_print_nothing_without_a_terminal(address, capfd, monkeypatch, installed):
    if not installed:
        monkeypatch.setattr("evolabel.streams.named.download.find_spec", lambda _: None)
    download(pond(address), accept)
    assert "".join(capfd.readouterr()) == ""


def test_the_bar_counts_bytes(monkeypatch):
    steps = []
    monkeypatch.setattr("rich.progress.Progress.advance", lambda self, task, size: steps.append(size))
    with progress_bar("pond.xml", 10) as advance:
        advance(4)
        advance(6)
    assert steps == [4, 6]


@pytest.mark.parametrize(
    ("system", "variable", "folder"),
    [("linux", "XDG_CACHE_HOME", "evolabel"), ("win32", "LOCALAPPDATA", "evolabel")],
)
def test_the_cache_is_among_those_of_the_user(monkeypatch, tmp_path, system, variable, folder):
    monkeypatch.delenv("EVOLABEL_CACHE")
    monkeypatch.setattr("sys.platform", system)
    monkeypatch.setenv(variable, str(tmp_path))
    assert cache_folder() == tmp_path / folder


@pytest.mark.parametrize(
    ("system", "folder"),
    [("linux", ".cache/evolabel"), ("darwin", "Library/Caches/evolabel"), ("win32", "AppData/Local/evolabel")],
)
def test_the_cache_is_in_the_home_of_the_user(monkeypatch, tmp_path, system, folder):
    for variable in ("EVOLABEL_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("sys.platform", system)
    monkeypatch.setattr("pathlib.Path.home", lambda: tmp_path)
    assert cache_folder() == tmp_path / folder
