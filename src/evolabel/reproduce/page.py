"""The report of a reproduction: verdicts, figures and tables in one file that opens without internet."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from evolabel._utils.atomic_files import write_atomically
from evolabel._utils.optional import load
from evolabel.explain.figures.canvas import as_svg
from evolabel.reproduce import tables
from evolabel.reproduce.claims import FAILS, HOLDS, UNKNOWN, Claim, Ruling, Verdict, verdicts
from evolabel.reproduce.experiments import EXPERIMENTS, Experiment
from evolabel.reproduce.figures import drawn
from evolabel.reproduce.methods import PROFILES, Profile
from evolabel.reproduce.results import Findings

TEMPLATE = Path(__file__).parent / "page.html.jinja"
CLASSES: dict[Ruling, str] = {HOLDS: "holds", FAILS: "fails", UNKNOWN: "unknown"}


@dataclass(frozen=True)
class Part:
    """A figure or table of the paper on the page."""

    experiment: Experiment
    table: tables.Table | None
    drawings: dict[Profile, str]


def write_page(
    findings: Findings, experiments: Sequence[Experiment], folder: Path, skipped: Sequence[str] = ()
) -> Path:
    """Write `report.html` and every figure as a file of its own; returns the page.

    Parameters
    ----------
    findings : Findings
    experiments : sequence of Experiment
        What is shown, in this order.
    folder : Path
        Must exist.
    skipped : sequence of str
        What was left out and why, a line each.
    """
    parts = [_part(experiment, findings) for experiment in experiments]
    for part in parts:
        for profile, svg in part.drawings.items():
            write_atomically(folder / f"{part.experiment.key}-{profile}.svg", svg.encode())
    page = folder / "report.html"
    write_atomically(page, _rendered(findings, parts, skipped, {e.key for e in experiments}).encode())
    return page


def by_claim(found: Sequence[Verdict]) -> list[tuple[Claim, dict[Profile, Verdict]]]:
    """The verdicts of a claim beside each other."""
    groups = groupby(found, key=lambda verdict: verdict.claim)
    return [(claim, {verdict.profile: verdict for verdict in group}) for claim, group in groups]


def _rendered(findings: Findings, parts: list[Part], skipped: Sequence[str], shown: set[str]) -> str:
    environment = load("jinja2", "report", "an HTML report").Environment(autoescape=True, trim_blocks=True)
    found = [verdict for verdict in verdicts(findings) if verdict.claim.where in shown]
    tally = {
        profile: {ruling: sum(v.profile == profile and v.ruling == ruling for v in found) for ruling in CLASSES}
        for profile in PROFILES
    }
    return str(
        environment.from_string(TEMPLATE.read_text()).render(
            settings=findings.settings,
            quick=findings.settings["effort"] == "quick",
            skipped=skipped,
            parts=parts,
            claims=by_claim(found),
            tally=tally,
            titles=tables.TITLES,
            classes=CLASSES,
            experiments=EXPERIMENTS,
            scores=tables.scores(findings),
            work=tables.work(findings),
        )
    )


def _part(experiment: Experiment, findings: Findings) -> Part:
    table = {"sizes": tables.sizes, "times": tables.times}.get(experiment.kind)
    if table is not None:
        return Part(experiment, table(findings), {})
    figures = {profile: drawn(experiment, findings, profile) for profile in PROFILES}
    return Part(experiment, None, {profile: as_svg(f) for profile, f in figures.items() if f is not None})
