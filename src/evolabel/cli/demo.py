"""`evolabel demo`: a plant is learned beside rivals; a page shows what was found beside the truth."""

import json as json_format
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from threadpoolctl import threadpool_limits

from evolabel.cli.output import (
    Force,
    Quiet,
    check_folder,
    check_overwriting,
    empty_table,
    print_json,
    print_message,
    print_table,
)
from evolabel.cli.ready import compile_kernels
from evolabel.demo.learning import Learned, found_rules, learn_plant
from evolabel.demo.rivals import MOST_SECONDS, RIVALS, measured, read_standing
from evolabel.demo.standing import SAMPLES, SCORED_FROM, Standing, standing
from evolabel.streams import Dataset, PlantStream, write_dataset
from evolabel.streams.synthetic.plant import plant_changes, truths

_FILES = ("report.html", "model.safetensors", "plant.npz")


def demo(*, out: Path = Path("demo"), force: Force = False, json: bool = False, quiet: Quiet = False) -> None:
    """Learn a plant with known faults beside other learners, and write a page of what was found.

    Three pumps with four sensors have three faults, one of them rare. A limit falls at row 1,200, and from row
    1,800 on a gauge reads too high. The page has the rules that were found beside the conditions that made the
    faults, what changed and when it was reported, one explained alarm, and scores with their ranges. The rivals,
    river's adaptive random forest and logistic regression and boosted trees that are refitted, run in a second
    process; a rival that takes more than 20 seconds has the scores of an earlier run, and the page states so.

    Example: `evolabel demo --out demo`

    Parameters
    ----------
    out
        Folder for the page, the model and the rows.
    json
        Print what was found and all scores as JSON.
    """
    check_overwriting((out / file for file in _FILES), force=force)
    check_folder(out)
    compile_kernels(quiet=quiet or json)
    rivals = _start_rivals()
    rows = PlantStream().dataset(SAMPLES)
    console = Console(stderr=True)
    with threadpool_limits(1), Progress(console=console, disable=quiet or json or not console.is_terminal) as bars:
        bar = bars.add_task("evolabel learns the plant", total=len(rows) - SCORED_FROM)
        learned = learn_plant(rows, lambda done: bars.advance(bar, done))
    ours = standing("evolabel", learned.decided, rows.Y[SCORED_FROM:], learned.seconds)
    standings = [ours, *_rival_standings(rivals), *_simple(rows)]
    from evolabel.demo.page import write_demo_page

    page = write_demo_page(rows, learned, standings, out)
    learned.classifier.save(out / _FILES[1])
    write_dataset(rows, out / _FILES[2])
    if json:
        print_json(_document(learned, standings))
    else:
        _print(learned, standings)
    print_message(f"Report: {page}")


def _start_rivals() -> subprocess.Popen[str] | None:
    """Start the rivals in a second process; None with a message if river is not installed."""
    if find_spec("river") is None:
        print_message("river is not installed, so its learners do not run; their scores are those of an earlier run")
        return None
    return subprocess.Popen([sys.executable, "-m", "evolabel.demo.rivals"], stdout=subprocess.PIPE, text=True)


def _rival_standings(rivals: subprocess.Popen[str] | None) -> list[Standing]:
    """Return the scores of all rivals: those that the process `rivals` prints, else those of an earlier run."""
    printed: dict[str, Any] = {}
    if rivals is not None:
        for line in rivals.communicate()[0].splitlines():
            printed.update(json_format.loads(line))
    stored = measured()
    return [
        read_standing(printed[name])
        if printed.get(name)
        else stored[name]._replace(note=f"of an earlier run: it takes more than {MOST_SECONDS:g} s")
        for name in RIVALS
    ]


def _simple(rows: Dataset) -> list[Standing]:
    """Return the scores of predicting no fault, and of predicting the faults of the row before, on `rows`."""
    Y = rows.Y[SCORED_FROM:]
    before = rows.Y[SCORED_FROM - 1 : -1] > 0.5
    return [standing("no fault", np.zeros(Y.shape, bool), Y, 0.0), standing("as the row before", before, Y, 0.0)]


def _print(learned: Learned, standings: list[Standing]) -> None:
    """Print what was `learned`, beside the truth, and the `standings`."""
    found = found_rules(learned.classifier)
    lines = ["What makes each fault, and what was found"]
    for label, truth in truths().items():
        lines += [f"  {label}: {truth}", *(f"    found: {rule}" for rule in found.get(label, ["nothing yet"]))]
    lines.append("What changed, and what was reported")
    lines += [f"  row {row:,}: {change}" for row, change in plant_changes().items()]
    lines += [f"    {event}" for event in learned.shifts if event.sample >= min(plant_changes())]
    sys.stdout.write("\n".join(lines) + "\n")
    table = empty_table(f"{SAMPLES - SCORED_FROM:,} rows, each predicted before it was learned", _HEADS)
    for one in standings:
        ranges = [f"{score.value:.3f} ({score.low:.3f} to {score.high:.3f})" for score in (one.macro_f1, one.accuracy)]
        table.add_row(one.name, *ranges, f"{one.ms_per_row:.2f}", one.note)
    print_table(table)


_HEADS = ("learner", "macro F1", "labels that are right", "ms per row", "")


def _document(learned: Learned, standings: list[Standing]) -> dict[str, Any]:
    """Return what was `learned` and the `standings` as values for JSON."""
    return {
        "truth": truths(),
        "rules": found_rules(learned.classifier),
        "changes": {str(row): change for row, change in plant_changes().items()},
        "reported": [str(event) for event in learned.shifts],
        "learners": [one._asdict() for one in standings],
    }
