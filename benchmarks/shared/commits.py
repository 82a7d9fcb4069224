"""Two commits side by side: both are checked out into a folder, and scripts run with the code of one or the other."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def checked_out(commit: str, folder: Path) -> Path:
    """Check out the files of `commit` into a new folder below `folder`, and return its path."""
    folder.mkdir()
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", commit], capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
    return folder


def run_with(checkout: Path, script: str, arguments: Sequence[str] = (), **environment: str) -> str:
    """What `script` of this folder prints with `arguments`, in a process that imports the code of `checkout`."""
    command = [sys.executable, str(ROOT / "benchmarks" / script), *arguments]
    env = {**os.environ, **environment, "PYTHONPATH": str(checkout / "src")}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{script} failed with the code in {checkout}:\n{done.stderr}")
    return done.stdout
