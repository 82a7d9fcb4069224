"""The HTML report: one file with everything in it."""

from dataclasses import dataclass
from itertools import product
from math import isnan
from pathlib import Path
from typing import Any

from evolabel import __version__
from evolabel._utils.atomic_files import write_atomically
from evolabel._utils.optional import load
from evolabel._utils.text import counted, visible
from evolabel.evaluate import Repeated, Standing, best_value
from evolabel.evaluate.metrics import METRICS
from evolabel.explain.figures.canvas import as_svg, figure_of
from evolabel.report.figures import name_of, trend_lines
from evolabel.streams import Dataset

TEMPLATE = Path(__file__).parent / "page.html.jinja"

SHOWN_RULES = 5

FORMS = {
    "cumulative": "Since the beginning of the stream.",
    "sliding": "Over the last {window} samples only: what a drift does shows here.",
}

RULES = "rules", "current"

# What a person who does not know the names wants to read under a figure.
MEANINGS = {
    "pa": "Partial accuracy: share of (sample, label) pairs answered rightly.",
    "ap": "Average precision: how well the labels of a sample are ranked above the others.",
    "rules": "Rules there were at each moment.",
}


@dataclass(frozen=True)
class Picture:
    """A figure on the page."""

    file: str
    caption: str
    svg: str


def write_report(repeated: Repeated, folder: Path, columns: Dataset | None = None) -> Path:
    """Write `report.html` and the figures as files of their own; returns the page.

    Parameters
    ----------
    repeated : Repeated
    folder : Path
        Must exist.
    columns : Dataset, optional
        Whose names of features and labels the rules are shown with; the learners only met arrays.
    """
    wanted = _wanted(repeated)
    pictures = [_picture(repeated, metric, form) for metric, form in wanted]
    for picture in pictures:
        write_atomically(folder / f"{picture.file}.svg", picture.svg.encode())
    page = folder / "report.html"
    write_atomically(page, visible(render(repeated, pictures, _rules(repeated, columns))).encode())
    for metric, form in {*product(METRICS, FORMS), RULES}.difference(wanted):  # of an earlier run with other metrics
        (folder / f"{metric}-{form}.svg").unlink(missing_ok=True)
    return page


def render(repeated: Repeated, pictures: list[Picture], rules: list[Any]) -> str:
    """The page as text."""
    environment = load("jinja2", "report", "an HTML report").Environment(autoescape=True, trim_blocks=True)
    template = environment.from_string(TEMPLATE.read_text())
    return str(
        template.render(
            settings=repeated.settings,
            seeds=list(repeated.runs),
            metrics={name: name_of(name) for name in repeated.metrics},
            standings=(standings := repeated.standings()),
            best={name: best_value(standings, name) for name in repeated.metrics},
            asking=(asking := [standing for standing in standings if standing.questions is not None]),
            reasons=_reasons(asking),
            skipped=_skipped(repeated),
            pictures=pictures,
            rules=rules,
            version=__version__,
            isnan=isnan,
            counted=counted,
        )
    )


def _wanted(repeated: Repeated) -> list[tuple[str, str]]:
    """The figures of the paper (PA, AP, rules) first, other metrics after them."""
    first = [name for name in ("pa", "ap") if name in repeated.metrics]
    rest = [name for name in repeated.metrics if name not in first]
    lines = [(name, form) for name in first for form in FORMS] + [(name, "cumulative") for name in rest]
    counts = any(not isnan(standing.rules.mean) for standing in repeated.standings())
    return lines + ([RULES] if counts else [])


def _picture(repeated: Repeated, metric: str, form: str) -> Picture:
    axes = trend_lines(repeated, metric, form)
    meaning = MEANINGS.get(metric, f"{name_of(metric)}.")
    about = FORMS.get(form, "").format(window=repeated.settings["window"])
    caption = f"{meaning} {about}".strip()
    return Picture(f"{metric}-{form}", caption, as_svg(figure_of(axes)))


def _reasons(asking: list[Standing]) -> list[str]:
    """All reasons anyone had to ask, each once."""
    return list(dict.fromkeys(reason for one in asking if one.questions for reason in one.questions.reasons))


def _skipped(repeated: Repeated) -> dict[str, int]:
    """Samples that a metric could not judge, by metric, those of the first seed."""
    first = next(iter(repeated.runs.values())).summary[repeated.learners[0]]
    return {name_of(name): count for name, count in first.skipped.items() if count}


def _rules(repeated: Repeated, columns: Dataset | None) -> list[Any]:
    """The best supported rules of the first learner, if it has readable ones, after the last seed."""
    last = list(repeated.runs.values())[-1]
    learner = last.learners.get(repeated.learners[0])
    rules = sorted(getattr(learner, "rules_", ()), key=lambda rule: -rule.support)[:SHOWN_RULES]
    if columns is None:
        return rules
    return [rule.renamed(columns.feature_names, columns.label_names) for rule in rules]
