"""`evolabel reproduce`: the paper's experiments in one command."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from evolabel.cli.output import Quiet, check_folder, empty_table, print_json, print_message, print_table, write_json
from evolabel.cli.ready import compile_kernels
from evolabel.cli.source import open_source, split_names
from evolabel.errors import DatasetNotFoundError, ParameterError
from evolabel.evaluate.source import initial_rows
from evolabel.paper.reproduce import (
    FULL,
    QUICK,
    ReproductionResults,
    chosen_experiments,
    reproduce,
    verdicts,
    write_page,
)
from evolabel.paper.reproduce.claims import Verdict
from evolabel.paper.reproduce.experiments import MEDIAMILL
from evolabel.paper.reproduce.page import by_claim
from evolabel.streams import Dataset

_SETS = "birds,emotions,water-quality,yeast"
_QUICK_SETS = f"{_SETS},mediamill-5k"
_STAND_INS = {"mediamill-5k": MEDIAMILL}  # its first rows, which take less time


def reproduce_paper(
    what: str = "all",
    *,
    sets: str | None = None,
    quick: bool = False,
    seed: int = 0,
    jobs: int = 2,
    out: Path = Path("reproduction"),
    json: bool = False,
    quiet: Quiet = False,
) -> None:
    """Run the paper's experiments and check each of its claims.

    Every method is tuned on the initial batch (the official training part, or the first third) and then predicts and
    learns the rest. The same command continues an interrupted run.

    For example:

    `evolabel reproduce --quick`

    `evolabel reproduce fig7 --sets mediamill --out mediamill`

    Parameters
    ----------
    what
        A figure or table of the paper with experiments in it (table1, fig4 to fig11, table2), or all.
    sets
        Names of data sets or files, separated by commas; the paper's without mediamill, which takes long, if not given.
        mediamill-5k stands for mediamill's first rows. Other sets join the paper's four.
    quick
        A run of minutes: few rows of each set, small grids.
    seed
        Random seed of folds and random selections.
    jobs
        Number of processes for tuning and running; -1 for all cores. Times are measured in one process, alone.
    out
        Folder for report.html, the figures, results.json, times.json and verdicts.json.
    json
        Print the verdicts as JSON instead of a table.
    """
    experiments = chosen_experiments(what)
    if jobs != -1 and jobs < 1:
        raise ParameterError(f"--jobs {jobs} is not allowed; use at least 1, or -1 for all cores")
    if seed < 0:
        raise ParameterError(f"--seed {seed} is not allowed; use 0 or more")
    names = split_names((_QUICK_SETS if quick else _SETS) if sets is None else sets)
    datasets, skipped = _opened(names)
    for line in skipped:
        print_message(line)
    check_folder(out)
    compile_kernels(quiet=quiet or json)
    console = Console(stderr=True)
    columns = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False)
    hidden = quiet or json or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task("tuning", total=None)

        def show(name: str, done: int, total: int) -> None:
            bar.update(task, description=name, completed=done, total=total)

        size = QUICK if quick else FULL
        results = reproduce(experiments, datasets, out, run_size=size, seed=seed, jobs=jobs, progress=show)
    page = write_page(results, experiments, out, skipped)
    shown = {experiment.key for experiment in experiments}
    found = [verdict for verdict in verdicts(results) if verdict.claim.experiment in shown]
    write_json(out / "verdicts.json", _plain(found))
    if json:
        print_json(_plain(found))
    else:
        _print(found, results)
    print_message(f"Report: {page}")


def _opened(names: tuple[str, ...]) -> tuple[dict[str, Dataset], list[str]]:
    """Return the data sets by the paper's names with the paper's splits, and a message for each that is missing."""
    if not names:
        raise ParameterError("--sets names no data set; `evolabel datasets` lists them")
    datasets: dict[str, Dataset] = {}
    skipped: list[str] = []
    for name in names:
        try:
            source = open_source(name, protocol="paper")
        except DatasetNotFoundError as error:
            skipped.append(f"{name} is left out: {error}")
            continue
        stream = source.stream(0)
        split = initial_rows(source.initial, stream, len(stream))
        datasets[_STAND_INS.get(source.name, source.name)] = replace(stream, split=split)
    if not datasets:
        raise DatasetNotFoundError(f"no data set was found: {'; '.join(skipped)}")
    return datasets, skipped


def _plain(found: list[Verdict]) -> list[dict[str, Any]]:
    return [
        {
            "claim": verdict.claim.key,
            "where": verdict.claim.experiment,
            "paper": verdict.claim.statement,
            "holds if": verdict.claim.holds_if,
            "profile": verdict.profile,
            "verdict": verdict.ruling,
            "measured": verdict.measured,
            "explanation": verdict.explanation,
        }
        for verdict in found
    ]


def _print(found: list[Verdict], results: ReproductionResults) -> None:
    quick = ", quick run" if results.settings["run_size"] == QUICK.name else ""
    table = empty_table(f"Claims of the paper, and results{quick}", ["where", "the paper says", "paper()", "default"])
    for claim, verdict in by_claim(found):
        cells = (f"{v.ruling}: {v.measured}" if (v := verdict.get(p)) else "" for p in ("paper", "default"))
        table.add_row(claim.experiment, claim.statement, *cells)
    print_table(table)
