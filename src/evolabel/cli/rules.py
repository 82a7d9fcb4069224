"""`evolabel rules`: the rules of a saved model as text."""

from evolabel._utils.validation import check_number
from evolabel.cli.model import Format, ModelFile, OwnStages, RowLabels, load_model, print_formatted, samples_for
from evolabel.cli.output import Force, OutFile, check_overwriting
from evolabel.cli.source import split_names
from evolabel.errors import ParameterError


def rules(
    model: ModelFile,
    *,
    format: Format = "text",
    regions: bool = False,
    top: int | None = None,
    label: str | None = None,
    fidelity: float = 0.95,
    data: str | None = None,
    labels: RowLabels = "",
    out: OutFile = None,
    stages: OwnStages = "",
    force: Force = False,
) -> None:
    """Print the rules of a saved model, label by label: IF some features have these values, THEN the label is likely.

    These are the rules that people wrote, and threshold rules, in the units of the features, as sensors read now. One
    sentence follows about the learned regions, and how much they answer; `--regions` prints them instead. Their terms
    such as "low to medium" are fifths of the stream the model has learned. They are shortened to the fewest features
    with which they still predict nearly as many labels as the whole model does as before; the share that they predict
    so is printed as fidelity.

    For example:

    `evolabel run emotions --out results`

    `evolabel rules results/model.safetensors`

    `evolabel rules results/model.safetensors --regions --top 10`

    `evolabel rules results/model.safetensors --label sad-lonely --format markdown --out sad.md`

    Parameters
    ----------
    format
        text, markdown, html (a page) or json (with the regions).
    regions
        Print the learned regions, and the linear part.
    top
        Number of regions to show, those with the most samples; all if not given.
    label
        Show the rules of this label alone, and the regions in which it is most frequent first.
    fidelity
        Of the labels that whole regions predict as the model does, the share that shortened ones must predict so.
    data
        A known data set or file: fidelity and activity of regions are measured on its rows; if not given, on rows drawn
        from their statistics.
    """
    check_overwriting([out], force=force)
    classifier = load_model(model, stages)
    if top is not None:
        check_number("top", top, 1, whole=True)
        if not regions and format != "json":
            raise ParameterError("--top counts learned regions, which are not printed; add --regions, or leave it out")
    names = list(classifier.label_names_)
    if label is not None and label not in names:
        raise ParameterError(f"the model has no label {label!r}; it has {', '.join(names)}")
    X = None if data is None else samples_for(classifier, data, split_names(labels)).dataset.X
    found = classifier.describe(X, fidelity=fidelity)
    if top is not None or label is not None:
        found = found.top(len(found) if top is None else top, label)
    print_formatted(found.regions if regions else found, format, out)
