"""A SQLite database of the version of evolabel on PYTHONPATH: `python make_database.py NAME` (see README.md)."""

import gzip
import sqlite3
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main(name: str) -> None:
    """Write the database of a project with answers and open questions, compressed, once it was stopped and started."""
    from sqlalchemy import make_url

    from evolabel.server.project.service import Service
    from server.pumps import new_project, run, samples, send

    file = HERE / f"{name}.db"
    url = make_url(f"sqlite:///{file}")
    service = Service(url)
    service.start()
    service.create_project(new_project(budget=1.0))
    run(service.workers["pumps"], samples(95))
    service.stop()  # a snapshot
    service = Service(url)
    service.start()
    for sample, _ in samples(6, seed=1):
        send(service.workers["pumps"], {"x": sample["x"]})
    with sqlite3.connect(file) as running:
        running.execute(f"VACUUM INTO '{file}.small'")  # as if the service had been killed
    service.stop()
    file.with_suffix(".gz").write_bytes(gzip.compress(Path(f"{file}.small").read_bytes(), 9, mtime=0))
    for leftover in HERE.glob(f"{name}.db*"):
        leftover.unlink()


if __name__ == "__main__":
    main(sys.argv[1])
