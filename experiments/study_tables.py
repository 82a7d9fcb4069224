"""The tables of docs/explanations/experiments.md, from experiments/results/study.json; `make readme` writes them."""

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from pairing import METRICS, Scores, default_row, gap_row, short, verdict
from study_sets import DRIFTS, FIVE, FURTHER
from variants import DEFAULT, PARTS

from evolabel.words.markup import table

RESULTS = Path(__file__).parent / "results"
GROUPS: dict[str, tuple[str, ...]] = {"five sets": FIVE, "further sets": tuple(FURTHER), "drifts": DRIFTS}


@cache
def results(name: str) -> Any:
    """What a script of this folder has written."""
    return json.loads((RESULTS / f"{name}.json").read_text())


def differences(part: str, sets: Sequence[str]) -> str:
    """The default in absolute numbers, the variants of a part as paired differences."""
    default = results("study")[DEFAULT]
    rows = [[DEFAULT, *default_row(default, list(sets))]]
    rows += [[_code(name), *gap_row(scores, default, list(sets))] for name, scores in _run(part, sets).items()]
    return table(["PA / AP", *sets, "mean"], rows)


def differences_by_set(part: str, sets: Sequence[str]) -> str:
    """The same with a row for each set, where there are many."""
    default, found = results("study")[DEFAULT], _run(part, sets)
    columns = [default_row(default, list(sets)), *(gap_row(scores, default, list(sets)) for scores in found.values())]
    rows = [[name, *cells] for name, *cells in zip([*sets, "mean"], *columns, strict=True)]
    return table(["PA / AP", DEFAULT, *map(_code, found)], rows)


def _run(part: str, sets: Sequence[str]) -> dict[str, Scores]:
    """The variants of a part that were run on any of the sets."""
    runs = results("study")
    return {name: runs[name] for name in PARTS[part] if any(one in runs.get(name, {}) for one in sets)}


def _code(name: str) -> str:
    return f"`{name}`" if "=" in name and " " not in name.split("=")[0] else name


def learners() -> str:
    """Default, its best variant and rivals on sets that were not used to choose the defaults; the best is bold."""
    runs = results("study")
    names, sets = [DEFAULT, "local ridge by LOO", *PARTS["rivals"]], [*FURTHER, *DRIFTS]
    rows = []
    for name in sets:
        cells = []
        for metric in METRICS:
            means = {one: f"{np.mean(runs[one][name][metric]):.3f}" for one in names if name in runs[one]}
            best = max(means.values())
            cells.append({one: f"**{mean}**" if mean == best else mean for one, mean in means.items()})
        rows.append([name, *(f"{cells[0][one]} / {cells[1][one]}" if one in cells[0] else "not run" for one in names)])
    return table(["PA / AP", *names], rows)


def neighbours() -> str:
    """Mean differences by group of sets, and how often a change is beyond noise."""
    default, rows = results("study")[DEFAULT], []
    for name, scores in _run("neighbours", DRIFTS).items():
        groups = [[one for one in sets if one in scores] for sets in GROUPS.values()]
        found = [verdict(scores, default, sets) if sets else None for sets in groups]
        means = [" / ".join(map(short, group["mean"])) if group else "not run" for group in found]
        counts = [sum(len(group[side]) for group in found if group) for side in ("better", "worse")]
        rows.append([_code(name), *means, *map(str, counts)])
    return table(["PA / AP", *GROUPS, "better*", "worse*"], rows)


def against_default(file: str) -> str:
    """One variant of a file of its own beside the default it was run with, set by set."""
    runs = results(file)
    (name,) = [one for one in runs if one != DEFAULT]
    sets = [one for one in (*FIVE, *FURTHER, *DRIFTS) if one in runs[name]]
    columns = default_row(runs[DEFAULT], sets), gap_row(runs[name], runs[DEFAULT], sets)
    rows = [list(row) for row in zip([*sets, "mean"], *columns, strict=True)]
    return table(["PA / AP", DEFAULT, _code(name)], rows)


def speed() -> str:
    """Microseconds per sample of local models of low rank."""
    found = results("low_rank_speed")
    names = list(next(iter(found.values())))
    rows = [[name, *(f"{times[one]:.0f}" for one in names)] for name, times in found.items()]
    return table(["us per sample", *names], rows)


TABLES: dict[str, Callable[[], str]] = {
    "STUDY_ABLATION": lambda: differences("ablation", FIVE),
    "STUDY_LOCAL_PRESS": lambda: differences("local-press", FIVE),
    "STUDY_LOCAL_PRESS_ELSEWHERE": lambda: differences_by_set("local-press", (*FURTHER, *DRIFTS)),
    "STUDY_FRESH": lambda: against_default("study_fresh"),
    "STUDY_STRUCTURE": lambda: differences("structure", FIVE),
    "STUDY_KERNEL_LIKE": lambda: differences("kernel-like", FIVE),
    "STUDY_MARKS": lambda: differences("marks", FIVE),
    "STUDY_PENALTIES": lambda: differences("penalties", FIVE),
    "STUDY_LOW_RANK": lambda: differences("low-rank", FIVE),
    "STUDY_LOW_RANK_SPEED": speed,
    "STUDY_COLD": lambda: differences("cold", FIVE),
    "STUDY_NOMINAL": lambda: differences("nominal", ("birds", "solar-flare")),
    "STUDY_DRIFT": lambda: differences("drift", DRIFTS),
    "STUDY_DRIFT_LOO": lambda: differences("local-press-neighbours", DRIFTS),
    "STUDY_LEARNERS": learners,
    "STUDY_NEIGHBOURS": neighbours,
}
