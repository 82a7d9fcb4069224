"""`evolabel figures`: figures of a saved model."""

from pathlib import Path

from evolabel._utils.files import write_atomically
from evolabel.cli.model import ModelFile, OwnStages, RowLabels, load_model, samples_for
from evolabel.cli.output import Force, check_folder, check_overwriting, print_message
from evolabel.cli.source import split_names
from evolabel.errors import ParameterError
from evolabel.words.markup import escape, page

_DOTS_PER_INCH = 150


def figures(
    model: ModelFile,
    *,
    out: Path,
    data: str | None = None,
    labels: RowLabels = "",
    row: int | None = None,
    stages: OwnStages = "",
    force: Force = False,
) -> None:
    """Draw a saved model: trees and edges of threshold rules, rule maps, membership functions, weights, life times.

    Every figure is written as SVG and PNG, and `index.html` shows them all.

    For example:

    `evolabel run emotions --out results`

    `evolabel figures results/model.safetensors --data emotions --out pictures`

    `evolabel figures results/model.safetensors --data emotions --row 7 --out pictures`

    Parameters
    ----------
    out
        Folder to write into.
    data
        A known data set or file: its samples are shown on the rule maps, and its labels' correlations in a figure.
    row
        Index of a row of the data, the first is 0: its path through the trees of threshold rules is drawn.
    """
    check_overwriting([out / "index.html"], force=force)
    classifier = load_model(model, stages)
    samples = None if data is None else samples_for(classifier, data, split_names(labels)).dataset
    if row is not None and (samples is None or not 0 <= row < len(samples.X)):
        rows = "needs --data" if samples is None else f"is not allowed; {data} has rows 0 to {len(samples.X) - 1}"
        raise ParameterError(f"--row {row} {rows}")
    check_folder(out, {"matplotlib": "plots"}, "a figure")
    from evolabel.explain.figures.all_figures import all_figures
    from evolabel.words.figures.canvas import as_png, as_svg, figure_of

    given = () if samples is None else (samples.X, samples.Y)
    sample = None if samples is None or row is None else samples.X[row]
    drawn = list(all_figures(classifier, *given, sample=sample))
    for captioned in drawn:
        figure = figure_of(captioned.axes)
        write_atomically(out / f"{captioned.name}.png", as_png(figure, _DOTS_PER_INCH))
        write_atomically(out / f"{captioned.name}.svg", as_svg(figure).encode())
    body = "".join(
        f'<h2>{escape(figure.caption)}</h2><img src="{figure.name}.svg" alt="{escape(figure.caption)}" '
        'style="max-width:100%;background:white">'
        for figure in drawn
    )
    write_atomically(out / "index.html", page(f"{model.stem}: {classifier.n_rules_} rules", body).encode())
    print_message(f"Written: {out / 'index.html'} ({len(drawn)} figures)")
