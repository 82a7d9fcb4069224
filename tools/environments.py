"""Environments of Python outside the checkout, for the tools that build and try a release."""

import os
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_SCRIPTS = "Scripts" if os.name == "nt" else "bin"


def new_environment(python: Path, place: Path) -> Path:
    """Make an empty environment of `python` in the folder `place`, and return its Python."""
    run([python, "-m", "venv", place], place.parent)
    return place / _SCRIPTS / "python"


def install(python: Path, *packages: str) -> None:
    """Install `packages` into the environment of `python`."""
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--constraint"]
    run([*command, _ROOT / "constraints.txt", *packages], python.parent)


def run(command: list[str | Path], folder: Path) -> str:
    """Return what `command` prints when it runs in `folder`, without the checkout on its path."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    env["NUMBA_CACHE_DIR"] = str(folder / "kernels")
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words[:4])} ... failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout
