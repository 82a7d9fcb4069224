"""Write docs/explanations/reproduction.md from the last full run: `python benchmarks/reproduction.py [FOLDER]`.

With the folder of an `evolabel reproduce` run, its results are copied first. A test compares the page with them.
"""

import shutil
import sys
from pathlib import Path

from evolabel.paper.reproduce import ReproductionResults, tables, verdicts
from evolabel.paper.reproduce.experiments import EXPERIMENTS
from evolabel.paper.reproduce.methods import PROFILES
from evolabel.paper.reproduce.page import by_claim
from evolabel.paper.reproduce.results import RESULTS_FILE, TIMES_FILE
from evolabel.paper.reproduce.tables import ReportTable
from evolabel.words.markup import table

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "explanations" / "reproduction.md"
KEPT = Path(__file__).parent / "results" / "reproduce"
END = "<!-- end -->"


def verdict_table(results: ReproductionResults) -> str:
    """A Markdown table of every claim in `results` with its verdicts; the report of the command has all numbers."""
    rows = []
    for claim, found in by_claim(verdicts(results)):
        paper, default = (found.get(profile) for profile in PROFILES)
        cells = [
            f"**{paper.ruling}**: {paper.measured}" if paper else "not in this profile",
            f"**{default.ruling}**" if default else "not in this profile",
        ]
        rows.append([EXPERIMENTS[claim.experiment].label, claim.statement, *cells])
    return table(["where", "the paper says", "`paper()`", "default"], rows)


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
    "counts": counts,
    "verdicts": verdict_table,
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
    PAGE.write_text(filled(PAGE.read_text(), ReproductionResults.read(KEPT)))


if __name__ == "__main__":
    main()
