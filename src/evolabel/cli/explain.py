"""`evolabel explain`: one prediction of a saved model, in parts that add up."""

from pathlib import Path

from evolabel import EvolvingFuzzyClassifier
from evolabel.cli.model import Format, names_are_checked, rows_for, write
from evolabel.cli.source import default_data, split_names
from evolabel.errors import DataError, ParameterError


def explain(
    model: Path,
    *,
    row: int,
    data: str | None = None,
    labels: str = "",
    format: Format = "text",
    out: Path | None = None,
) -> None:
    """Explain one prediction: what every feature gave to every label, and what would have to change.

    For each label the output is shown with its largest contributions, which add up with the rest, and the smallest
    change of a single feature that would turn the label within the active rules. Then which rules were active, and
    whether the sample lies in known territory.

    For example:

    `evolabel run emotions --out results`

    `evolabel explain results/model.safetensors --row 7 --data emotions`

    Parameters
    ----------
    model
        A model file, as `evolabel run --out` or `save` writes it.
    row
        Which row of the data, in the order of the file; the first is 0.
    data
        A known data set or file the row comes from, with or without labels; as in `evolabel run` without arguments if
        not given.
    labels
        Columns of that file that are labels, separated by commas; the labels of the model if not given.
    format
        text, markdown, html (a page) or json (every contribution).
    out
        File to write to, instead of the terminal.
    """
    classifier = EvolvingFuzzyClassifier.load(model)
    name = default_data() if data is None else data
    try:
        X = rows_for(classifier, name, split_names(labels))
    except DataError as error:
        raise error if data else ParameterError(f"--data is missing, and {error}") from None
    if not 0 <= row < len(X):
        raise ParameterError(f"--row {row} is not there; {name} has rows 0 to {len(X) - 1}")
    with names_are_checked():
        why = classifier.explain(X[row])
    write(why, format, out)
