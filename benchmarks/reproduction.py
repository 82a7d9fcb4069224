"""Write docs/explanations/reproduction.md from the last full run: `python benchmarks/reproduction.py [FOLDER]`.

With the folder of an `evolabel reproduce` run, its results are copied first. A test compares the page with them.
"""

import shutil
import sys
from itertools import product
from pathlib import Path

from evolabel.reproduce import ReproductionResults, tables, verdicts
from evolabel.reproduce.experiments import EXPERIMENTS
from evolabel.reproduce.methods import METHODS, PROFILES, Profile
from evolabel.reproduce.page import by_claim
from evolabel.reproduce.results import RESULTS_FILE, TIMES_FILE, Task
from evolabel.reproduce.tables import ReportTable
from evolabel.words.markup import table

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "explanations" / "reproduction.md"
KEPT = Path(__file__).parent / "results" / "reproduce"
END = "<!-- end -->"


def verdict_table(results: ReproductionResults) -> str:
    """A Markdown table of every claim in `results` with its verdicts and why one does not hold."""
    rows = []
    for claim, found in by_claim(verdicts(results)):
        cells = [
            f"**{verdict.ruling}**: {verdict.measured}" if (verdict := found.get(profile)) else "not in this profile"
            for profile in PROFILES
        ]
        why = reasons({profile: verdict.explanation for profile, verdict in found.items() if verdict.explanation})
        rows.append([EXPERIMENTS[claim.experiment].label, f"{claim.statement} ({claim.holds_if})", *cells, why])
    return table(["where", "the paper says (holds if)", "`paper()`", "default", "why it does not hold"], rows)


def reasons(by_profile: dict[Profile, str]) -> str:
    """The explanations `by_profile`, each with the name of its profile unless both are the same."""
    if len(by_profile) == 2 and len(set(by_profile.values())) == 1:
        return by_profile["paper"]
    names = {"paper": "`paper()`", "default": "default"}
    return "<br>".join(f"{names[profile]}: {why}" for profile, why in by_profile.items())


def left_out(results: ReproductionResults) -> str:
    """A sentence that names the runs missing in `results`, whose time is not in the table; "" if none is missing."""
    missing: dict[str, list[str]] = {}
    for experiment in EXPERIMENTS.values():
        for panel, method in product(experiment.panels, experiment.methods):
            tasks = [Task(panel.dataset, profile, method) for profile in METHODS[method].profiles]
            if experiment.kind == "trend lines" and panel.dataset in results.sizes:
                absent = [task.profile for task in tasks if task not in results.runs]
                if absent:
                    missing[f"{METHODS[method].title} on {panel.dataset}"] = absent
    text = "; ".join(f"{what} ({' and '.join(profiles)})" for what, profiles in missing.items())
    return f"\n\nNot run for this page, and not in the table: {text}." if missing else ""


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
    "counts": counts,
    "verdicts": verdict_table,
    "sizes": lambda results: markdown(tables.sizes_table(results)),
    "cpu": lambda results: f"{markdown(tables.cpu_table(results))}{left_out(results)}",
    "times": lambda results: markdown(tables.times_table(results)),
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
