"""Machine code that a platform wheel or an image brings inside the package, and whether it fits this machine.

The folder `machine_code` of the package is written by `evolabel ready --into-package` when the wheel or the image is
built, and only read afterwards. It is for one operating system, one family of processors (`BASELINES`), one version of
Python and one minor version of numba. `contents.json` in it lists these and the SHA-256 of every file; a file that
differs is not read. Where the code does not fit, kernels are compiled into the cache of the user, as in a checkout.
"""

import hashlib
import json
import os
import platform
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numba
from llvmlite import binding

_features: Any = binding.get_host_cpu_features
_CONTENTS = "contents.json"
_OTHER_CODE = "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_OPT", "NUMBA_DEBUGINFO"  # variables that change the code
_ONE_NAME = {"amd64": "x86_64", "arm64": "aarch64"}  # of a family that operating systems call differently


class Baseline(NamedTuple):
    """The oldest processor of a family that the code is for: its name for LLVM and the features that it needs."""

    name: str
    needs: tuple[str, ...]


class Machine(NamedTuple):
    """What decides whether machine code runs here: `family` of the processor, its `features`, versions."""

    system: str
    family: str
    python: str
    numba: str
    features: frozenset[str]


class Contents(NamedTuple):
    """What the code in a folder was compiled for, and the SHA-256 of its `files`."""

    system: str
    family: str
    processor: str
    python: str
    numba: str
    needs: list[str]
    files: dict[str, str]


BASELINES = {
    "x86_64": Baseline(
        "x86-64-v3",
        ("avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2", "ssse3", "xsave"),
    ),
    "aarch64": Baseline("generic", ()),
}
"""By family. Without the fused multiplication of v3, a dot product on x86-64 would take ten times as long."""


def package_folder() -> Path:
    """Return the folder of the package in which its machine code lies, if it has any."""
    return Path(__file__).parents[1] / "machine_code"


def this_machine() -> Machine:
    """Return the machine that runs this process."""
    family = platform.machine().lower()
    return Machine(
        platform.system(),
        _ONE_NAME.get(family, family),
        f"{sys.version_info.major}.{sys.version_info.minor}",
        numba.__version__,
        frozenset(name for name, there in _features().items() if there),
    )


def why_not(contents: Contents, machine: Machine) -> str:
    """Return why the code with these `contents` cannot be used on `machine`; empty if it can."""
    for name, compiled, here in (
        ("", contents.system, machine.system),
        ("", contents.family, machine.family),
        ("Python ", contents.python, machine.python),
        ("numba ", _minor(contents.numba), _minor(machine.numba)),
    ):
        if compiled != here:
            return f"it is for {name}{compiled}, this is {name}{here}"
    absent = [feature for feature in contents.needs if feature not in machine.features]
    return f"the processor has no {', '.join(absent)}" if absent else ""


def _minor(version: str) -> str:
    """Return the first two numbers of `version`."""
    return ".".join(version.split(".")[:2])


def write_contents(folder: Path) -> Contents:
    """List the files in `folder`, compiled for the baseline of this machine, in `contents.json`; return the list."""
    here = this_machine()
    baseline = BASELINES[here.family]
    files = {file.relative_to(folder).as_posix(): checksum(file) for file in sorted(folder.rglob("*.nb[ci]"))}
    contents = Contents(here.system, here.family, baseline.name, here.python, here.numba, list(baseline.needs), files)
    (folder / _CONTENTS).write_text(json.dumps(contents._asdict(), indent=1) + "\n", "utf-8")
    return contents


def read_contents(folder: Path) -> Contents | None:
    """Return the contents of `folder`; None if there is no machine code in it."""
    try:
        return Contents(**json.loads((folder / _CONTENTS).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


@cache
def usable_contents() -> Contents | None:
    """Return the contents of the package's machine code if this process can use it, else None."""
    contents = read_contents(package_folder())
    return None if contents is None or why_not_used(contents) else contents


def why_not_used(contents: Contents) -> str:
    """Return why this process does not use the code with these `contents`; empty if it does."""
    asked = [name for name in _OTHER_CODE if os.environ.get(name)]
    return f"{asked[0]} asks for other code" if asked else why_not(contents, this_machine())


def checksum(file: Path) -> str:
    """Return the SHA-256 of `file`."""
    return hashlib.sha256(file.read_bytes()).hexdigest()
