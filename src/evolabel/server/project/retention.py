"""Old payloads go to files: those of samples that are older than a number of days and behind a snapshot."""

import logging
from pathlib import Path

from evolabel.errors import EvolabelError
from evolabel.server.log.archive import (
    MOST_RECORDS,
    REDACTED,
    archived_ranges,
    clear_payloads,
    last_archivable,
    write_archive,
)
from evolabel.server.log.writer import LogWriter
from evolabel.server.project.batch import Origin
from evolabel.server.project.worker import Worker

_CLEARED = 5000  # records at once, so that requests wait for a moment only

logger = logging.getLogger("evolabel.server")


def archive_old(worker: Worker, writer: LogWriter, folder: Path, before: int) -> int:
    """Move the payloads of samples of `worker` from the time `before` to files in `folder`; return how many files.

    Each file is on the disk and named by a record `redacted` before `writer` removes its payloads from the log; what a
    crash has left is removed by the next call.
    """
    project = worker.project
    with worker.reading() as connection:
        ranges = archived_ranges(connection, project.id)
        last = last_archivable(connection, project.id, before)
    first, n_before = max((end for _, end in ranges), default=0) + 1, len(ranges)
    while first <= last:
        end = min(first + MOST_RECORDS - 1, last)
        with worker.reading() as connection:
            file = write_archive(connection, (project.id, project.slug), first, end, folder)
        payload = {"first_seq": first, "last_seq": end, "archive": file.name, "hash": file.hash, "reason": "retention"}
        worker.call(lambda batch, payload=payload: batch.record(REDACTED, payload, Origin()))  # type: ignore[misc]
        ranges.append((first, end))
        first = end + 1
    for begin, end in ranges:
        for part in range(begin, end + 1, _CLEARED):
            with writer.transaction() as connection:
                clear_payloads(connection, project.id, part, min(part + _CLEARED - 1, end))
    return len(ranges) - n_before


def archive_all(workers: list[Worker], writer: LogWriter, folder: Path, before: int) -> None:
    """Call `archive_old` for each of `workers`, with `writer`, `folder` and `before`; what fails is logged."""
    for worker in workers:
        try:
            if n := archive_old(worker, writer, folder, before):
                logger.info("old payloads went to %d files in %s", n, folder, extra={"project": worker.project.slug})
        except (EvolabelError, OSError) as error:
            logger.error("old payloads stay in the log: %s", error, extra={"project": worker.project.slug})
