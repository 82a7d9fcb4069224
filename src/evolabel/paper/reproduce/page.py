"""The report of a reproduction: verdicts, figures and tables in one HTML file that needs no internet connection."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from evolabel._utils.files import write_atomically
from evolabel._utils.optional import load
from evolabel.paper.reproduce import tables
from evolabel.paper.reproduce.claims import FAILS, HOLDS, NOT_DECIDED, UNKNOWN, PaperClaim, Ruling, Verdict, verdicts
from evolabel.paper.reproduce.experiments import EXPERIMENTS, Experiment
from evolabel.paper.reproduce.figures import draw_experiment
from evolabel.paper.reproduce.methods import PROFILES, Profile
from evolabel.paper.reproduce.results import ReproductionResults
from evolabel.paper.reproduce.run_size import LEFT_OUT
from evolabel.words.figures.canvas import as_svg

_TEMPLATE = Path(__file__).parent / "page.html.jinja"
_CSS_CLASSES: dict[Ruling, str] = {HOLDS: "holds", FAILS: "fails", NOT_DECIDED: "open", UNKNOWN: "unknown"}


class _Section(NamedTuple):
    """One figure or table of the paper on the page; `drawings` holds an SVG per profile, `details` tables by set."""

    experiment: Experiment
    table: tables.ReportTable | None
    drawings: dict[Profile, str]
    details: dict[str, tables.ReportTable]


def write_page(
    results: ReproductionResults, experiments: Sequence[Experiment], folder: Path, skipped: Sequence[str] = ()
) -> Path:
    """Write `report.html` and every figure as an SVG file, and return the path of the report.

    Parameters
    ----------
    results : ReproductionResults
    experiments : sequence of Experiment
        What is shown, in this order.
    folder : Path
        Must exist.
    skipped : sequence of str
        Data sets that were left out and why, one line each.
    """
    sections = [_section(experiment, results) for experiment in experiments]
    for section in sections:
        for profile, svg in section.drawings.items():
            write_atomically(folder / f"{section.experiment.key}-{profile}.svg", svg.encode())
    page = folder / "report.html"
    write_atomically(page, _rendered(results, sections, skipped).encode())
    return page


def by_claim(found: Sequence[Verdict]) -> list[tuple[PaperClaim, dict[Profile, Verdict]]]:
    """The verdicts `found`, grouped by claim; verdicts of a claim must follow each other."""
    groups = groupby(found, key=lambda verdict: verdict.claim)
    return [(claim, {verdict.profile: verdict for verdict in group}) for claim, group in groups]


def _rendered(results: ReproductionResults, sections: list[_Section], skipped: Sequence[str]) -> str:
    environment = load("jinja2", "report", "an HTML report").Environment(autoescape=True, trim_blocks=True)
    shown = {section.experiment.key for section in sections}
    found = [verdict for verdict in verdicts(results) if verdict.claim.experiment in shown]
    counts = {
        profile: {ruling: sum(v.profile == profile and v.ruling == ruling for v in found) for ruling in _CSS_CLASSES}
        for profile in PROFILES
    }
    return str(
        environment.from_string(_TEMPLATE.read_text()).render(
            settings=results.settings,
            left_out=LEFT_OUT.get(results.settings["run_size"], ""),
            skipped=skipped,
            sections=sections,
            claims={key: by_claim([v for v in found if v.claim.experiment == key]) for key in shown},
            verdicts=by_claim(found),
            means={name: tables.means_table(results, name) for name in results.sizes},
            counts=counts,
            titles=tables.PROFILE_TITLES,
            classes=_CSS_CLASSES,
            experiments=EXPERIMENTS,
            scores=tables.scores_table(results),
            cpu=tables.cpu_table(results),
        )
    )


def _section(experiment: Experiment, results: ReproductionResults) -> _Section:
    table = {"sizes": tables.sizes_table, "times": tables.times_table}.get(experiment.kind)
    if table is not None:
        return _Section(experiment, table(results), {}, {})
    figures = {profile: draw_experiment(experiment, results, profile) for profile in experiment.profiles}
    drawings = {profile: as_svg(figure) for profile, figure in figures.items() if figure is not None}
    sets = [panel.dataset for panel in experiment.panels if experiment.kind == "vigilances"]
    details = {name: tables.vigilance_table(results, name) for name in sets if name in results.sizes}
    return _Section(experiment, None, drawings, details)
