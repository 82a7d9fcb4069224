"""A project of a person's own file: the file is judged, then used as the person decides."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from evolabel.errors import EvolabelError
from evolabel.server.project.file_rows import features_of, file_rows, labels_of
from evolabel.server.project.service import NewProject
from evolabel.server.project.settings import Label, ProjectSettings
from evolabel.streams.files.own_file import (
    ColumnError,
    OwnFile,
    OwnRows,
    Use,
    read_own_file,
    read_times,
    use_columns,
)

_DAY = 86_400  # seconds


class Choices(NamedTuple):
    """What a person decides on a file: name and title of the project, uses of columns, labels and settings.

    `labels` come before those that are in the file alone. With `waits` rows wait while many questions are open.
    """

    slug: str
    title: str
    uses: Mapping[str, Use]
    labels: Sequence[Label]
    settings: ProjectSettings
    waits: bool = True


def judged_file(path: Path, most: int) -> OwnFile:
    """Return the file `path`, of at most `most` bytes, and what its columns are; errors name it without its folder."""
    with without_folder(path):
        return read_own_file(path, most)


def used_rows(own: OwnFile, uses: Mapping[str, Use]) -> OwnRows:
    """Return the rows of the judged file `own` by the `uses` of its columns; errors name it without its folder."""
    with without_folder(own.table.path):
        return use_columns(own.table, uses)


def new_own_project(own: OwnFile, choices: Choices) -> NewProject:
    """Return the project to make of the judged file `own` by these `choices`; ColumnError for what cannot be used."""
    rows = used_rows(own, choices.uses)
    labels, features = labels_of(rows, choices.labels), features_of(rows)
    columns = {column for feature in features for column in (feature.name, *feature.columns)}
    if twice := [label.name for label in labels if label.name in columns]:
        raise ColumnError(
            twice[0], f"{twice[0]!r} is a label and a feature; take it off the labels, or use the column as label"
        )
    settings = replace(choices.settings, source=rows.source, one_of=choices.settings.one_of or rows.is_one_of)
    id_column = next((name for name, use in choices.uses.items() if use == "id"), "")
    file = file_rows(own.table.path.name, rows, waits=choices.waits, id_column=id_column)
    return NewProject(choices.slug, choices.title, features, labels, settings, file)


def rows_a_day(own: OwnFile) -> int | None:
    """Return how many rows of the judged file `own` come on a day by its column of times; None if that is not known."""
    name = next((column.name for column in own.columns if column.use == "time"), None)
    with contextlib.suppress(EvolabelError):
        times = [datetime.fromisoformat(time) for time in read_times(own.table, name) if time]
        span = (max(times) - min(times)).total_seconds() if times else 0.0
        if span > 0.0:
            return max(1, round((len(times) - 1) * _DAY / span))
    return None


def as_slug(name: str) -> str:
    """Return `name` as the name of a project in addresses."""
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name.lower())
    return "-".join(part for part in plain.split("-") if part)[:40].strip("-") or "project"


@contextlib.contextmanager
def without_folder(path: Path) -> Iterator[None]:
    """Let errors inside of the block name the file `path` without its folder, which is none of the person's."""
    try:
        yield
    except EvolabelError as error:
        error.args = (str(error).replace(f"{path.parent}/", "").replace(f"{path.parent}\\", ""),)
        raise
