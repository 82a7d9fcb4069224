"""`evolabel predict`: predictions of a saved model for the rows of a file."""

import csv
import io
from pathlib import Path

import numpy as np

from evolabel import EvolvingFuzzyClassifier
from evolabel._utils.text import counted
from evolabel.cli.model import samples_for
from evolabel.cli.output import print_message, print_or_write
from evolabel.cli.source import split_names, usable
from evolabel.typing import AnyArray, FloatArray, IntArray

_DIGITS = 6  # of a probability


def predict(model: Path, data: str, *, labels: str = "", proba: bool = False, out: Path | None = None) -> None:
    """Predict the labels of every row of a file with a saved model, as CSV.

    The file needs the features of the model, by name; it may have no labels, and other columns are ignored.

    For example:

    `evolabel run my.csv --labels fault_a,fault_b --out results`

    `evolabel predict results/model.safetensors today.csv --out answers.csv`

    Parameters
    ----------
    model
        A model file, written by `evolabel run --out` or by `save`.
    data
        A file as in `evolabel run`, or a known data set.
    labels
        Columns of that file that are labels, separated by commas; needed only if the model has no feature names.
    proba
        Print probabilities instead of predicted labels (0 or 1).
    out
        File to write to, instead of the terminal.
    """
    classifier = EvolvingFuzzyClassifier.load(model)
    X = usable(samples_for(classifier, data, split_names(labels))).X
    for column, rows in _unknown_texts(classifier, X).items():
        texts = f"{counted(len(rows), 'row')}, the first is row {rows[0]}"
        print_message(f"{column}: a text that the model has never seen is read as none of its texts ({texts})")
    answers = _printable(classifier.predict_proba(X)) if proba else classifier.predict(X)
    print_or_write(_table(classifier, answers), out, f" ({counted(len(X), 'row')})")


def _printable(probabilities: FloatArray) -> FloatArray:
    """Return `probabilities` with six digits, none of them 0 or 1."""
    least = 10.0**-_DIGITS
    return np.asarray(np.clip(probabilities, least, 1.0 - least).round(_DIGITS))


def _unknown_texts(classifier: EvolvingFuzzyClassifier, X: FloatArray) -> dict[str, IntArray]:
    """Return the rows of `X` whose text is none of those that `classifier` knows, by column of texts."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(getattr(classifier, "feature_names_in_", ())):
        column, equals, _ = str(name).partition("=")
        if equals:
            places.setdefault(column, []).append(place)
    rows = {column: np.flatnonzero((X[:, of_texts] == 0.0).all(axis=1)) for column, of_texts in places.items()}
    return {column: found for column, found in rows.items() if found.size}


def _table(classifier: EvolvingFuzzyClassifier, answers: AnyArray) -> str:
    """Return one CSV line per row; predicted classes are a single column."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["row", *(classifier.label_names_ if answers.ndim == 2 else ["class"])])
    lines.writerows([row, *np.atleast_1d(answer).tolist()] for row, answer in enumerate(answers))
    return text.getvalue()
