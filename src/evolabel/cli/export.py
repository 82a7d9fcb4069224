"""`evolabel export`: answers, predictions or the log of a labelling service as a table."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from evolabel._utils.json_text import parse_json
from evolabel._utils.table_lines import (
    ANSWER_COLUMNS,
    RECORD_COLUMNS,
    csv_lines,
    flat_sample,
    json_lines,
    sample_columns,
    write_parquet,
)
from evolabel.cli.output import Force, Unmarked, check_overwriting, file_errors, print_message
from evolabel.cli.serve import Database, database_url
from evolabel.errors import FileFormatError, ParameterError

What = Literal["answers", "predictions", "log"]
Rows = Iterator[dict[str, Any]]
_FORMATS = (".csv", ".jsonl", ".ndjson", ".parquet")
_FILES = {"answers": "answers.ndjson", "predictions": "samples.ndjson", "log": "log.ndjson"}


def export(
    what: What,
    *,
    project: str,
    source: Annotated[str | None, Parameter(name="--from")] = None,
    token: Annotated[str, Parameter(env_var="EVOLABEL_TOKEN")] = "",
    database: Database = None,
    out: Path | None = None,
    unmarked: Unmarked = False,
    force: Force = False,
) -> None:
    """Write answers, predictions or the log of a project as CSV, JSON lines or Parquet.

    They are read from the database of the service, or from the service itself.

    For example:

    `evolabel export answers --project pumps --database sqlite:///plant.db --out answers.csv`

    `evolabel export predictions --project pumps --from http://127.0.0.1:8080 --out predictions.parquet`

    Parameters
    ----------
    what
        answers: one row per label that a person has answered; predictions: one row per sample, with its values, the
        probabilities of the labels and what was asked; log: every record.
    project
        Name of the project in addresses.
    source
        Address of a service, instead of a database.
    token
        Token of an operator of the project, for --from; better in the variable EVOLABEL_TOKEN.
    out
        File to write; its ending gives the format: .csv, .jsonl or .parquet. Without it CSV is printed.
    """
    suffix = ".csv" if out is None else out.suffix.lower()
    if suffix not in _FORMATS:
        raise ParameterError(f"{out} has no known format; use one of {', '.join(_FORMATS)}")
    check_overwriting([out], force=force)
    found = _read_service(what, project, source, token) if source else _read_database(what, project, database)
    with found as (columns, rows):
        if what == "predictions" and suffix not in (".jsonl", ".ndjson"):
            rows = (flat_sample(row) for row in rows)
        if out is None:
            sys.stdout.writelines(csv_lines(columns, rows, marked=not unmarked))
        else:
            _write(columns, rows, out, suffix, marked=not unmarked)


def _write(columns: Mapping[str, type], rows: Rows, out: Path, suffix: str, *, marked: bool) -> None:
    """Write `rows` with these `columns` to the file `out`, in the format that `suffix` names; `marked` as in CSV."""
    with file_errors(out):
        unfinished = out.with_name(out.name + ".unfinished")
        try:
            if suffix == ".parquet":
                write_parquet(columns, rows, unfinished)
            else:
                with unfinished.open("w", encoding="utf-8", newline="") as file:
                    is_csv = suffix == ".csv"
                    file.writelines(csv_lines(columns, rows, marked=marked) if is_csv else json_lines(rows))
            unfinished.replace(out)
        finally:
            unfinished.unlink(missing_ok=True)
    print_message(f"Written: {out}")


@contextmanager
def _read_database(what: What, project: str, database: str | None) -> Iterator[tuple[Mapping[str, type], Rows]]:
    """Yield columns and rows of `what` of a `project` in the `database`."""
    url = database_url(database)
    from evolabel.server.log.engines import reading_engine
    from evolabel.server.log.projects import find_project
    from evolabel.server.log.writer import reading
    from evolabel.server.project import exports

    engine = reading_engine(url)
    try:
        with reading(engine) as connection:
            found = find_project(connection, project)
            if found is None:
                raise ParameterError(f"there is no project {project!r} in the database; check its name")
            columns = exports.project_columns(connection, found.id)
        if what == "answers":
            yield ANSWER_COLUMNS, exports.answered_labels(engine, found.id)
        elif what == "log":
            yield RECORD_COLUMNS, exports.log_rows(engine, found.id)
        else:
            yield sample_columns(*columns), exports.sample_rows(engine, found.id)
    finally:
        engine.dispose()


@contextmanager
def _read_service(what: What, project: str, address: str, token: str) -> Iterator[tuple[Mapping[str, type], Rows]]:
    """Yield columns and rows of `what` of a `project` of the service at `address`, opened by `token`."""
    from evolabel.client import Client

    with Client(address, token, project) as client:
        columns: Mapping[str, type] = ANSWER_COLUMNS if what == "answers" else RECORD_COLUMNS
        if what == "predictions":
            status = client.project()
            columns = sample_columns(status.features, [label["name"] for label in status.labels])
        yield columns, map(_parsed, client.export(_FILES[what]))


def _parsed(line: str) -> dict[str, Any]:
    """Return the row in a `line` that the service has sent; FileFormatError if it is none."""
    try:
        return dict(parse_json(line))
    except (ValueError, TypeError):
        raise FileFormatError(f"{line[:50]!r} came from the service and is no row of a table; check --from") from None
