"""`evolabel figures`: figures of a saved model."""

from pathlib import Path

from evolabel import EvolvingFuzzyClassifier
from evolabel._utils.atomic_files import write_atomically
from evolabel.cli.model import samples_for
from evolabel.cli.output import check_folder, print_message
from evolabel.cli.source import split_names
from evolabel.explain.markup import escape, page

_DOTS_PER_INCH = 150


def figures(model: Path, *, out: Path, data: str | None = None, labels: str = "") -> None:
    """Draw a saved model: rule maps, membership functions, weights, life times of rules, novelty.

    Every figure is written as SVG and PNG, and `index.html` shows them all.

    For example:

    `evolabel run emotions --out results`

    `evolabel figures results/model.safetensors --data emotions --out pictures`

    Parameters
    ----------
    model
        A model file, written by `evolabel run --out` or by `save`.
    out
        Folder to write into.
    data
        A known data set or file: its samples are shown on the rule maps, and its labels' correlations in a figure.
    labels
        Columns of that file that are labels, separated by commas; the labels of the model if not given.
    """
    classifier = EvolvingFuzzyClassifier.load(model)
    samples = None if data is None else samples_for(classifier, data, split_names(labels))
    check_folder(out, {"matplotlib": "plots"}, "a figure")
    from evolabel.explain.figures.all_figures import all_figures
    from evolabel.explain.figures.canvas import as_png, as_svg, figure_of

    given = () if samples is None else (samples.X, samples.Y)
    drawn = list(all_figures(classifier, *given))
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
