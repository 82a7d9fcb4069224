"""Whether the source keeps the limits of `house_limits.toml`, and whether no limit was loosened since the merge base.

    python tools/check_house.py [COMMIT]

COMMIT is what the limits are compared with; by default the merge base with the branch `main`, or the commit before
this one where the two are the same. Without a git history, or where that commit has no limits yet, only the source is
measured. Only the standard library; nothing of the library is imported.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import house_table

_ROOT = Path(__file__).resolve().parent.parent
_LIMITS = "tools/house_limits.toml"


def main(arguments: list[str]) -> None:
    """Measure the source and compare limits; `arguments` may name the commit to compare with. Exits with 1 or 0."""
    source = _ROOT / "src" / "evolabel"
    options = [f"evolabel={source}", f"kernels={source / 'stages'}", "--limits", str(_ROOT / _LIMITS)]
    before = _git("show", f"{arguments[0] if arguments else _base()}:{_LIMITS}")
    with tempfile.TemporaryDirectory() as folder:
        if before:
            older = Path(folder) / "before.toml"
            older.write_text(before, encoding="utf-8")
            options += ["--before", str(older)]
        house_table.main(options)


def _base() -> str:
    """Return the commit that limits are compared with."""
    here = _git("rev-parse", "HEAD").strip()
    for branch in ("origin/main", "main"):
        base = _git("merge-base", "HEAD", branch).strip()
        if base and base != here:
            return base
    return "HEAD~1"


def _git(*arguments: str) -> str:
    """Return what git prints, or nothing where it fails or is not there."""
    try:
        done = subprocess.run(["git", "-C", str(_ROOT), *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""


if __name__ == "__main__":
    main(sys.argv[1:])
