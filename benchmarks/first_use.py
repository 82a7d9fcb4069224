"""Processor seconds of the first calls on a machine, kernels compiled: an empty cache, one process, one thread.

    python benchmarks/first_use.py                      # writes benchmarks/results/first_use.json

For each profile, one process imports, fits, predicts, learns on, answers one row and makes a query. Another one runs
the first two code blocks of README.md as one script. On a machine that is busy with other work processor seconds are
larger, by up to a half.
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

import result_files

ROOT = Path(__file__).resolve().parent.parent
THREADS = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")
PARTS = ("default", "paper", "readme")


def main() -> None:
    """Measure every part in a process of its own with an empty cache; print and write the seconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", choices=PARTS, help=argparse.SUPPRESS)  # in the process of one part
    options = parser.parse_args()
    if options.measure:
        sys.stdout.write(json.dumps(readme() if options.measure == "readme" else calls(options.measure)))
        return
    found = {part: measured(part) for part in PARTS}
    for part, seconds in found.items():
        print(part, seconds)
    result_files.write("first_use", found)


def measured(part: str) -> dict[str, float]:
    """The seconds of one part, in a process with an empty cache and an empty working folder."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
        env = {**os.environ, **THREADS, "NUMBA_CACHE_DIR": folder, "PYTHONPATH": source}
        command = [sys.executable, str(Path(__file__).resolve()), "--measure", part]
        done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


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


def timed(call: Callable[[], object]) -> float:
    """Processor seconds of a call."""
    start = time.process_time()
    call()
    return round(time.process_time() - start, 1)


if __name__ == "__main__":
    main()
