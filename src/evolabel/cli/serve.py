"""`evolabel serve`: the labelling service, and what an operator does with its database."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Group, Parameter

from evolabel._utils.optional import load
from evolabel.cli.output import print_message, print_or_write
from evolabel.cli.source import split_names
from evolabel.errors import ParameterError

if TYPE_CHECKING:
    from sqlalchemy import URL

    from evolabel.server.ops.verify import Verified

DEFAULT_DATABASE = "sqlite:///evolabel-data/evolabel.db"
DEMO_DATABASE = "sqlite:///evolabel-data/demo.db"
_VARIABLE = "EVOLABEL_DATABASE_URL"
_PACKAGES = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "jinja2")

LABELLING = Group("Label with people", sort_key=2.5)
"""The commands of the labelling service, in the help."""

serve = App(
    name="serve",
    help="Run the labelling service: samples in over HTTP, questions out, answers train the model.",
    group=LABELLING,
)

Database = Annotated[
    str | None,
    Parameter(
        name="--database",
        help="SQLite file or PostgreSQL database, such as `postgresql://user@host/name`; by default that of "
        "EVOLABEL_DATABASE_URL, or a SQLite file in the folder evolabel-data.",
    ),
]
"""Option of a command: the database of a service."""
_Config = Annotated[
    Path | None,
    Parameter(
        name="--config",
        help="TOML file with the configuration; variables EVOLABEL_* come before it, and flags before both.",
    ),
]
_Flag = Annotated[bool, Parameter(negative="")]


@serve.default
def start(
    *,
    config: _Config = None,
    database: Database = None,
    host: str | None = None,
    port: int | None = None,
    behind_proxy: Annotated[bool | None, Parameter(negative="")] = None,
    tls_cert: Path | None = None,
    tls_key: Path | None = None,
    demo: _Flag = False,
) -> None:
    """Run the service until it is interrupted.

    To look at it: `evolabel serve --demo`

    Parameters
    ----------
    host
        Address to listen on, 127.0.0.1 by default. Others than this machine's own need TLS or a proxy.
    port
        Port to listen on, 8080 by default.
    behind_proxy
        A proxy in front of the service adds TLS.
    tls_cert
        Certificate file.
    tls_key
        Key file of the certificate.
    demo
        Fill a project with samples of three pumps, whose questions a simulated annotator answers in part, and print a
        link with which to sign in. The database is evolabel-data/demo.db, unless another is given.
    """
    _load_packages()
    from evolabel.server.ops.config import read_config
    from evolabel.server.run import run_server

    flags = {
        "database.url": database or (DEMO_DATABASE if demo else None),
        "server.host": host,
        "server.port": port,
        "server.behind_proxy": behind_proxy,
        "server.tls_cert": None if tls_cert is None else str(tls_cert),
        "server.tls_key": None if tls_key is None else str(tls_key),
    }
    run_server(read_config(config, os.environ, flags).config, demo=demo)


@serve.command(name="config")
def print_config(*, config: _Config = None, database: Database = None) -> None:
    """Print the configuration, and where each value comes from; passwords are hidden."""
    _load_packages()
    from evolabel.server.ops.config import describe_config, read_config

    loaded = read_config(config, os.environ, {"database.url": database})
    print_or_write("\n".join(describe_config(loaded)) + "\n", None)


@serve.command
def verify(
    *,
    database: Database = None,
    from_start: _Flag = False,
    without_replay: _Flag = False,
) -> None:
    """Read every record of the database, check chain, budget and tables, and compare a replay with the log.

    Exit code 2 if this version of the program gives another outcome than the log has. The service runs with such a log
    all the same: what was asked and predicted is taken from it.

    Parameters
    ----------
    from_start
        Replay from the first record on, not from the oldest snapshot of this version.
    without_replay
        Apply no record anew.
    """
    url = database_url(database)
    from evolabel.server.ops.verify import UnverifiedError, verify_database
    from evolabel.server.project.replay import ReplayError

    try:
        found = verify_database(url, from_start=from_start, replay=not without_replay)
    except UnverifiedError as error:
        _print_verified(error.found)
        raise
    _print_verified(found)
    if different := [slug for slug, verified in found.items() if verified.replay and verified.replay.different]:
        raise ReplayError(
            f"{', '.join(different)}: this version gives other outcomes than the log has; nothing has to be done, or "
            "run `evolabel serve rebuild` for a model that this version has made"
        )


@serve.command
def backup(to: Path, *, database: Database = None) -> None:
    """Copy the database to a new file, also while the service runs, and check the copy.

    For PostgreSQL the line of pg_dump is printed instead.

    Parameters
    ----------
    to
        The new file.
    """
    url = database_url(database)
    from evolabel.server.ops.maintenance import back_up, dump_line

    if url.get_backend_name() == "postgresql":
        print_or_write(dump_line(url, to) + "\n", None)
        return
    _print_verified(back_up(url, to))
    print_message(
        f"{to} is whole; to restore it, stop the service, remove the files of the database "
        "(also those that end in -wal and -shm), copy it to their place, start the service"
    )


@serve.command
def migrate(*, database: Database = None, backed_up: _Flag = False) -> None:
    """Change the tables of the database to the version of this program; a backup is made first.

    Parameters
    ----------
    backed_up
        A backup of the PostgreSQL database was made; one of a SQLite file is made here, beside it.
    """
    url = database_url(database)
    from evolabel.server.ops.maintenance import migrate_database

    print_message(migrate_database(url, backed_up=backed_up))


@serve.command
def rebuild(
    project: str,
    *,
    cause: str,
    database: Database = None,
    without_people: str = "",
    without_labels: str = "",
    dry_run: _Flag = False,
) -> None:
    """Make the model of a project anew from its whole log, with this version of the program.

    Corrections count from then on. What was asked and counted stays as it was. The service must be stopped; one that
    runs does the same by `POST rebuild`.

    Parameters
    ----------
    project
        Name of the project.
    cause
        Why the model is made anew; it is written to the log.
    without_people
        Names of people whose answers do not count, separated by commas.
    without_labels
        Labels whose answers do not count, separated by commas.
    dry_run
        Print how many records are read and how long that takes; change nothing.
    """
    url = database_url(database)
    from evolabel.server.ops.maintenance import rebuild_project
    from evolabel.server.project.rebuild import RebuildPlan

    plan = RebuildPlan(cause, split_names(without_people), split_names(without_labels))
    print_or_write(f"{project}: {rebuild_project(url, project, plan, dry_run=dry_run)}\n", None)


@serve.command(name="new")
def new_project(
    file: Path,
    *,
    database: Database = None,
    title: str = "",
    name: str = "",
    labels: str = "",
    use: Annotated[
        list[str] | None,
        Parameter(help="A column and what it is used for, as in `--use site=source`; again for each.", negative=""),
    ] = None,
    one_of: _Flag = False,
    budget: float = 0.1,
    per: Literal["labels", "samples"] = "labels",
    at_once: _Flag = False,
    dry_run: _Flag = False,
) -> None:
    """Make a project of a file of rows, which become the stream when the service is started.

    The file is CSV, JSON lines, Excel or Parquet. What its columns are is printed. The service must be stopped; one
    that runs does the same on its page New project.

    For example:

    `evolabel serve new plant.csv --labels leak,wear --use pump=source --dry-run`

    Parameters
    ----------
    file
        The file.
    title
        Title of the project, by default the name of the file.
    name
        Name of the project in addresses, by default that of the file.
    labels
        Names of labels that no column holds, separated by commas.
    use
        Uses are number, text, label (yes or no), class (the one label of a row), labels (apart by semicolons), id,
        time, source and skip.
    one_of
        Each sample has one of the labels.
    budget
        Share of the labels, or of the samples, that may be asked for.
    per
        What the budget counts.
    at_once
        Send all rows at once. Otherwise they wait while as many questions are open as allowed.
    dry_run
        Print what the columns are; make nothing.
    """
    url = database_url(database)
    from evolabel.server.ops.new_project import FileWish, describe_columns, make_from_file, read_uses

    uses = read_uses(use or ())
    wish = FileWish(name, title, uses, split_names(labels), budget, per, one_of=one_of, waits=not at_once)
    if dry_run:
        print_or_write(describe_columns(file, wish), None)
        return
    slug, columns = make_from_file(url, file, wish)
    print_or_write(columns, None)
    print_message(
        f"project {slug} is made; its rows are sent once the service runs: `evolabel serve`, and people are invited by "
        f"`evolabel serve invite NAME --project {slug} --role annotator`"
    )


@serve.command(name="import-log")
def import_log(files: list[Path], *, database: Database = None) -> None:
    """Put values of samples that went to the archive back into the log, for a rebuild or a check from the first record.

    The service must be stopped. Each payload must have the hash that the log keeps of it.

    Parameters
    ----------
    files
        Files of the archive.
    """
    url = database_url(database)
    from evolabel.server.ops.maintenance import import_archives

    for path, n in import_archives(url, files).items():
        print_or_write(f"{path}: {n} payloads are in the log again\n", None)


@serve.command
def token(
    person: str,
    *,
    database: Database = None,
    project: str | None = None,
    role: str | None = None,
    name: str = "command line",
    until: str | None = None,
) -> None:
    """Print a new token of a person: for a project and a role, or for the whole server without them.

    Parameters
    ----------
    person
        Name of the person, who is added if there is none.
    project
        Name of a project; without it the person becomes an administrator.
    role
        producer, bridge, annotator, expert or operator; with a project only.
    name
        What the token is for.
    until
        Day or time at which it ends, such as 2027-01-31; by default after 90 days.
    """
    url = database_url(database)
    from evolabel.server.people.accounts import create_token

    print_or_write(create_token(url, person, project, role, name, until=until) + "\n", None)
    print_message("the token is not shown again; keep it like a password")


@serve.command
def invite(
    person: str,
    *,
    database: Database = None,
    project: str | None = None,
    role: str | None = None,
    admin: _Flag = False,
    url: str = "http://127.0.0.1:8080",
) -> None:
    """Print a one-time link with which a person chooses a password; it ends after a day.

    Parameters
    ----------
    person
        Name of the person, who is added if there is none. The password of a known person is replaced.
    project
        Name of a project.
    role
        annotator, expert or operator; with a project only.
    admin
        The person becomes an administrator of the server.
    url
        Address of the server, as the person reaches it.
    """
    stored = database_url(database)
    from evolabel.server.people.accounts import create_invite

    code = create_invite(stored, person, time.time_ns() // 1000, project=project, role=role, admin=admin)
    print_or_write(f"{url.rstrip('/')}/invite/{code}\n", None)
    print_message("the link works once, within a day; it is not shown again")


@serve.command
def user(
    person: str | None = None,
    *,
    database: Database = None,
    disable: _Flag = False,
    enable: _Flag = False,
) -> None:
    """Print the people of the server, or disable one: sessions and tokens end, answers stay.

    Parameters
    ----------
    person
        Name of the person to print, disable or enable; without it all are printed.
    disable
        Disable the person.
    enable
        Enable the person again, who then needs a new link to choose a password.
    """
    url = database_url(database)
    from evolabel.server.people.accounts import describe_people, set_disabled

    if disable or enable:
        if person is None or disable == enable:
            raise ParameterError("give a name and one of --disable, --enable")
        set_disabled(url, person, disabled=disable)
    for line in describe_people(url, person):
        print_or_write(line + "\n", None)


def _print_verified(found: "dict[str, Verified]") -> None:
    """Print what was `found` in each project, a line for what was read and one for the replay."""
    for slug, verified in found.items():
        lines = [
            f"{slug}: {verified.records} records whole, {verified.samples} samples, {verified.asked} questions "
            f"asked, cost {verified.cost} of {verified.allowed:.1f} allowed"
        ]
        if (replay := verified.replay) is not None:
            lines.append(
                f"{slug}: {replay.records} records replayed behind record {replay.start}, {replay.compared} snapshots "
                f"compared, {replay.different} differences, checksum {replay.checksum}"
            )
            if replay.first is not None:
                lines.append(
                    f"{slug}: probabilities differ by at most {replay.furthest:.2g}; first difference: {replay.first}"
                )
        print_or_write("\n".join(lines) + "\n", None)


def database_url(database: str | None) -> "URL":
    """Return the URL of the `database` that the command line names, or else the environment."""
    _load_packages()
    from evolabel.server.log.engines import read_url

    return read_url(database or os.environ.get(_VARIABLE) or DEFAULT_DATABASE)


def _load_packages() -> None:
    """Raise MissingDependencyError unless the packages of the extra `server` are installed."""
    for package in _PACKAGES:
        load(package, "server", "evolabel serve")
