"""Which modules of evolabel one row touches, call by call: what a reader has to open to follow it.

    NUMBA_DISABLE_JIT=1 python tools/walk.py [--list CALL] [--json]

Each call is made once before it is traced, so that what is imported or allocated on first use does not count. Loops run
as plain Python, because compiled ones cannot be traced.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

if os.environ.get("NUMBA_DISABLE_JIT") != "1":
    sys.exit("set NUMBA_DISABLE_JIT=1: compiled loops cannot be traced")

import evolabel
from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.streams import DriftingStream

PACKAGE = str(Path(evolabel.__file__).parent)


def main() -> None:
    """Print the number of modules, functions and nested calls of each call, or the modules of one."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--list", metavar="CALL", help="print the modules of this call")
    arguments.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = arguments.parse_args()
    found = {name: trace(prepare) for name, prepare in calls().items()}
    if chosen.list:
        print(*sorted(found[chosen.list]["modules"]), sep="\n")
        return
    rows = {name: {key: len(value) for key, value in walk.items()} for name, walk in found.items()}
    if chosen.json:
        print(json.dumps(rows))
        return
    print(f"{'call':15}{'modules':>9}{'functions':>11}")
    for name, row in rows.items():
        print(f"{name:15}{row['modules']:9}{row['functions']:11}")


def calls() -> dict[str, Callable[[], Callable[[], object]]]:
    """Return, by name, functions that prepare a call: of a classifier and a learner."""
    X, Y = DriftingStream(seed=0).take(400)
    classifier = EvolvingFuzzyClassifier().fit(X[:200], Y[:200])
    learner = ActiveLearner(EvolvingFuzzyClassifier().fit(X[:200], Y[:200]), budget=1.0)
    file = Path(tempfile.mkdtemp()) / "walk.model"
    rows = iter(range(200, 400))

    def learn() -> Callable[[], object]:
        row = next(rows)
        return lambda: classifier.partial_fit(X[row : row + 1], Y[row : row + 1])

    def update() -> Callable[[], object]:
        row = next(rows)
        query = learner.query(X[row])
        return lambda: learner.update(query, Y[row])

    return {
        "partial_fit": learn,
        "predict_proba": lambda: lambda: classifier.predict_proba(X[:1]),
        "query": lambda: lambda: learner.query(X[0]),
        "update": update,
        "explain": lambda: lambda: classifier.explain(X[0]),
        "save": lambda: lambda: classifier.save(file),
    }


def trace(prepare: Callable[[], Callable[[], object]]) -> dict[str, set[str]]:
    """Return the modules and functions of evolabel that the second call which `prepare` returns touches."""
    prepare()()
    call = prepare()
    modules, functions = set[str](), set[str]()

    def note(frame: FrameType, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(PACKAGE):
            modules.add(file[len(PACKAGE) + 1 :])
            functions.add(f"{file}:{frame.f_code.co_firstlineno}")

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return {"modules": modules, "functions": functions}


if __name__ == "__main__":
    main()
