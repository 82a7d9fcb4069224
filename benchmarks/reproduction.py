"""Write docs/explanations/reproduction.md and its figures from kept results: `benchmarks/reproduction.py [FOLDER]`.

With the folder of an `evolabel reproduce` run, its results are copied first. A test compares the page with them.
"""

import shutil
import sys
from pathlib import Path

from evolabel.paper.reproduce import ReproductionResults, tables, verdicts
from evolabel.paper.reproduce.claims import PaperClaim, Verdict
from evolabel.paper.reproduce.experiments import EXPERIMENTS, SMALL_SETS
from evolabel.paper.reproduce.figures import draw_experiment
from evolabel.paper.reproduce.methods import PROFILES, Profile
from evolabel.paper.reproduce.page import by_claim
from evolabel.paper.reproduce.results import RESULTS_FILE, TIMES_FILE
from evolabel.paper.reproduce.tables import ReportTable
from evolabel.words.figures.canvas import as_svg
from evolabel.words.markup import table

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "explanations" / "reproduction.md"
FIGURES = PAGE.parent / "reproduction"
KEPT = Path(__file__).parent / "results" / "reproduce"
END = "<!-- end -->"


def experiments(results: ReproductionResults) -> str:
    """Every figure and table of the paper: its curves in the paper's profile, and its claims with their verdicts."""
    found = verdicts(results)
    parts = []
    for experiment in EXPERIMENTS.values():
        text = [f"### {experiment.label}: {experiment.title.lower()}", experiment.caption]
        if (FIGURES / f"{experiment.key}.svg").exists() and experiment.kind in ("trend lines", "vigilances"):
            text.append(f"![{experiment.title}, the paper's profile]({FIGURES.name}/{experiment.key}.svg)")
        claims = by_claim([verdict for verdict in found if verdict.claim.experiment == experiment.key])
        if claims:
            text.append(claim_table(claims))
        parts.append("\n\n".join(text))
    return "\n\n".join(parts)


def claim_table(claims: list[tuple[PaperClaim, dict[Profile, Verdict]]]) -> str:
    """A Markdown table of `claims` with their verdicts; the report of the command has the reasons, too."""
    rows = []
    for claim, found in claims:
        paper, default = (found.get(profile) for profile in PROFILES)
        cells = [
            f"**{paper.ruling}**: {paper.measured}" if paper else "not in this profile",
            f"**{default.ruling}**" if default else "not in this profile",
        ]
        rows.append([claim.statement, *cells])
    return table(["the paper says", "`paper()`", "default"], rows)


def scores(results: ReproductionResults) -> str:
    """A Markdown table for each data set: scores, parameters and rules of all methods in the paper's profile."""
    parts = []
    for name in results.sizes:
        found = tables.means_table(results, name)
        own = found._replace(heads=found.heads[1:], rows=[row[1:] for row in found.rows if row[0] == "paper"])
        parts.append(f"**{name}**\n\n{markdown(own)}")
    return "\n\n".join(parts)


def vigilances(results: ReproductionResults) -> str:
    """A Markdown table for each small data set: rules and scores of ours at every vigilance."""
    shown = {name: tables.vigilance_table(results, name) for name in SMALL_SETS if name in results.sizes}
    parts = [f"**{name}**\n\n{markdown(found)}" for name, found in shown.items() if found.rows]
    return "\n\n".join(parts) or "This run had no runs at every vigilance."


def how(results: ReproductionResults) -> str:
    """What the run was, and the processor time it took."""
    seeds = results.settings["seeds"]
    hours = sum(results.cpu_seconds.values()) / 3600
    text = (
        f"The kept run: `--grid {results.settings['run_size']} --seeds {seeds}`, {hours:.1f} hours of processor time."
    )
    return text if seeds > 1 else f"{text} One seed has no interval, so it decides almost nothing."


def counts(results: ReproductionResults) -> str:
    """How many claims hold in `results`, by profile."""
    lines = []
    for profile in PROFILES:
        rulings = [verdict.ruling for verdict in verdicts(results) if verdict.profile == profile]
        text = ", ".join(f"{rulings.count(ruling)} {ruling}" for ruling in dict.fromkeys(sorted(rulings)))
        lines.append(f"- {tables.PROFILE_TITLES[profile]}: {text}")
    return "\n".join(lines)


def without_rivals(found: ReportTable) -> ReportTable:
    """The table of times without how much faster than in the paper the two rivals are, its last columns."""
    return found._replace(heads=found.heads[:-2], rows=[row[:-2] for row in found.rows])


def markdown(found: ReportTable) -> str:
    """The table `found` as Markdown."""
    return table(found.heads, found.rows)


BLOCKS = {
    "how": how,
    "counts": counts,
    "experiments": experiments,
    "vigilances": vigilances,
    "scores": scores,
    "sizes": lambda results: markdown(tables.sizes_table(results)),
    "times": lambda results: markdown(without_rivals(tables.times_table(results))),
}


def filled(page: str, results: ReproductionResults) -> str:
    """The text of `page` with every block between its markers written from `results`."""
    for name, block in BLOCKS.items():
        start = f"<!-- reproduction:{name} -->"
        assert page.count(start) == 1, f"the page needs exactly one {start}"
        head, rest = page.split(start)
        page = f"{head}{start}\n\n{block(results)}\n\n{END}{rest[rest.index(END) + len(END) :]}"
    return page


def main() -> None:
    """Copy the results of a folder, if one is given, and write the page."""
    if len(sys.argv) > 1:
        KEPT.mkdir(parents=True, exist_ok=True)
        for name in (RESULTS_FILE, TIMES_FILE):
            shutil.copyfile(Path(sys.argv[1]) / name, KEPT / name)
    results = ReproductionResults.read(KEPT)
    FIGURES.mkdir(exist_ok=True)
    for experiment in EXPERIMENTS.values():
        if experiment.kind in ("trend lines", "vigilances"):
            figure = draw_experiment(experiment, results, "paper")
            if figure is not None:
                (FIGURES / f"{experiment.key}.svg").write_text(as_svg(figure))
    PAGE.write_text(filled(PAGE.read_text(), results))


if __name__ == "__main__":
    main()
