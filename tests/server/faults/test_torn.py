"""A database file with a write-ahead log whose end is missing, as a disk that lies about flushes leaves it."""

import random
import shutil

from evolabel.server.log.engines import read_url
from server.faults.requesting import assert_memory_is_the_log, count
from server.pumps import run, samples


def test_a_torn_write_ahead_log_ends_at_a_whole_record(sqlite, start, tmp_path):
    start(sqlite).stop()  # the tables and the project are in the file itself
    service = start(sqlite)
    run(service.workers["pumps"], samples(30))
    written = count(service, "SELECT count(*) FROM log")
    rng, lengths = random.Random(1), set()
    for i in range(5):
        copy = tmp_path / f"torn{i}.db"
        shutil.copy(sqlite.database, copy)
        wal = shutil.copy(f"{sqlite.database}-wal", f"{copy}-wal")
        with open(wal, "rb+") as file:
            size = file.seek(0, 2)
            file.truncate(rng.randrange(size // 4, size))
        torn = start(read_url(f"sqlite:///{copy}"))
        lengths.add(count(torn, "SELECT count(*) FROM log"))
        assert_memory_is_the_log(torn)
        torn.stop()
    assert max(lengths) <= written + 1  # the start itself is a record
    assert len(lengths) > 1
