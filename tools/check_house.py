"""Whether the source keeps the limits of `house_limits.toml`, and whether no limit was loosened since the merge base.

    python tools/check_house.py [COMMIT]

COMMIT is what the limits are compared with; by default the merge base with the branch `main`, or the commit before
this one where the two are the same. Without a git history, or where that commit has no limits yet, only the source is
measured. Only the standard library; nothing of the library is imported.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

from house_table import House, beyond, loosened
from shape import Shape

_ROOT = Path(__file__).resolve().parent.parent
_LIMITS = "tools/house_limits.toml"
_STRAYS = "files of concepts in other folders"
# Measures of `shape.py` whose places are printed if there are too many, by the title of the places.
_TITLES = {
    "isinstance on kinds of rule bases and stages": "isinstance",
    "arrays declared more than once": "arrays declared more than once",
}


def main(arguments: list[str]) -> None:
    """Measure the source and compare limits; `arguments` may name the commit to compare with. Exits with 1 or 0."""
    source, shape = _ROOT / "src" / "evolabel", Shape(_ROOT)
    tables = {
        "evolabel": shape.house.measures(),
        "kernels": House(source / "stages", set()).measures(),
        "shape": shape.measures(run=False),
    }
    limits = tomllib.loads((_ROOT / _LIMITS).read_text(encoding="utf-8"))
    excepted = limits.pop("exceptions", {}).get(_STRAYS, [])
    strays = shape.strays()
    failures = beyond(tables, limits)
    failures += [f"  {place}" for m, title in _TITLES.items() if m in str(failures) for place in shape.places()[title]]
    failures += [f"{path} belongs to a stage and is outside of its folder" for path in sorted({*strays} - {*excepted})]
    if text := _git("show", f"{arguments[0] if arguments else _base()}:{_LIMITS}"):
        before = tomllib.loads(text)
        most = len(before.pop("exceptions", {}).get(_STRAYS, excepted))
        failures += loosened(limits, before)
        failures += [f"exceptions: {len(excepted)} files, at most {most} are allowed"] if len(excepted) > most else []
    advice = beyond(tables, limits, advice=True)
    advice += [f"exceptions: {path} is no longer needed" for path in excepted if path not in strays]
    print(*advice, *(failures or ["all measures are within their limits"]), sep="\n")
    sys.exit(bool(failures))


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
