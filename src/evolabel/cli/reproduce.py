"""`evolabel reproduce`: the paper's experiments in one command."""

import os
from dataclasses import replace
from functools import partial
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
    QUICK,
    ReproductionResults,
    chosen_experiments,
    reproduce,
    verdicts,
    write_page,
)
from evolabel.paper.reproduce.claims import Verdict
from evolabel.paper.reproduce.data import PRINTED_SIZES, load_paper_set
from evolabel.paper.reproduce.experiments import MEDIAMILL, SMALL_SETS
from evolabel.paper.reproduce.page import by_claim
from evolabel.paper.reproduce.run_size import GRIDS, LEFT_OUT, GridName
from evolabel.streams import Dataset

_SETS = ",".join(SMALL_SETS)
_STAND_INS = {"mediamill-5k": MEDIAMILL}  # its first rows, which take less time


def reproduce_paper(
    what: str = "all",
    *,
    sets: str | None = None,
    quick: bool = False,
    grid: GridName | None = None,
    seeds: int = 1,
    jobs: int = -1,
    backend: str | None = None,
    out: Path = Path("reproduction"),
    json: bool = False,
    quiet: Quiet = False,
) -> None:
    """Run the paper's experiments and check each of its claims.

    Every method is tuned on the initial batch (the official training part, or the first third) and then predicts and
    learns the rest. The time that this takes is estimated and printed first. The same command continues an interrupted
    run.

    For example:

    `evolabel reproduce --quick`

    `evolabel reproduce all --grid full --seeds 3`

    Parameters
    ----------
    what
        A figure or table of the paper with experiments in it (table1, fig4 to fig11, table2), rules, or all.
    sets
        Names of data sets or files, separated by commas. If not given: the paper's four smaller sets, with
        mediamill where the grid is full, with its first rows where the run is quick. Other sets join the four.
    quick
        A run of minutes: few rows of each set, small grids, no runs at every vigilance.
    grid
        The values of alpha, beta and vigilance: 64 points of the paper's grid (small), or all of its 1,360 (full). If
        not given: small.
    seeds
        Number of seeds. A seed sets the order of the rows, the folds and random selections; the first keeps the paper's
        order. Claims are decided by intervals over the seeds, which need at least two. Mediamill has one.
    jobs
        Number of processes for searches and runs; -1 for all cores. Times are measured in one process, alone.
    backend
        Where these processes run: a joblib backend, such as dask (start a distributed.Client first) or ray.
    out
        Folder for report.html, the figures, results.json, times.json and verdicts.json.
    json
        Print the verdicts as JSON instead of a table.
    """
    if quick and grid is not None:
        raise ParameterError(f"--quick has its own grid of 18 points; leave out --quick or --grid {grid}")
    size = QUICK if quick else GRIDS[grid or "small"]
    experiments = [e for e in chosen_experiments(what) if not (quick and what == "all" and e.kind == "vigilances")]
    if jobs != -1 and jobs < 1:
        raise ParameterError(f"--jobs {jobs} is not allowed; use at least 1, or -1 for all cores")
    if seeds < 1:
        raise ParameterError(f"--seeds {seeds} is not allowed; use at least 1")
    if sets is None:
        sets = f"{_SETS},mediamill-5k" if quick else f"{_SETS},{MEDIAMILL}" if grid == "full" else _SETS
    datasets, skipped = _opened(split_names(sets))
    for line in (*skipped, *filter(None, [LEFT_OUT.get(size.name)])):
        print_message(line)
    check_folder(out)
    compile_kernels(quiet=quiet or json)
    console = Console(stderr=True)
    columns = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False)
    hidden = quiet or json or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task("timing some tasks", total=None)

        def show(name: str, done: int, total: int) -> None:
            bar.update(task, description=name, completed=done, total=total)

        results = reproduce(
            experiments,
            datasets,
            out,
            run_size=size,
            seeds=seeds,
            jobs=jobs,
            backend=backend,
            progress=show,
            announce=partial(_announce, jobs),
        )
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
            datasets[_STAND_INS.get(name, name)] = load_paper_set(name) if name in PRINTED_SIZES else _other(name)
        except DatasetNotFoundError as error:
            skipped.append(f"{name} is left out: {error}")
    if not datasets:
        raise DatasetNotFoundError(f"no data set was found: {'; '.join(skipped)}")
    return datasets, skipped


def _other(name: str) -> Dataset:
    """Return a data set that is not the paper's, with the split that the paper's protocol gives it."""
    source = open_source(name, protocol="paper")
    stream = source.stream(0)
    return replace(stream, split=initial_rows(source.initial, stream, len(stream)))


def _announce(jobs: int, seconds: float) -> None:
    """Print how many `seconds` of processor time are left, and what that is with `jobs` processes."""
    processes = (os.cpu_count() if jobs == -1 else jobs) or 1
    print_message(
        f"About {_minutes(seconds)} of processor time to go, {_minutes(seconds / processes)} with {processes} free "
        "cores (estimated from some of the tasks)."
    )


def _minutes(seconds: float) -> str:
    return f"{seconds / 3600:.1f} hours" if seconds >= 5400 else f"{max(seconds / 60, 1):.0f} min"


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
