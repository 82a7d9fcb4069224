"""The tables of docs/experiments.md, from experiments/results/study.json; `make readme` writes them."""

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from pairing import METRICS, default_row, gap_row, short, verdict
from study_sets import DRIFTS, FIVE, FURTHER
from variants import DEFAULT, PARTS

RESULTS = Path(__file__).parent / "results"
GROUPS: dict[str, tuple[str, ...]] = {"five sets": FIVE, "further sets": tuple(FURTHER), "drifts": DRIFTS}


@cache
def results(name: str) -> Any:
    """What a script of this folder has written."""
    return json.loads((RESULTS / f"{name}.json").read_text())


def markdown(heads: Sequence[str], rows: list[list[str]]) -> str:
    """A table."""
    return "\n".join(f"| {' | '.join(line)} |" for line in [list(heads), ["---"] * len(heads), *rows])


def differences(part: str, sets: Sequence[str]) -> str:
    """The default in absolute numbers, the variants of a part as paired differences."""
    runs = results("study")
    rows = [[DEFAULT, *default_row(runs[DEFAULT], list(sets))]]
    rows += [[f"`{name}`" if "=" in name else name, *_gaps(name, sets)] for name in PARTS[part] if name in runs]
    return markdown(["PA / AP", *sets, "mean"], rows)


def _gaps(name: str, sets: Sequence[str]) -> list[str]:
    runs = results("study")
    return gap_row(runs[name], runs[DEFAULT], list(sets))


def learners() -> str:
    """Default and rivals in absolute numbers on sets that had no part in choosing the defaults; the best bold."""
    runs = results("study")
    names, sets = [DEFAULT, *PARTS["rivals"]], [*FURTHER, *DRIFTS]
    rows = []
    for name in sets:
        cells = []
        for metric in METRICS:
            means = {one: f"{np.mean(runs[one][name][metric]):.3f}" for one in names if name in runs[one]}
            best = max(means.values())
            cells.append({one: f"**{mean}**" if mean == best else mean for one, mean in means.items()})
        rows.append([name, *(f"{cells[0][one]} / {cells[1][one]}" if one in cells[0] else "not run" for one in names)])
    return markdown(["PA / AP", *names], rows)


def neighbours() -> str:
    """Mean differences by group of sets, and where a change is beyond noise."""
    rows = []
    for name in PARTS["neighbours"]:
        found = [verdict(results("study")[name], results("study")[DEFAULT], list(sets)) for sets in GROUPS.values()]
        better, worse = (sum(len(group[side]) for group in found) for side in ("better", "worse"))
        means = [" / ".join(short(value) for value in group["mean"]) for group in found]
        rows.append([f"`{name}`", *means, str(better), str(worse)])
    return markdown(["PA / AP", *GROUPS, "better*", "worse*"], rows)


def speed() -> str:
    """Microseconds per sample of local models of low rank."""
    found = results("low_rank_speed")
    names = list(next(iter(found.values())))
    rows = [[name, *(f"{times[one]:.0f}" for one in names)] for name, times in found.items()]
    return markdown(["us per sample", *names], rows)


TABLES: dict[str, Callable[[], str]] = {
    "STUDY_ABLATION": lambda: differences("ablation", FIVE),
    "STUDY_STRUCTURE": lambda: differences("structure", FIVE),
    "STUDY_KERNEL_LIKE": lambda: differences("kernel-like", FIVE),
    "STUDY_MARKS": lambda: differences("marks", FIVE),
    "STUDY_PENALTIES": lambda: differences("penalties", FIVE),
    "STUDY_LOW_RANK": lambda: differences("low-rank", FIVE),
    "STUDY_LOW_RANK_SPEED": speed,
    "STUDY_COLD": lambda: differences("cold", FIVE),
    "STUDY_NOMINAL": lambda: differences("nominal", ("birds", "solar-flare")),
    "STUDY_DRIFT": lambda: differences("drift", DRIFTS),
    "STUDY_LEARNERS": learners,
    "STUDY_NEIGHBOURS": neighbours,
}
