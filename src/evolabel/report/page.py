"""The HTML report: one self-contained file."""

from dataclasses import replace
from itertools import product
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

from evolabel import __version__
from evolabel._utils.files import as_path, write_atomically
from evolabel._utils.optional import load
from evolabel._utils.text import counted, visible
from evolabel.evaluate import Repeated, best_value
from evolabel.evaluate.label_statistics import LABEL_COLUMNS, label_cells
from evolabel.evaluate.metrics import METRICS
from evolabel.evaluate.repeated import run_notes
from evolabel.evaluate.shifts import Episode, episodes
from evolabel.explain.figures.all_figures import MOST_FIGURES, threshold_figures
from evolabel.explain.read_rules import read_rules
from evolabel.explain.rule_set import RuleSet
from evolabel.report.figures import metric_title, trend_lines
from evolabel.report.label_figures import LABEL_FIGURES
from evolabel.streams import Dataset
from evolabel.words.figures.canvas import as_svg, figure_of

_TEMPLATE_FILE = Path(__file__).with_name("page.html.jinja")
STYLE = Path(__file__).with_name("style.css").read_text("utf-8").strip()
"""The style of a page, as CSS."""

_MAX_RULES_SHOWN = 5
_MAX_SHIFTS_SHOWN = 50

_CAPTIONS_OF_FORMS = {
    "cumulative": "Since the beginning of the stream.",
    "sliding": "Over the last {window} samples only: what a drift does shows here.",
}

_THRESHOLD_FILE = "thresholds-"  # and a number
_RULES_FIGURE = "rules", "current"

# Explanations under the figures for readers who have not met the short names of the metrics.
_MEANINGS = {
    "pa": "Partial accuracy: share of (sample, label) pairs predicted correctly.",
    "ap": "Average precision: how well the labels of a sample are ranked above the others.",
    "rules": "Number of rules.",
}


class _Figure(NamedTuple):
    """A figure of the page."""

    file: str
    caption: str
    svg: str


def write_report(repeated: Repeated, folder: Path, columns: Dataset | None = None) -> Path:
    """Write `report.html` and each of its figures as an SVG file, and return the path of the page.

    Parameters
    ----------
    repeated : Repeated
        Results of one or more seeds.
    folder : Path
        An existing folder.
    columns : Dataset, optional
        Data set with the names of features and labels for the rules; learners trained on arrays do not have them.
    """
    folder, chosen = as_path(folder), _figures_of(repeated)
    figures = [_figure(repeated, metric, form) for metric, form in chosen]
    trees = _threshold_figures(repeated, columns)
    curves = _label_figures(repeated)
    for figure in [*figures, *curves, *trees]:
        write_atomically(folder / f"{figure.file}.svg", figure.svg.encode())
    page = folder / "report.html"
    write_atomically(page, visible(_render(repeated, figures, curves, _rules(repeated, columns), trees)).encode())
    # Figures of an earlier run with other metrics, or with more threshold rules, are removed.
    for metric, form in {*product(METRICS, _CAPTIONS_OF_FORMS), _RULES_FIGURE}.difference(chosen):
        (folder / f"{metric}-{form}.svg").unlink(missing_ok=True)
    for name in set(LABEL_FIGURES).difference(figure.file for figure in curves):
        (folder / f"{name}.svg").unlink(missing_ok=True)
    for number in range(len(trees), MOST_FIGURES):
        (folder / f"{_THRESHOLD_FILE}{number + 1}.svg").unlink(missing_ok=True)
    return page


def _render(
    repeated: Repeated, figures: list[_Figure], curves: list[_Figure], rules: RuleSet, trees: list[_Figure]
) -> str:
    """The page as text; `curves` are the figures of labels, `trees` those of threshold rules."""
    environment = load("jinja2", "report", "an HTML report").Environment(autoescape=True, trim_blocks=True)
    template = environment.from_string(_TEMPLATE_FILE.read_text())
    return str(
        template.render(
            style=STYLE,
            settings=repeated.settings,
            seeds=list(repeated.runs),
            metrics={name: metric_title(name) for name in repeated.metrics},
            ranking=(ranking := repeated.ranking()),
            best={name: best_value(ranking, name) for name in repeated.metrics},
            asking=(asking := [row for row in ranking if row.questions is not None]),
            reasons=list(dict.fromkeys(reason for row in asking if row.questions for reason in row.questions.reasons)),
            skipped=_skipped(repeated),
            figures=figures,
            labels=[label_cells(row) for row in repeated.labels(repeated.learners[0])],
            label_columns=LABEL_COLUMNS,
            notes=run_notes(repeated),
            curves=curves,
            shifts=(shifts := _shifts(repeated))[:_MAX_SHIFTS_SHOWN],
            n_shifts=len(shifts),
            rules=rules,
            trees=trees,
            version=__version__,
            isnan=isnan,
            counted=counted,
        )
    )


def _figures_of(repeated: Repeated) -> list[tuple[str, str]]:
    """Metric and form of each figure: those of the paper (PA, AP) first, then the other metrics, then the rules."""
    first = [name for name in ("pa", "ap") if name in repeated.metrics]
    rest = [name for name in repeated.metrics if name not in first]
    lines = [(name, form) for name in first for form in _CAPTIONS_OF_FORMS] + [(name, "cumulative") for name in rest]
    any_rules = any(not isnan(row.rules.mean) for row in repeated.ranking())
    return lines + ([_RULES_FIGURE] if any_rules else [])


def _figure(repeated: Repeated, metric: str, form: str) -> _Figure:
    axes = trend_lines(repeated, metric, form)
    meaning = _MEANINGS.get(metric, f"{metric_title(metric)}.")
    about = _CAPTIONS_OF_FORMS.get(form, "").format(window=repeated.settings["window"])
    caption = f"{meaning} {about}".strip()
    return _Figure(f"{metric}-{form}", caption, as_svg(figure_of(axes)))


def _label_figures(repeated: Repeated) -> list[_Figure]:
    """Curves of the labels of the first learner, all seeds together; those without anything to draw are left out."""
    counts = repeated.label_counts(repeated.learners[0])
    if counts is None:
        return []
    drawn = ((name, *draw(counts)) for name, draw in LABEL_FIGURES.items())
    return [_Figure(name, caption, as_svg(figure_of(ax))) for name, ax, caption in drawn if ax is not None]


def _shifts(repeated: Repeated) -> list[tuple[int, Episode]]:
    """The changes of the stream that the first learner has reported, each with its seed."""
    found = repeated.shifts(repeated.learners[0])
    return [(seed, change) for seed, events in found.items() for change in episodes(events)]


def _skipped(repeated: Repeated) -> dict[str, int]:
    """Return how many samples each metric of `repeated` left out with the first seed, where there are any."""
    first = next(iter(repeated.runs.values())).summary[repeated.learners[0]]
    return {metric_title(name): count for name, count in first.skipped.items() if count}


def _first_learner(repeated: Repeated) -> Any:
    """Return the first learner of `repeated` after the last seed; None if it was not kept."""
    return list(repeated.runs.values())[-1].learners.get(repeated.learners[0])


def _rules(repeated: Repeated, columns: Dataset | None) -> RuleSet:
    """Return the rules of the first learner of `repeated` after the last seed, with its best supported regions.

    `columns` has the names to print. Empty if the learner has no readable rules.
    """
    learner = _first_learner(repeated)
    found: RuleSet = getattr(learner, "rules_", None) or RuleSet()
    if found and columns is not None:
        names = columns.names_with_kinds, _label_names(learner, columns)
        found = read_rules(learner.inner.trained_model, *names, decide=learner.inner.decide)
    return found.top(_MAX_RULES_SHOWN)


def _label_names(learner: Any, columns: Dataset) -> list[str]:
    """The names of the labels in the order of `learner`, which for classes is its own."""
    return list(learner.label_names_ if columns.one_per_row else columns.label_names)


def _threshold_figures(repeated: Repeated, columns: Dataset | None) -> list[_Figure]:
    """Trees and edges of the threshold rules of the first learner after the last seed; empty if it has none."""
    learner = _first_learner(repeated)
    found: RuleSet = getattr(learner, "rules_", None) or RuleSet()
    if not found.threshold_rules:
        return []
    data = learner.figure_data()
    if columns is not None:
        data = replace(data, feature_names=columns.names_with_kinds, label_names=_label_names(learner, columns))
    return [
        _Figure(f"{_THRESHOLD_FILE}{number}", figure.caption, as_svg(figure_of(figure.axes)))
        for number, figure in enumerate(threshold_figures(data), 1)
    ]
