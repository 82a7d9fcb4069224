"""`evolabel serve`: the labelling service, and what an operator does with its database."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Group, Parameter

from evolabel._utils.optional import load
from evolabel.cli.output import print_message, print_or_write
from evolabel.errors import ParameterError

if TYPE_CHECKING:
    from sqlalchemy import URL

DEFAULT_DATABASE = "sqlite:///evolabel-data/evolabel.db"
_VARIABLE = "EVOLABEL_DATABASE_URL"
_PACKAGES = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "jinja2")
_PRIVATE = ("127.0.0.1", "localhost", "::1")

serve = App(
    name="serve",
    help="Run the labelling service: samples in over HTTP, questions out, answers train the model.",
    group=Group("Label with people", sort_key=2.5),
)

_Database = Annotated[str | None, Parameter(name="--database")]


@serve.default
def start(
    *,
    database: _Database = None,
    host: str = "127.0.0.1",
    port: int = 8080,
    behind_proxy: Annotated[bool, Parameter(negative="")] = False,
    tls_cert: Path | None = None,
    tls_key: Path | None = None,
) -> None:
    """Run the service until it is interrupted.

    Parameters
    ----------
    database
        SQLite file or PostgreSQL database, such as `postgresql://user@host/name`; by default that of
        EVOLABEL_DATABASE_URL, or a SQLite file in the folder evolabel-data.
    host
        Address to listen on. Others than this machine's own need TLS or a proxy.
    port
        Port to listen on.
    behind_proxy
        A proxy in front of the service adds TLS.
    tls_cert
        Certificate file.
    tls_key
        Key file of the certificate.
    """
    if host not in _PRIVATE and not behind_proxy and tls_cert is None:
        raise ParameterError(
            f"--host {host} without TLS would send tokens in the clear; add --tls-cert, --behind-proxy"
        )
    from evolabel.server.run import run_server

    run_server(_url(database), host, port, tls_cert=tls_cert, tls_key=tls_key, behind_proxy=behind_proxy)


@serve.command
def check(*, database: _Database = None, replay: Annotated[bool, Parameter(negative="")] = False) -> None:
    """Read every record of the database, and check the chain, the budget at each record, and the tables.

    Parameters
    ----------
    database
        As for `evolabel serve`.
    replay
        Also apply every record anew, and compare every outcome.
    """
    url = _url(database)
    from evolabel.server.ops.check import check_project
    from evolabel.server.store.engines import reading_engine
    from evolabel.server.store.projects import list_projects

    with reading_engine(url).connect() as connection:
        for project in list_projects(connection):
            found = check_project(connection, project, replay=replay)
            print_or_write(
                f"{project.slug}: {found.records} records whole, {found.samples} samples, {found.asked} asked, "
                f"{found.allowed:.1f} allowed" + (f", seal {found.seal}" if found.seal else "") + "\n",
                None,
            )


@serve.command
def token(
    person: str,
    *,
    database: _Database = None,
    project: str | None = None,
    role: str | None = None,
    name: str = "command line",
) -> None:
    """Print a new token of a person: for a project and a role, or for the whole server without them.

    Parameters
    ----------
    person
        Name of the person, who is added if there is none.
    database
        As for `evolabel serve`.
    project
        Name of a project; without it the person becomes an administrator.
    role
        producer, bridge, annotator, expert or operator; with a project only.
    name
        What the token is for.
    """
    url = _url(database)
    from evolabel.server.security.first_token import create_token

    print_or_write(create_token(url, person, project, role, name) + "\n", None)
    print_message("the token is not shown again; keep it like a password")


@serve.command
def invite(
    person: str,
    *,
    database: _Database = None,
    project: str | None = None,
    role: str | None = None,
    admin: Annotated[bool, Parameter(negative="")] = False,
    url: str = "http://127.0.0.1:8080",
) -> None:
    """Print a one-time link with which a person chooses a password; it ends after a day.

    Parameters
    ----------
    person
        Name of the person, who is added if there is none. The password of a known person is replaced.
    database
        As for `evolabel serve`.
    project
        Name of a project.
    role
        annotator, expert or operator; with a project only.
    admin
        The person becomes an administrator of the server.
    url
        Address of the server, as the person reaches it.
    """
    database_url = _url(database)
    from evolabel.server.security.invites import create_invite

    code = create_invite(database_url, person, time.time_ns() // 1000, project=project, role=role, admin=admin)
    print_or_write(f"{url.rstrip('/')}/invite/{code}\n", None)
    print_message("the link works once, within a day; it is not shown again")


def _url(database: str | None) -> "URL":
    """Return the URL of the database that the command line or the environment names."""
    for package in _PACKAGES:
        load(package, "server", "evolabel serve")
    from evolabel.server.store.engines import read_url

    return read_url(database or os.environ.get(_VARIABLE) or DEFAULT_DATABASE)
