"""Whether two commits compute the same: outputs of many public calls, compared bit for bit.

    python benchmarks/same_bits.py BEFORE [AFTER]         # AFTER is HEAD by default; "." is the checkout as it lies

Both commits are checked out into a temporary folder, and `same_bits_calls.py` of this checkout runs with the code of
each, in a process of its own, both at a time in the same environment. Prints how many outputs of each group were
compared and differ; exit code 1 if one differs or could not be compared. Nothing is stored: bits differ between
processors and libraries.
"""

import argparse
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
from shared.commits import ROOT, checked_out, run_with

RENAMED_PARTS = {
    "late": "n_pending",
    "late_H": "pending_H",
    "late_P": "pending_P",
    "late_M": "pending_M",
    "fresh": "new_weight",
    "strange": "winner_stats",
    "tally": "counters",
    "won": "last_won",
    "answers": "n_answers",
    "annotated": "feedback.n_initial",
    "carried": "feedback.n_initial_positive",
    "echo_evidence": "feedback.evidence",
    "filter": "selector",
    "experience": "context",
    "echo": "feedback",
    "newcomers": "new_labels",
    "silence": "penalty",
    "heard": "answered",
}
"""Parts of the keys of arrays in model files, which are joined by dots: what they were called before -> now."""

DROPPED_KEYS: tuple[str, ...] = (
    "active.experience.echo.rates",  # follows from `n_initial` and `n_initial_positive`
    "rules.fresh",  # of an option that is gone
    "rules.new_weight",
)
"""Keys of arrays in model files that only the code from before writes."""

PAPER_KEYS = re.compile(r".*/file: (rules|change\.\d+)\.(F|ybar|Q|mass|top|compared)")
"""Keys of arrays in model files that every model had before, and only those of the paper's formulas have."""

ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")
_FILE = "file: "  # names of outputs that are arrays of a model file

Outputs = dict[str, np.ndarray]


def main() -> None:
    """Run the calls with both commits, print the table, and end with exit code 1 if outputs differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after", nargs="?", default="HEAD")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folders = Path(folder) / "before", Path(folder) / "after"
        with ThreadPoolExecutor(2) as pool:
            before, after = pool.map(outputs_of, (options.before, options.after), folders)
    before = {renamed(name, after): value for name, value in before.items()}
    report(before, after)


def outputs_of(commit: str, folder: Path) -> Outputs:
    """Return the outputs of all calls with the code of `commit`, which is checked out into `folder`."""
    checkout = ROOT if commit == "." else checked_out(commit, folder)
    archive = folder.with_suffix(".npz")
    run_with(checkout, "same_bits_calls.py", [str(archive)], **ONE_THREAD)
    with np.load(archive) as stored:
        return dict(stored)


def renamed(name: str, after: Outputs) -> str:
    """Return the name that the output `name` from before has in `after`; `name` itself where there is none."""
    group, key = name.split("/", 1)
    if not key.startswith(_FILE):
        return name
    parts = [(part, *([RENAMED_PARTS[part]] if part in RENAMED_PARTS else [])) for part in key[len(_FILE) :].split(".")]
    candidates = [f"{group}/{_FILE}{'.'.join(chosen)}" for chosen in product(*parts)]
    return next((candidate for candidate in candidates if candidate in after), name)


def report(before: Outputs, after: Outputs) -> None:
    """Print how many outputs of each group are the same, and each one that is not."""
    dropped = tuple(f"/{_FILE}{key}" for key in DROPPED_KEYS)
    added = {name for name in after if name not in before and f"/{_FILE}" in name}
    names = [name for name in {**before, **after} if name not in added and not name.endswith(dropped)]
    names = [name for name in names if name in after or not PAPER_KEYS.fullmatch(name)]
    troubles = {name: trouble(name, before, after) for name in names}
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name.split("/", 1)[0], []).append(name)
    print(f"{'outputs of':40}{'compared':>10}{'differ':>10}")
    for group, members in {**groups, "all": names}.items():
        print(f"{group:40}{len(members):10}{sum(bool(troubles[name]) for name in members):10}")
    found = {name: why for name, why in troubles.items() if why}
    for name, why in found.items():
        print(f"{name}: {why}")
    if added:
        print(f"only after, not compared: {', '.join(sorted(added))}")
    sys.exit(bool(found))


def trouble(name: str, before: Outputs, after: Outputs) -> str:
    """Return why the output `name` is not the same, or nothing."""
    for which, outputs, others in (("before", before, after), ("after", after, before)):
        if name.endswith("/error") and name in outputs:
            return f"{which}: {outputs[name]}"
        if name not in outputs:
            alike = [n for n in outputs if n not in others and same(others[name], outputs[n])]
            hint = f"; the same bits are in {', '.join(alike)}" if alike and others[name].size else ""
            return f"missing {which}{hint}"
    old, new = before[name], after[name]
    if same(old, new):
        return ""
    if old.shape != new.shape or old.dtype != new.dtype:
        return f"{old.dtype} of shape {old.shape} before, {new.dtype} of shape {new.shape} after"
    unequal = ~((old == new) | ((old != old) & (new != new)))
    by = f", by {np.nanmax(np.abs(old - new)):.3g} at most" if old.dtype.kind == "f" and unequal.any() else ""
    return f"{unequal.sum()} of {old.size} values differ{by}"


def same(old: np.ndarray, new: np.ndarray) -> bool:
    """Return whether two arrays have the same type, shape and bits."""
    return old.dtype == new.dtype and old.shape == new.shape and old.tobytes() == new.tobytes()


if __name__ == "__main__":
    main()
