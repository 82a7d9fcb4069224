"""`evolabel rules`: what a saved model has learned, in words."""

from pathlib import Path

from evolabel import EvolvingFuzzyClassifier
from evolabel._utils.validation import check_number
from evolabel.cli.model import Format, names_are_checked, rows_for, write
from evolabel.cli.source import split_names
from evolabel.errors import ParameterError


def rules(
    model: Path,
    *,
    format: Format = "text",
    top: int | None = None,
    label: str | None = None,
    fidelity: float = 0.95,
    data: str | None = None,
    labels: str = "",
    out: Path | None = None,
) -> None:
    """Read the rules of a saved model: IF few features are such, THEN these labels are likely, and what drives them.

    Terms such as "low to medium" are fifths of the stream the model has seen; ranges are in the units of the features.
    Every rule names only the features it needs: the fewest with which the rules still predict nearly all labels as
    before. What that costs is told as fidelity.

    For example:

    `evolabel run emotions --out results`

    `evolabel rules results/model.safetensors --top 10`

    `evolabel rules results/model.safetensors --label sad-lonely --data emotions --format markdown --out sad.md`

    Parameters
    ----------
    model
        A model file, as `evolabel run --out` or `save` writes it.
    format
        text, markdown, html (a page) or json (all labels of every rule).
    top
        Show only so many rules: the best supported ones.
    label
        Show the rules in which this label is most frequent first.
    fidelity
        Share of the labels that the shortened rules must predict as the whole ones do; 1 shortens nothing that matters.
    data
        A known data set or file: fidelity and activity are measured on its rows, else on rows like those the model
        remembers.
    labels
        Columns of that file that are labels, separated by commas; the labels of the model if not given.
    out
        File to write to, instead of the terminal.
    """
    classifier = EvolvingFuzzyClassifier.load(model)
    if top is not None:
        check_number("top", top, 1, whole=True)
    names = list(classifier.label_names_)
    if label is not None and label not in names:
        raise ParameterError(f"the model has no label {label!r}; it knows {', '.join(names)}")
    X = None if data is None else rows_for(classifier, data, split_names(labels))
    with names_are_checked():
        found = classifier.describe(X, fidelity=fidelity)
    if top is not None or label is not None:
        found = found.top(len(found) if top is None else top, label)
    write(found, format, out)
