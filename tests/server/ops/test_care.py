"""Backup, verification, snapshots that are kept, and migration, on stored databases."""

import gc
import shutil
import sqlite3
from datetime import UTC, datetime

import pytest
from choices import pairs
from sqlalchemy import text

from evolabel.cli.app import run_command
from evolabel.errors import ParameterError
from evolabel.server.log import migrate, records
from evolabel.server.log.engines import read_url, writing_engine
from evolabel.server.log.projects import find_project
from evolabel.server.log.records import LogError, Record
from evolabel.server.log.snapshots import kept_snapshots, snapshot_checksums
from evolabel.server.log.times import DAY
from evolabel.server.log.writer import read_database
from evolabel.server.ops import maintenance, verify
from evolabel.server.ops.maintenance import back_up, dump_line
from evolabel.server.ops.verify import TableCheck, verify_database, verify_project
from evolabel.server.project.replay import restore
from evolabel.server.project.service import Service
from server.conftest import BACKENDS, on_sqlite
from server.pumps import checksum, new_project, run, samples

DAMAGES = ["data = substr(data, 1, 100)", "state = replace(state, '1', '2')", "state = '{'"]


def change(url, statement):
    engine = writing_engine(url)
    with engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()


def verified(url, **options):
    with read_database(url) as connection:
        return verify_project(connection, find_project(connection, "pumps"), **options).replay


def fill(url):
    """Checksum of a project with several snapshots, whose service was stopped."""
    service = Service(url)
    service.start()
    service.create_project(new_project(snapshot_every=20))
    worker = service.workers["pumps"]
    run(worker, samples(60))
    last = checksum(worker)
    service.stop()
    return last


@pytest.fixture(scope="module")
def filled_file(tmp_path_factory):
    """Path of a database with several snapshots, and its last checksum."""
    path = tmp_path_factory.mktemp("filled") / "evolabel.db"
    return path, fill(read_url(f"sqlite:///{path}"))


@pytest.fixture
def stored(database, request):
    """A database with several snapshots, and its last checksum."""
    if database.get_backend_name() == "postgresql":
        return database, fill(database)
    path, last = request.getfixturevalue("filled_file")
    shutil.copy(path, database.database)
    return database, last


@on_sqlite
def test_verify_replays_from_an_older_snapshot_and_from_the_start(stored):
    url, last = stored
    tail, whole = verified(url), verified(url, from_start=True)
    assert tail.checksum == whole.checksum == last
    assert 0 < tail.start < whole.records
    assert (tail.compared, whole.compared) >= (1, 2)
    change(url, f"UPDATE snapshot SET seal = 'x' WHERE seq = {whole.records}")
    differs = verified(url)
    assert (differs.different, differs.furthest) == (1, 0.0)
    assert differs.first.startswith(f"the snapshot at record {whole.records}: ")


@pytest.mark.parametrize(("database", "damage"), pairs(BACKENDS, DAMAGES), indirect=["database"])
def test_a_damaged_snapshot_is_skipped(stored, start, damage):
    url, last = stored
    with read_database(url) as connection:
        order = list(snapshot_checksums(connection, 1))
    change(url, f"UPDATE snapshot SET {damage} WHERE seq = {order[-1]}")
    with read_database(url) as connection:
        found = restore(connection, 1, 9)
    assert found.snapshot_seq == order[-2]
    assert found.state.checksum() == last
    assert checksum(start(url).workers["pumps"]) == last


@on_sqlite
def test_a_snapshot_of_another_log_is_not_used(stored):
    url, last = stored
    change(url, "UPDATE snapshot SET chain = '1'" + ("::bytea" if url.get_backend_name() == "postgresql" else ""))
    with read_database(url) as connection:
        found = restore(connection, 1, 9)
    assert (found.snapshot_seq, found.state.checksum()) == (0, last)


def test_verify_holds_one_piece_of_the_log_however_long_it_is(stored, monkeypatch):
    """Records, and sums of minutes, that are in memory while pieces of 10 records are compared."""
    url, _ = stored
    for module in (records, verify):
        monkeypatch.setattr(module, "PAGE", 10)
    compare, most = TableCheck.read, []

    def counting(check, records):
        compare(check, records)
        most.append(sum(type(one) is Record for one in gc.get_objects()) - outside)

    monkeypatch.setattr(TableCheck, "read", counting)
    outside = sum(type(one) is Record for one in gc.get_objects())
    verified(url, replay=False)
    assert len(most) > 10
    assert max(most) <= 2 * 10 + 2  # one piece, the page it was read from, and the record at hand


@pytest.mark.parametrize("harm", [
    "DELETE FROM sample WHERE number = 7", "UPDATE sample SET source = 'x' WHERE number = 60",
    "INSERT INTO sample SELECT project_id, number + 1000, seq + 1000, 'x', at, source, asked, held FROM sample LIMIT 1",
    "UPDATE question SET cause = 'expired' WHERE cause = 'answered'", "UPDATE question SET cost = cost + 1",
    "UPDATE question SET closed_seq = NULL, cause = NULL", "UPDATE response SET took_ms = 7",
    "DELETE FROM response", "UPDATE per_minute SET samples = samples + 1", "DELETE FROM per_hour_label",
    "UPDATE activity SET kind = 'x'",
])  # fmt: skip
@pytest.mark.parametrize("page", [10, 2000])
def test_a_table_that_differs_from_the_log_is_found(filled_file, tmp_path, monkeypatch, harm, page):
    for module in (records, verify):
        monkeypatch.setattr(module, "PAGE", page)
    shutil.copy(filled_file[0], tmp_path / "harmed.db")
    url = read_url(f"sqlite:///{tmp_path}/harmed.db")
    verified(url, replay=False)
    change(url, harm)
    with pytest.raises(LogError, match=r"the table [a-z_]+ differs from the log"):
        verified(url, replay=False)


def test_verify_reads_the_other_projects_where_one_is_not_whole(sqlite, start, capsys):
    service = start(sqlite)
    for slug in ("aa", "zz"):
        service.create_project(new_project()._replace(slug=slug))
    for worker in service.workers.values():
        run(worker, samples(5))
    service.stop()
    change(sqlite, "DELETE FROM sample WHERE project_id < 3 AND number = 3")
    assert run_command(["serve", "verify", "--database", str(sqlite)]) != 0
    printed = capsys.readouterr()
    assert printed.out.startswith("zz: ")
    for slug in ("pumps", "aa"):
        assert f"{slug}: the table sample differs from the log" in printed.err


def test_snapshots_that_are_kept():
    now = int(datetime(2026, 3, 20, 12, tzinfo=UTC).timestamp() * 1e6)
    hours = {seq: now - (4800 - seq) * DAY // 24 for seq in range(1, 4801)}  # one an hour, 200 days
    kept = sorted(kept_snapshots(hours, now))
    assert kept[0] == 1
    assert kept[-3:] == [4798, 4799, 4800]
    days = {datetime.fromtimestamp(hours[seq] / 1e6, UTC).date() for seq in kept}
    assert len(days) == 1 + 5 + 30  # the first, five ends of months, 30 days with the end of February
    assert len(kept) == 1 + 5 + 30 + 2
    assert kept_snapshots(hours, now, [2001, 9000]) - set(kept) == {2001}
    assert kept_snapshots({}, now, [3]) == set()


def test_a_backup_of_a_running_service_is_whole(sqlite, start, tmp_path):
    service = start(sqlite)
    worker = service.workers["pumps"]
    run(worker, samples(30))
    to = tmp_path / "copy.db"
    found = back_up(sqlite, to)
    run(worker, [({**sample, "id": f"t{sample['id']}"}, y) for sample, y in samples(10, seed=1)])
    assert found["pumps"].samples == 30
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("copy")) == ["copy.db"]
    restored = start(read_url(f"sqlite:///{to}"))
    assert restored.workers["pumps"].state.seen == 30
    with pytest.raises(ParameterError, match="exists already"):
        back_up(sqlite, to)


def test_a_copy_that_is_not_whole_is_removed(sqlite, start, tmp_path):
    service = start(sqlite)
    run(service.workers["pumps"], samples(10))
    service.stop()
    with sqlite3.connect(sqlite.database) as connection:
        connection.execute("DELETE FROM sample WHERE number = 3")
    with pytest.raises(LogError, match="sample differs"):
        back_up(sqlite, tmp_path / "copy.db")
    assert not list(tmp_path.glob("copy*"))


def test_the_line_of_pg_dump_hides_the_password(tmp_path):
    pytest.importorskip("psycopg")
    url = read_url("postgresql://eva:secret@db.example/plant")
    line = f"pg_dump --format=custom --file={tmp_path}/x postgresql://eva@db.example/plant"
    assert dump_line(url, tmp_path / "x") == line
    with pytest.raises(ParameterError, match="pg_dump"):
        back_up(url, tmp_path / "x")


def test_migrate_makes_a_backup_first(stored, monkeypatch):
    url, last = stored
    assert "already" in maintenance.migrate_database(url)
    for module in (migrate, maintenance):
        monkeypatch.setattr(module, "SCHEMA_VERSION", "0002")
    if url.get_backend_name() == "postgresql":
        with pytest.raises(ParameterError, match="make a backup first: pg_dump"):
            maintenance.migrate_database(url)
        assert "before 0001" in maintenance.migrate_database(url, backed_up=True)
    else:
        done = maintenance.migrate_database(url)
        copied = read_url(f"sqlite:///{done.partition('the backup is ')[2]}")
        assert verify_database(copied)["pumps"].replay.checksum == last
    change(url, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(ParameterError, match="newer than this program"):
        maintenance.migrate_database(url)


def test_the_commands(sqlite, start, tmp_path, capsys):
    service = start(sqlite, snapshot_every=20)
    run(service.workers["pumps"], samples(30))
    database = ["--database", str(sqlite)]
    assert run_command(["serve", "verify", "--from-start", *database]) == 0
    assert run_command(["serve", "verify", "--without-replay", *database]) == 0
    assert run_command(["serve", "backup", str(tmp_path / "copy.db"), *database]) == 0
    printed = capsys.readouterr()
    assert printed.out.count("pumps: ") == 4
    assert "snapshots compared, 0 differences" in printed.out
    assert run_command(["serve", "migrate", *database]) != 0
    assert "the service writes to this database" in capsys.readouterr().err
