"""`evolabel explain`: one prediction of a saved model as a sum of contributions."""

from evolabel.cli.model import Format, ModelFile, OwnStages, RowLabels, load_model, print_formatted, samples_for
from evolabel.cli.output import Force, OutFile, check_overwriting
from evolabel.cli.source import default_data, split_names
from evolabel.errors import DataError, ParameterError


def explain(
    model: ModelFile,
    *,
    row: int,
    data: str | None = None,
    labels: RowLabels = "",
    format: Format = "text",
    out: OutFile = None,
    stages: OwnStages = "",
    force: Force = False,
) -> None:
    """Explain one prediction: the contribution of every feature to every label, and what would change the label.

    For each label this shows the probability, the output and its threshold, the largest contributions to the output and
    the sum of the rest, and the smallest change of a single feature that was found to change the predicted label. Then
    it lists the active rules, and shows whether the sample is like those the model has learned.

    For example:

    `evolabel run emotions --out results`

    `evolabel explain results/model.safetensors --row 7 --data emotions`

    Parameters
    ----------
    row
        Index of the row, in the order of the file; the first is 0.
    data
        A known data set or file with the row, with or without labels; the data of `evolabel run` without arguments if
        not given.
    format
        text, markdown, html (a page) or json (every contribution).
    """
    check_overwriting([out], force=force)
    classifier = load_model(model, stages)
    name = default_data() if data is None else data
    try:
        rows = samples_for(classifier, name, split_names(labels))
    except DataError as error:
        raise error if data else ParameterError("--data is missing; give the file or data set with the row") from None
    X, unseen = rows.dataset.X, tuple(text for text in rows.unseen if text.row == row)
    if not 0 <= row < len(X):
        raise ParameterError(f"--row {row} is not allowed; {name} has rows 0 to {len(X) - 1}")
    print_formatted(classifier.inner.explain_features(X[row], unseen), format, out)
