"""Write docs/explanations/reproduction.md and its figures from kept results: `benchmarks/reproduction.py [FOLDER]`.

With the folder of an `evolabel reproduce` run, its results are copied first. A test compares the page with them.
"""

import shutil
import sys
from itertools import groupby
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
    """The curves of every figure of the paper in its profile, with the verdicts of their claims below."""
    by_experiment = groupby(by_claim(verdicts(results)), key=lambda pair: pair[0].experiment)
    claims = {key: claim_table(list(pairs)) for key, pairs in by_experiment}
    parts = []
    for experiment in EXPERIMENTS.values():
        text = [f"### {experiment.label}: {experiment.title.lower()}"]
        if (FIGURES / f"{experiment.key}.svg").exists() and experiment.kind in ("trend lines", "vigilances"):
            text.append(f"![{experiment.label}]({FIGURES.name}/{experiment.key}.svg)")
        if experiment.key in claims:
            text.append(claims[experiment.key])
        if len(text) > 1:
            parts.append("\n\n".join(text))
    return "\n\n".join(parts)


def claim_table(claims: list[tuple[PaperClaim, dict[Profile, Verdict]]]) -> str:
    """A Markdown table of `claims`: verdicts in both profiles, numbers in the paper's; the report has the reasons."""
    rows = []
    for claim, found in claims:
        rulings = {profile: f"**{verdict.ruling}**" for profile, verdict in found.items()}
        same = len(rulings) == len(PROFILES) and len(set(rulings.values())) == 1
        text = rulings["paper"] if same else ", ".join(f"{profile}: {ruling}" for profile, ruling in rulings.items())
        rows.append([claim.statement, text, found["paper"].measured if "paper" in found else ""])
    return table(["the paper says", "verdict", "measured"], rows)


def scores(results: ReproductionResults) -> str:
    """Markdown tables of the paper's profile, a column for each data set: scores and rules, and tuned parameters."""
    found = {
        name: {row[1]: row[2:] for row in tables.means_table(results, name).rows if row[0] == "paper"}
        for name in results.sizes
    }
    methods = list(dict.fromkeys(method for rows in found.values() for method in rows))
    tuned = [method for method in methods if any(method in rows and rows[method][0] for rows in found.values())]
    heads = ["method", *found]
    return "\n\n".join(
        table(heads, [[method, *(cell(rows.get(method)) for rows in found.values())] for method in shown])
        for cell, shown in ((_score_cell, methods), (_parameter_cell, tuned))
    )


def _score_cell(row: list[str] | None) -> str:
    """PA/AP, the number of rules, and the share that was asked for."""
    if row is None:
        return ""
    _, pa, ap, rules, asked = row
    return ", ".join(filter(None, [f"{pa}/{ap}".replace("0.", "."), rules, asked]))


def _parameter_cell(row: list[str] | None) -> str:
    return row[0].replace("vigilance", "fac") if row else ""


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


def markdown(found: ReportTable) -> str:
    """The table `found` as Markdown."""
    return table(found.heads, found.rows)


BLOCKS = {
    "how": how,
    "counts": counts,
    "experiments": experiments,
    "vigilances": vigilances,
    "scores": scores,
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
