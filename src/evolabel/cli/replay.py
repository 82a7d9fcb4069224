"""`evolabel replay`: the rows of a data set, sent to a labelling service at a given speed."""

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from cyclopts import Parameter

from evolabel._utils.text import counted, first_names, one_line
from evolabel.cli.columns import NO_OPTIONS, ColumnOptions, coding_of
from evolabel.cli.output import StateBars, print_or_write
from evolabel.cli.source import Drop, Labels, open_source, split_names
from evolabel.errors import DataError, ParameterError
from evolabel.streams import Dataset
from evolabel.streams.files.own_file import OWN_SUFFIXES, Use, read_own_file, use_columns
from evolabel.typing import FloatArray

if TYPE_CHECKING:
    from evolabel.client import Client, SampleResult

_REQUESTS = 4  # a second; a token may send ten, and answers need some of them
_MOST_ROWS = 250  # of a request

Token = Annotated[str, Parameter(env_var="EVOLABEL_TOKEN")]
"""Option of a command: a token of the service."""


@dataclass
class ReplayCounts:
    """Numbers of samples sent, of questions asked about them, and of questions answered."""

    sent: int = 0
    asked: int = 0
    answered: int = 0


def replay(
    data: str,
    *,
    to: str,
    project: str,
    token: Token,
    rate: float = 50.0,
    create: Annotated[bool, Parameter(negative="")] = False,
    budget: float = 0.1,
    answer: Annotated[bool, Parameter(negative="")] = False,
    id_column: Annotated[str, Parameter(name="--id")] = "",
    prefix: str = "",
    samples: int | None = None,
    labels: Labels = "",
    drop: Drop = "",
    columns: ColumnOptions = NO_OPTIONS,
) -> None:
    """Send the rows of a data set to a labelling service, in their order and at a given speed.

    Every row has an id, so the command can be stopped and started again: what was sent before is not counted twice. A
    file without --labels has rows for a project that exists: its columns are the features and labels of that name.

    For example:

    `evolabel replay plant.csv --labels leak,wear --to http://127.0.0.1:8080 --project plant --create --answer`

    Parameters
    ----------
    data
        As in `evolabel run`: a known data set, a file, or a synthetic stream.
    to
        Address of the service.
    project
        Name of the project in addresses.
    token
        A token of the role producer; bridge with --answer, an administrator's with --create. Better in the variable
        EVOLABEL_TOKEN, which other people of this machine cannot read.
    rate
        Samples per second; 0 for as many as the service takes.
    create
        Make the project of the columns of the data, if there is none.
    budget
        Share of the labels that a project made here may ask for.
    answer
        Answer every question by the labels of the data, as an annotator would.
    id_column
        Column of a file with the ids of the rows; a file without --labels alone.
    prefix
        Beginning of the ids of the samples, by default the name of the data; another one sends the rows once more.
    samples
        Number of rows to send, by default all.
    """
    if not 0.0 <= rate < math.inf:
        raise ParameterError(f"--rate {rate:g} is not allowed; give samples per second, or 0 for no limit")
    from evolabel.client import Client

    given, dropped = split_names(labels), split_names(drop)
    is_own = not (given or create or answer or columns != NO_OPTIONS) and Path(data).suffix.lower() in OWN_SUFFIXES
    if id_column and not is_own:
        raise ParameterError(f"--id {id_column} is for a file without --labels, --create and --answer; leave it out")
    with Client(to, token, project) as client:
        if is_own:
            rows = _own_samples(client, Path(data), id_column, prefix)[:samples]
            done = _send(client, Path(data).name, rows, rate)
        else:
            source = open_source(
                data, given, protocol="order", samples=samples, drop=dropped, columns=columns, skip_empty=False
            )
            dataset = source.stream(0)
            if create:
                _create(client, dataset, budget)
            rows = list(_samples(client, dataset, prefix or f"{dataset.name}-"))
            done = _send(client, dataset.name, rows, rate, dataset if answer else None)
    asked, answered = (counted(number, "question") for number in (done.asked, done.answered))
    text = f"{counted(done.sent, 'sample')} sent, {asked} asked, {answered} answered"
    print_or_write(f"{project}: {text}\n", None)


def _create(client: "Client", dataset: Dataset, budget: float) -> None:
    """Make the project of the columns of `dataset`, unless it exists."""
    from evolabel.client import ServiceError

    try:
        client.project()
    except ServiceError as error:
        if error.status != 404:
            raise
        client.create_project(project_features(dataset), dataset.label_names, title=dataset.name, budget=budget)


def project_features(dataset: Dataset) -> list[dict[str, Any]]:
    """Return the features of a project for `dataset`: numbers, and one text per column of texts."""
    coding, found = coding_of(dataset), list[dict[str, Any]]()
    for column, texts, span in zip(coding.columns, coding.categories, coding.spans, strict=True):
        if texts is None:
            found += [{"name": name} for name in coding.feature_names[span]]
        else:
            found.append({"name": column, "kind": "text", "choices": list(texts)})
    return found


def _samples(client: "Client", dataset: Dataset, prefix: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of `dataset` as samples for the features of the project, with ids that begin with `prefix`."""
    places = {name: place for place, name in enumerate(dataset.feature_names)}
    readers = list[tuple[str, str, dict[str, int]]]()
    for feature in client.project().features:
        name, kind = feature["name"], feature["kind"]
        texts = {other[len(name) + 1 :]: place for other, place in places.items() if other.startswith(f"{name}=")}
        readers.append((name, kind, texts if kind == "text" else {name: places[name]} if name in places else {}))
    if not any(columns for _, _, columns in readers):
        raise DataError(
            f"{dataset.name} has none of the features of the project ({first_names([name for name, *_ in readers])})"
        )
    for number, row in enumerate(dataset.X):
        x = {name: _cell(row, kind, columns) for name, kind, columns in readers if columns}
        yield {"id": f"{prefix}{number + 1}", "x": x}


def _own_samples(client: "Client", path: Path, id_column: str, prefix: str) -> list[dict[str, Any]]:
    """Return the rows of the file `path` as samples: columns with the names of features and labels of the project.

    Their ids are in `id_column`, or begin with the `prefix`, by default the name of the file.
    """
    own, status = read_own_file(path), client.project()
    kinds: dict[str, Use] = {item["name"]: "text" if item["kind"] == "text" else "number" for item in status.features}
    kinds |= {label["name"]: "label" for label in status.labels}
    uses = {name: use for name, use in kinds.items() if name in own.table.names}
    if id_column:
        uses[id_column] = "id"
    if not {"number", "text"} & set(uses.values()):
        raise DataError(f"{path} has none of the features of the project ({first_names(list(kinds))})")
    rows = use_columns(own.table, uses, prefix.removesuffix("-"))
    return [
        {"id": identifier, "x": dict(zip(rows.features, x, strict=True)), **({"y": _truth(y)} if y else {})}
        for identifier, x, y in zip(rows.ids, rows.x, rows.y, strict=True)
    ]


def _truth(known: Mapping[str, int]) -> dict[str, bool]:
    """Return the labels that are `known` of a row as true and false."""
    return {name: bool(value) for name, value in known.items()}


def _cell(row: FloatArray, kind: str, columns: dict[str, int]) -> float | str | None:
    """Return the value of a feature of this `kind` in `row`, whose `columns` stand for it, or for one text each."""
    if kind == "text":
        return next((text for text, place in columns.items() if row[place] == 1.0), None)
    value = float(row[next(iter(columns.values()))])
    return None if math.isnan(value) else value


def _send(
    client: "Client", name: str, rows: list[dict[str, Any]], rate: float, truth: Dataset | None = None
) -> ReplayCounts:
    """Send `rows` of the data called `name` at this `rate`, and answer questions by the labels of `truth`, if given.

    What was done is returned.
    """
    size = _MOST_ROWS if not rate else max(1, min(_MOST_ROWS, round(rate / _REQUESTS)))
    done, begin = ReplayCounts(), time.monotonic()
    with StateBars() as progress:
        bar = progress.add_task(one_line(name), total=len(rows), state="")
        for start in range(0, len(rows), size):
            if rate:
                time.sleep(max(0.0, begin + start / rate - time.monotonic()))
            for place, result in enumerate(client.send(rows[start : start + size]), start):
                done.sent += 1
                done.asked += bool(result.asked)
                if truth is not None and result.asked:
                    done.answered += _answer(client, truth, place, result)
            state = f"{done.asked} questions asked, {done.answered} answered"
            progress.update(bar, completed=done.sent, state=state)
    return done


def _answer(client: "Client", dataset: Dataset, place: int, result: "SampleResult") -> bool:
    """Answer the question in `result` by the labels in row `place` of `dataset`; return whether any is known."""
    truth = dict(zip(dataset.label_names, dataset.Y[place].tolist(), strict=True))
    answers = {name: bool(truth[name]) for name in result.asked if not np.isnan(truth.get(name, math.nan))}
    if answers:
        client.answer(result.number, answers)
    return bool(answers)
