"""Processor seconds of the first calls on a machine, which compile kernels, and of a later start: one thread.

    python benchmarks/first_use.py                      # writes benchmarks/results/first_use.json
    python benchmarks/first_use.py --wheel dist/FILE    # the platform wheel alone, added to that file
    python benchmarks/first_use.py --ready              # `evolabel ready` alone, added to that file

For each profile, one process with an empty cache imports, fits, predicts, learns on, answers one row and makes a query.
Another one runs the first two code blocks of README.md as one script. "later" is a second process that uses the kernels
of the default profile, from the import to the first prediction. "wheel" is the same with a platform wheel
(`tools/platform_wheel.py`) in a new environment, and an empty cache that has to stay empty. "ready" is `evolabel ready`
on all cores and on one, with an empty cache each: processor seconds of all its processes, and the clock. On a machine
that is busy with other work processor seconds are larger, by up to a half.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shared import result_files

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tools"))
from environments import install, new_environment, run

THREADS = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")
PARTS = ("default", "paper", "readme", "later")


def main() -> None:
    """Measure every part in a process of its own with an empty cache; print and write the seconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", choices=PARTS, help=argparse.SUPPRESS)  # in the process of one part
    parser.add_argument("--wheel", type=Path, help="a wheel with machine code")
    parser.add_argument("--ready", action="store_true", help="compile everything, on all cores and on one")
    options = parser.parse_args()
    if options.measure:
        parts = {"readme": readme, "later": later_start}
        sys.stdout.write(json.dumps(parts.get(options.measure, lambda: calls(options.measure))()))
        return
    if options.wheel:
        found = {**result_files.read_if_any("first_use", {}), "wheel": first_use_of_wheel(options.wheel.resolve())}
    elif options.ready:
        cores = os.sched_getaffinity(0)
        ready = {f"{len(used)} cores": ready_on(used) for used in (cores, {min(cores)})}
        found = {**result_files.read_if_any("first_use", {}), "ready": ready}
    else:
        found = measured("default", "later") | measured("paper") | measured("readme")
    for part, seconds in found.items():
        print(part, seconds)
    result_files.write("first_use", found)


def measured(*parts: str) -> dict[str, dict[str, float]]:
    """The seconds of parts, each in a process of its own; the first has an empty cache, which the others then use."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        source = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
        env = {**os.environ, **THREADS, "NUMBA_CACHE_DIR": folder, "PYTHONPATH": source}
        for part in parts:
            command = [sys.executable, str(Path(__file__).resolve()), "--measure", part]
            done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, check=True)
            found[part] = dict(json.loads(done.stdout.splitlines()[-1]))
    return found


def first_use_of_wheel(wheel: Path) -> dict[str, float]:
    """Return the seconds from the import to the first prediction with `wheel` in a new environment."""
    with tempfile.TemporaryDirectory() as folder:
        python = new_environment(Path(sys.executable), Path(folder, "env"))
        install(python, str(wheel))
        found = json.loads(run([python, Path(__file__).resolve(), "--measure", "later"], Path(folder)))
        if compiled := list(Path(folder).rglob("kernels/**/*.nbi")):
            sys.exit(f"{len(compiled)} kernels were compiled")
    return dict(found)


def ready_on(cores: set[int]) -> dict[str, float]:
    """Return the seconds of `evolabel ready` with an empty cache on these `cores`."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "NUMBA_CACHE_DIR": folder, "PYTHONPATH": str(ROOT / "src")}
        before, start, usable = os.times(), time.perf_counter(), os.sched_getaffinity(0)
        os.sched_setaffinity(0, cores)
        try:
            subprocess.run([sys.executable, "-m", "evolabel", "ready"], env=env, capture_output=True, check=True)
        finally:
            os.sched_setaffinity(0, usable)
        after, wall = os.times(), time.perf_counter() - start
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return {"processor": round(spent, 1), "wall": round(wall, 1)}


def calls(profile: str) -> dict[str, float]:
    """Seconds of the first call of each kind."""
    seconds = {"import": timed(lambda: __import__("evolabel.active"))}

    import numpy as np

    from evolabel import EvolvingFuzzyClassifier
    from evolabel.active import ActiveLearner

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    Y = (X[:, :3] + rng.normal(size=(300, 3)) > 0.0).astype(float)
    clf = EvolvingFuzzyClassifier() if profile == "default" else EvolvingFuzzyClassifier.paper()
    seconds["fit"] = timed(lambda: clf.fit(X[:100], Y[:100]))
    seconds["predict"] = timed(lambda: clf.predict(X[:100]))
    seconds["partial_fit"] = timed(lambda: clf.partial_fit(X[100:200], Y[100:200]))
    seconds["predict one row"] = timed(lambda: clf.predict_proba(X[:1]))
    seconds["query"] = timed(lambda: ActiveLearner(clf, 0.1).query(X[0]))
    return {**seconds, "sum": round(sum(seconds.values()), 1)}


def readme() -> dict[str, float]:
    """Seconds of the first two code blocks of README.md."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    code = compile("\n".join(blocks[:2]), "README.md", "exec")
    return {"two code blocks": timed(lambda: exec(code, {}))}


def later_start() -> dict[str, float]:
    """Seconds of the imports, and from them to the first prediction."""

    def load() -> None:
        from evolabel import EvolvingFuzzyClassifier
        from evolabel.streams import DriftingStream

        parts.update(make=EvolvingFuzzyClassifier, rows=DriftingStream(seed=0).take(1000))

    parts: dict[str, Any] = {}
    start = time.perf_counter()
    seconds = {"import": timed(load)}
    X, Y = parts["rows"]
    seconds["first prediction"] = timed(lambda: parts["make"]().partial_fit(X[:200], Y[:200]).predict(X))
    return {**seconds, "sum": round(sum(seconds.values()), 1), "wall": round(time.perf_counter() - start, 1)}


def timed(call: Callable[[], object]) -> float:
    """Processor seconds of a call."""
    start = time.process_time()
    call()
    return round(time.process_time() - start, 1)


if __name__ == "__main__":
    main()
