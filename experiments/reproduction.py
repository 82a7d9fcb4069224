"""Write docs/reproduction.md from the last full run: `python experiments/reproduction.py [FOLDER]`.

With the folder of an `evolabel reproduce` run, its results are taken over first. A test holds the page against them.
"""

import shutil
import sys
from itertools import product
from pathlib import Path

from pages import with_blocks

from evolabel.explain.markup import table
from evolabel.reproduce import Findings, tables, verdicts
from evolabel.reproduce.experiments import EXPERIMENTS
from evolabel.reproduce.methods import METHODS, PROFILES, Profile
from evolabel.reproduce.page import by_claim
from evolabel.reproduce.results import RESULTS, TIMES, Task
from evolabel.reproduce.tables import Table

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reproduction.md"
KEPT = Path(__file__).parent / "results" / "reproduce"


def verdict_table(findings: Findings) -> str:
    """Every claim and both verdicts, with our explanation where one does not hold."""
    rows = []
    for claim, found in by_claim(verdicts(findings)):
        cells = [
            f"**{verdict.ruling}**: {verdict.measured}" if (verdict := found.get(profile)) else "no such thing"
            for profile in PROFILES
        ]
        why = reasons({profile: verdict.explanation for profile, verdict in found.items() if verdict.explanation})
        rows.append([EXPERIMENTS[claim.where].label, f"{claim.words} ({claim.means})", *cells, why])
    return table(["where", "the paper says (holds if)", "`paper()`", "default", "why it does not hold"], rows)


def reasons(by_profile: dict[Profile, str]) -> str:
    """Our explanations, each with its profile unless there is one for both."""
    if len(by_profile) == 2 and len(set(by_profile.values())) == 1:
        return by_profile["paper"]
    names = {"paper": "`paper()`", "default": "default"}
    return "<br>".join(f"{names[profile]}: {why}" for profile, why in by_profile.items())


def left_out(findings: Findings) -> str:
    """Runs that belong to the sets of the page but were not done: their time is not in the table."""
    missing: dict[str, list[str]] = {}
    for experiment in EXPERIMENTS.values():
        for panel, method in product(experiment.panels, experiment.methods):
            tasks = [Task(panel.dataset, profile, method) for profile in METHODS[method].profiles]
            if experiment.kind == "trend lines" and panel.dataset in findings.sizes:
                absent = [task.profile for task in tasks if task not in findings.outcomes]
                if absent:
                    missing[f"{METHODS[method].title} on {panel.dataset}"] = absent
    told = "; ".join(f"{what} ({' and '.join(profiles)})" for what, profiles in missing.items())
    return f"\n\nNot run for this page, and not in the table: {told}." if missing else ""


def tally(findings: Findings) -> str:
    """How many claims hold, profile by profile."""
    lines = []
    for profile in PROFILES:
        rulings = [verdict.ruling for verdict in verdicts(findings) if verdict.profile == profile]
        counts = ", ".join(f"{rulings.count(ruling)} {ruling}" for ruling in dict.fromkeys(sorted(rulings)))
        lines.append(f"- {tables.TITLES[profile]}: {counts}")
    return "\n".join(lines)


def told(found: Table) -> str:
    """A table of the report as Markdown."""
    return table(found.heads, found.rows)


BLOCKS = {
    "tally": tally,
    "verdicts": verdict_table,
    "sizes": lambda findings: told(tables.sizes(findings)),
    "work": lambda findings: f"{told(tables.work(findings))}{left_out(findings)}",
    "times": lambda findings: told(tables.times(findings)),
}


def filled(page: str, findings: Findings) -> str:
    """The page with every block between its markers."""
    return with_blocks(page, {f"reproduction:{name}": block(findings) for name, block in BLOCKS.items()})


def main() -> None:
    """Take results over, if a folder is given, and write the page."""
    if len(sys.argv) > 1:
        KEPT.mkdir(parents=True, exist_ok=True)
        for name in (RESULTS, TIMES):
            shutil.copyfile(Path(sys.argv[1]) / name, KEPT / name)
    PAGE.write_text(filled(PAGE.read_text(), Findings.read(KEPT)))


if __name__ == "__main__":
    main()
