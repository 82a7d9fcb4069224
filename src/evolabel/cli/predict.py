"""`evolabel predict`: predictions of a saved model for the rows of a file."""

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from evolabel import EvolvingFuzzyClassifier
from evolabel._utils.table_lines import csv_line
from evolabel._utils.text import counted
from evolabel.classifier.named_columns import describe_unseen
from evolabel.cli.model import ModelFile, OwnStages, load_model, samples_for
from evolabel.cli.output import Force, OutFile, Unmarked, check_overwriting, print_message, print_or_write
from evolabel.cli.source import split_names
from evolabel.errors import DataWarning, ParameterError
from evolabel.explain.prediction import NO_FEATURE
from evolabel.explain.unfamiliar import describe_outside, describe_unfamiliar
from evolabel.streams import Dataset
from evolabel.streams.files.for_model import ModelRows
from evolabel.streams.tabular.column_coding import Unseen
from evolabel.typing import AnyArray, FloatArray

_ROW, _UNFAMILIAR = "row", "unfamiliar"  # columns of the answers
_DIGITS = 6  # of a probability


def predict(
    model: ModelFile,
    data: str,
    *,
    labels: str = "",
    keep: str = "",
    proba: bool = False,
    out: OutFile = None,
    unmarked: Unmarked = False,
    stages: OwnStages = "",
    force: Force = False,
) -> None:
    """Predict the labels of every row of a file with a saved model, as CSV.

    The columns are: row, its number; those of --keep; unfamiliar, the values and texts of the row that the model has
    never seen; and the answers.

    The file needs the features of the model, by name; it may have no labels, and other columns are ignored. For a
    model that was trained without names, all columns but its labels are the features, in their order. Texts that the
    model has never seen and rows without any feature are reported.

    For example:

    `evolabel run my.csv --labels fault_a,fault_b --out results`

    `evolabel predict results/model.safetensors today.csv --out answers.csv`

    Parameters
    ----------
    data
        A file as in `evolabel run`, or a known data set.
    labels
        Columns of that file that are labels, separated by commas; needed only if they have other names than those of
        a model without feature names.
    keep
        Columns of the file to copy into the answers as they are, separated by commas, such as times and ids.
    proba
        Print probabilities instead of predicted labels (0 or 1).
    """
    check_overwriting([out], force=force)
    classifier = load_model(model, stages)
    kept = split_names(keep)
    if taken := [name for name in kept if name in (_ROW, _UNFAMILIAR, *_answer_names(classifier))]:
        raise ParameterError(f"--keep {taken[0]}: the answers have a column of this name; leave it out")
    rows = samples_for(classifier, data, split_names(labels), kept)
    X = rows.dataset.X
    for text in [*describe_unseen(rows.unseen), *_describe_empty(rows.dataset)]:
        print_message(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # printed above, with lines of the file
        answers = _printable(classifier.predict_proba(X)) if proba else classifier.predict(X)
    unfamiliar = _unfamiliar(classifier, rows)
    for text in _describe_outside(classifier, rows.dataset):
        print_message(text)
    table = _table(classifier, answers, {**rows.kept, _UNFAMILIAR: unfamiliar}, marked=not unmarked)
    print_or_write(table, out, f" ({counted(len(X), 'row')})")


def _unfamiliar(classifier: EvolvingFuzzyClassifier, rows: ModelRows) -> list[str]:
    """Return for each of `rows` the values that `classifier` has never seen, in words; empty where there are none."""
    ranges, coding = classifier.inner.any_model.ranges, classifier.inner.columns
    unseen: dict[int, list[Unseen]] = {}
    for text in rows.unseen:
        unseen.setdefault(text.row, []).append(text)
    X = np.ascontiguousarray(rows.dataset.X)
    found = (describe_unfamiliar(x, ranges, coding, tuple(unseen.get(i, ()))) for i, x in enumerate(X))
    empty = np.atleast_1d(np.isnan(X).all(axis=1))
    return [NO_FEATURE if none else "; ".join(texts) for none, texts in zip(empty, found, strict=True)]


def _describe_outside(classifier: EvolvingFuzzyClassifier, dataset: Dataset) -> list[str]:
    """Return a sentence on the rows of `dataset` with values far outside those `classifier` has seen, if any."""
    ranges, coding = classifier.inner.any_model.ranges, classifier.inner.columns
    found = [describe_outside(x, ranges, coding) for x in np.ascontiguousarray(dataset.X)]
    odd = [row for row, texts in enumerate(found) if texts]
    if not odd:
        return []
    where = f"{counted(len(odd), 'row')}, the first is {dataset.describe_row(odd[0])}"
    return [f"{'; '.join(found[odd[0]])} ({where})"]


def _printable(probabilities: FloatArray) -> FloatArray:
    """Return `probabilities` with six digits, none of them 0 or 1."""
    least = 10.0**-_DIGITS
    return np.asarray(np.clip(probabilities, least, 1.0 - least).round(_DIGITS))


def _describe_empty(dataset: Dataset) -> list[str]:
    """Return a sentence on the rows of `dataset` without any feature, if there are any."""
    empty = np.flatnonzero(np.isnan(dataset.X).all(axis=1))
    if not len(empty):
        return []
    where = f"{counted(len(empty), 'row')}, the first is {dataset.describe_row(int(empty[0]))}"
    return [f"{NO_FEATURE} ({where}): the answer is the base rates of the labels"]


def _answer_names(classifier: EvolvingFuzzyClassifier) -> list[str]:
    """Return the columns of the answers: the labels of `classifier`, apart from the columns that are always there."""
    return [f"label {name}" if name in (_ROW, _UNFAMILIAR) else name for name in classifier.inner.label_names]


def _table(
    classifier: EvolvingFuzzyClassifier, answers: AnyArray, columns: Mapping[str, Sequence[str]], *, marked: bool
) -> str:
    """Return one CSV line per row: its number, the `columns`, the `answers`; classes are a single column.

    Texts that a spreadsheet would compute begin with an apostrophe if `marked`.
    """
    names = _answer_names(classifier) if answers.ndim == 2 else ["class"]
    lines = [csv_line([_ROW, *columns, *names], marked=marked)]
    for row, answer in enumerate(answers):
        own = [cells[row] for cells in columns.values()]
        lines.append(csv_line([row, *own, *np.atleast_1d(answer).tolist()], marked=marked))
    return "".join(lines)
