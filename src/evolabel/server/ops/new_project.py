"""A project of a file, made by a command while the service is stopped; its rows are sent when the service runs."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import URL

from evolabel.errors import ParameterError, StateError
from evolabel.server.log.activity import COMMAND
from evolabel.server.project.own_project import Choices, as_slug, judged_file, new_own_project, used_rows
from evolabel.server.project.service import Service
from evolabel.server.project.settings import DEFAULT_LIMITS, Label, ProjectSettings
from evolabel.streams.files.own_file import USES, OwnFile, Use


class FileWish(NamedTuple):
    """What the options of the command say of a project to make of a file; empty texts stand for what is usual."""

    slug: str
    title: str
    uses: Mapping[str, Use]
    labels: tuple[str, ...]
    budget: float
    per: str
    one_of: bool
    waits: bool


def read_uses(texts: Iterable[str]) -> dict[str, Use]:
    """Return the uses of columns in `texts` such as site=source, by column; ParameterError for anything else."""
    found = dict[str, Use]()
    for text in texts:
        column, _, name = text.rpartition("=")
        use = next((known for known in USES if known == name), None)
        if not column or use is None:
            known = ", ".join(USES)
            raise ParameterError(f"--use {text} names no column with its use; write --use COLUMN=USE, one of {known}")
        found[column] = use
    return found


def describe_columns(file: Path, wish: FileWish) -> str:
    """Return a line for each column of `file`: its use by `wish` or by what it holds; DataError if that cannot be."""
    own = judged_file(file, DEFAULT_LIMITS.file)
    used_rows(own, _uses(own, wish))
    return _described(own, wish)


def make_from_file(url: URL, file: Path, wish: FileWish) -> tuple[str, str]:
    """Make a project of `file` in the database at `url` by `wish`; return its short name, and what its columns are.

    StateError while a service runs on the database.
    """
    own = judged_file(file, DEFAULT_LIMITS.file)
    slug = wish.slug or as_slug(own.table.name)
    settings = ProjectSettings(budget=wish.budget, per=wish.per, one_of=wish.one_of)
    labels = [Label(name) for name in wish.labels]
    choices = Choices(slug, wish.title or own.table.name, _uses(own, wish), labels, settings, wish.waits)
    new = new_own_project(own, choices)
    service = Service(url)
    try:
        if not service.writer.is_writer:
            raise StateError("a service runs on this database; stop it, or use its page New project")
        service.create_project(new, cause=COMMAND)
    finally:
        service.stop()
    return slug, _described(own, wish)


def _uses(own: OwnFile, wish: FileWish) -> dict[str, Use]:
    """Return the use of each column of `own`: that of `wish`, else the one that its values propose."""
    return {column.name: column.use for column in own.columns} | dict(wish.uses)


def _described(own: OwnFile, wish: FileWish) -> str:
    """Return the name, the kind, the use and the first values of each column of `own`, one column a line."""
    uses, width = _uses(own, wish), max(len(column.name) for column in own.columns)
    lines = [
        f"{column.name:<{width}}  {column.kind:<6}  {uses[column.name]:<6}  {', '.join(column.examples)}"
        for column in own.columns
    ]
    return "\n".join([f"{own.table.path.name}: {len(own.table.rows)} rows", *lines, ""])
