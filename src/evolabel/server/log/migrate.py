"""Versions of the tables: made in a new database, compared in an old one, changed by Alembic."""

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from evolabel.errors import EvolabelError
from evolabel.server.log.schema import METADATA

if TYPE_CHECKING:
    from alembic.config import Config

SCHEMA_VERSION = "0001"
"""Version of the tables that this program uses."""

_SCRIPTS = Path(__file__).parent / "migrations"


class SchemaError(EvolabelError, RuntimeError):
    """The tables of a database have another version than the program."""


def prepare_tables(connection: Connection) -> None:
    """Make the tables that are missing through `connection`; SchemaError if the others have another version."""
    if not inspect(connection).has_table("project"):
        upgrade_tables(connection)
        return
    found = version_of(connection)
    if found == SCHEMA_VERSION:
        METADATA.create_all(connection)  # those that drafts of this version did not have
        _check_columns(connection)
        return
    if found in known_versions():
        raise SchemaError(
            f"the tables have version {found}, this program uses {SCHEMA_VERSION}; run `evolabel serve migrate`"
        )
    raise SchemaError(
        f"the tables have version {found}, which this program does not have (it uses {SCHEMA_VERSION}); "
        "start the newer evolabel that made them, or restore a backup"
    )


def _check_columns(connection: Connection) -> None:
    """Raise SchemaError if tables of the version of the program lack a column: drafts of the first one had fewer."""
    found = inspect(connection).get_multi_columns()
    present = {name: {column["name"] for column in columns} for (_, name), columns in found.items()}
    for table in METADATA.sorted_tables:
        if missing := {column.name for column in table.columns} - present.get(table.name, set()):
            raise SchemaError(
                f"the tables have version {SCHEMA_VERSION}, but {table.name} has no column {min(missing)}: start the "
                "development version of 17 November 2026 or before that made them, or make a new database"
            )


def version_of(connection: Connection) -> str | None:
    """Return the version of the tables in the database of `connection`; None if there is none."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return None if found is None else str(found)


def upgrade_tables(connection: Connection) -> None:
    """Change the tables in the transaction of `connection` up to the version of the program."""
    from alembic import command

    command.upgrade(_config(connection), "head")


def known_versions() -> set[str]:
    """Return the versions of tables that this program can migrate from."""
    from alembic.script import ScriptDirectory

    return {script.revision for script in ScriptDirectory(str(_SCRIPTS)).walk_revisions()}


def _config(connection: Connection) -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config
