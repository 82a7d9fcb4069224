"""Values of samples and answers as requests have them, checked, and as the learner takes them."""

import math
from collections.abc import Sequence

import numpy as np

from evolabel._utils.text import first_names
from evolabel.engine.values import MAX_VALUE
from evolabel.errors import DataError
from evolabel.server.project.questions import Answers
from evolabel.server.project.settings import Feature, Label
from evolabel.streams.tabular.column_coding import Encoded


def read_cells(features: Sequence[Feature], x: object) -> list[float | str | None]:
    """Return the values of a sample in the order of the `features`; DataError names the first that cannot be used.

    `x` is a list of values, or a dictionary by name in which missing features are left out or null.
    """
    if isinstance(x, dict):
        names = [feature.name for feature in features]
        if unknown := [str(name) for name in x if name not in names]:
            raise DataError(f"there is no feature {unknown[0]!r}; the features are {first_names(names)}")
        x = [x.get(name) for name in names]
    if not isinstance(x, list) or len(x) != len(features):
        found = f"{len(x)} values" if isinstance(x, list) else type(x).__name__
        raise DataError(f"x must have {len(features)} values or be an object of values by name, got {found}")
    if are_plain_numbers(x) and not _have_texts(features):
        return list(x)  # most samples
    return [read_cell(feature, value) for feature, value in zip(features, x, strict=True)]


def read_answers(labels: Sequence[Label], answers: object) -> Answers:
    """Return `answers` as 1, 0 or None by the name of the label; DataError for unknown names and other values."""
    asked = [label.name for label in labels if not label.retired]
    if not isinstance(answers, dict) or not answers:
        raise DataError(f"labels must be an object such as {{{asked[0]!r}: true}}, got {answers!r}")
    known = {label.name for label in labels}
    for name, value in answers.items():
        if name not in known:
            raise DataError(f"there is no label {name!r}; the labels are {first_names(asked)}")
        if value is not None and value not in (0, 1):
            raise DataError(f"{name!r} is {value!r}; it must be true, false or null")
    return {name: None if value is None else int(value) for name, value in answers.items()}


def exclusive_answers(labels: Sequence[Label], answers: Answers) -> Answers:
    """Return `answers` where each sample has one of `labels`: yes to one is no to all others.

    DataError if two of them are yes.
    """
    on = [name for name, value in answers.items() if value == 1]
    if len(on) > 1:
        raise DataError(f"{on[0]!r} and {on[1]!r} are both true; each sample has one of the labels, choose one")
    if not on:
        return answers
    return {**{label.name: 0 for label in labels if not label.retired}, **answers}


def encoded(features: Sequence[Feature], cells: list[float | str | None]) -> tuple[Encoded, dict[str, str]]:
    """Return these `cells` as the learner takes them, and by feature a sentence for a text that is no choice of it."""
    unseen = dict[str, str]()
    if _have_texts(features):
        values = list[float | str | None]()
        for feature, value in zip(features, cells, strict=True):
            choices = feature.choices
            values += [value] if not choices else [None if value is None else value == c for c in choices]
            if choices and value is not None and value not in choices:
                unseen[feature.name] = f"{feature.name} = {value} is none of its choices"
        cells = values
    return Encoded(np.array([cells], dtype=np.float64), []), unseen


def labels_row(labels: Sequence[Label], answers: Answers) -> list[float]:
    """Return `answers` in the order of the `labels`, NaN for those not answered."""
    given = (answers.get(label.name) for label in labels)
    return [math.nan if value is None else float(value) for value in given]


def are_plain_numbers(values: Sequence[object]) -> bool:
    """Return whether all `values` are floats that `read_cell` returns as they are, for features of numbers."""
    return {*map(type, values)} == {float} and all(map(MAX_VALUE.__ge__, map(abs, values)))  # type: ignore[arg-type]


def read_cell(feature: Feature, value: object) -> float | str | None:
    """Return `value` as a number, a text or None for `feature`; DataError for anything else."""
    if type(value) is float and feature.kind == "number" and abs(value) <= MAX_VALUE:
        return value  # most values, so they come first
    if value is None:
        return None
    if feature.kind == "text":
        if not isinstance(value, str):
            raise DataError(f"{feature.name!r} is {value!r}; it must be a text or null")
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DataError(f"{feature.name!r} is {value!r}; it must be a number or null")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not abs(number) <= MAX_VALUE:
        raise DataError(f"{feature.name!r} is {number:g}; it must be a number of at most {MAX_VALUE:g}, or null")
    return number


def _have_texts(features: Sequence[Feature]) -> bool:
    """Return whether one of the `features` is a text of some choices."""
    return any(feature.choices for feature in features)
