"""Payloads of an archive put back into the log, by the command line, while no service runs."""

from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import URL

from evolabel.errors import ParameterError
from evolabel.server.log.archive import put_back, read_archive
from evolabel.server.log.engines import check_exists
from evolabel.server.log.pen import NotWriterError, Pen
from evolabel.server.people.people import project_id_of


def import_archives(url: URL, paths: Sequence[Path]) -> dict[Path, int]:
    """Put the payloads in the files at `paths` back into the logs of the database at `url`; return how many of each.

    All or none of a file are put back; DataError if one is not that of its record.
    """
    check_exists(url)
    pen, found = Pen(url), dict[Path, int]()
    try:
        if not pen.acquire():
            raise NotWriterError("a service runs on this database; stop it first")
        for path in paths:
            slug, rows = read_archive(path)
            with pen.transaction() as connection:
                project = project_id_of(connection, slug)
                if project is None:
                    raise ParameterError(f"{path} is of project {slug!r}, which is not in this database")
                found[path] = put_back(connection, project, rows)
    finally:
        pen.close()
    return found
