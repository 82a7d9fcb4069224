"""`evolabel doctor`: versions, compiled kernels, optional packages, and where data sets are looked for."""

import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any, NamedTuple

import evolabel
from evolabel._utils.optional import install_command
from evolabel.cli.output import print_json
from evolabel.engine.cache_state import kernel_cache, packaged_code
from evolabel.errors import MissingDependencyError
from evolabel.streams.named.catalogue import dataset_names, find_entry
from evolabel.streams.named.download import cache_folder, data_folder
from evolabel.streams.named.load import is_at_hand

_FOR_DEVELOPERS = {"all", "test", "browser", "check", "docs"}  # extras that are no feature of their own
_REQUIREMENT = re.compile(r"([\w.-]+)(\[[\w,-]+\])? *(?:<[\w.]+,)?>= *([\w.]+)")
_EXTRA = re.compile(r"""extra *== *["']([\w-]+)["']""")
_FIRST_COMPILATION = "the first call compiles them, once, for about half a minute of CPU"


def doctor(*, json: bool = False) -> None:
    """Print versions, the state of compiled kernels, optional packages, where data sets are looked for, and a verdict.

    Exit code 0: everything needed is there. 1: there are no compiled kernels and they cannot be stored, so that every
    start compiles them anew. 3: a needed package is absent or too old. Absent optional packages change nothing; the
    command that installs them is printed.

    Example: `evolabel doctor`

    Parameters
    ----------
    json
        Print the same as JSON.
    """
    found = diagnosis()
    if json:
        print_json(found)
    else:
        sys.stdout.write("\n".join(_lines(found)) + "\n")
    if unusable := [name for name, package in found["packages"].items() if not package["usable"]]:
        raise MissingDependencyError(
            f"absent or too old: {', '.join(unusable)}; run: {sys.executable} -m {install_command()}"
        )
    if not (_uses_package(found) or found["kernels"]["writable"] or found["kernels"]["compiled"]):
        folder = found["kernels"]["folder"]
        raise OSError(f"{folder} cannot be written; set NUMBA_CACHE_DIR to a folder that can, for compiled kernels")


def diagnosis() -> dict[str, Any]:
    """Return everything that `evolabel doctor` prints, as it is in its JSON."""
    kernels, packaged, own = kernel_cache(), packaged_code(), data_folder()
    found: dict[str, Any] = {
        "evolabel": {"version": evolabel.__version__, "folder": str(Path(evolabel.__file__).parent)},
        "python": {"version": platform.python_version(), "executable": sys.executable, "platform": platform.platform()},
        "packages": {
            package.name: {"version": package.version, "at_least": package.least, "usable": package.is_usable}
            for package in needed_packages()
        },
        "extras": {
            extra: {
                "usable": all(package.is_usable for package in packages),
                "packages": {package.name: package.version for package in packages},
                "install": install_command(extra),
            }
            for extra, packages in optional_packages().items()
        },
        "kernels": {**kernels._asdict(), "folder": str(kernels.folder)},
        "packaged": None if packaged is None else {**packaged._asdict(), "folder": str(packaged.folder)},
        "data": {
            "EVOLABEL_DATA": None if own is None else str(own),
            "EVOLABEL_DATA exists": own is not None and own.is_dir(),
            "cache": str(cache_folder()),
            "at_hand": [name for name in dataset_names() if is_at_hand(find_entry(name))],
        },
    }
    return {**found, "verdict": _verdict(found)}


def _lines(found: dict[str, Any]) -> list[str]:
    """Return the diagnosis `found` as lines of text."""
    needed = ", ".join(f"{name} {package['version'] or 'absent'}" for name, package in found["packages"].items())
    return [
        f"evolabel {found['evolabel']['version']} in {found['evolabel']['folder']}",
        f"Python {found['python']['version']} ({found['python']['executable']}) on {found['python']['platform']}",
        f"Packages: {needed or 'unknown, evolabel is not installed but found by its path'}",
        _packaged_line(found["packaged"]),
        *([] if _uses_package(found) else _kernel_lines(found["kernels"])),
        *_data_lines(found["data"]),
        "Optional packages:",
        *(_extra_line(extra, state) for extra, state in found["extras"].items()),
        f"Verdict: {found['verdict']}",
    ]


def _verdict(found: dict[str, Any]) -> str:
    """Return in one line whether the installation `found` works, and what is missing."""
    unusable = [name for name, package in found["packages"].items() if not package["usable"]]
    if unusable:
        return f"not usable, absent or too old: {', '.join(unusable)}"
    if _uses_package(found) or found["kernels"]["compiled"]:
        return "ready, kernels are compiled"
    if found["kernels"]["writable"]:
        return f"usable; {_FIRST_COMPILATION} (`evolabel ready` does it now)"
    return "usable, but every start compiles anew, because compiled kernels cannot be stored"


def _uses_package(found: dict[str, Any]) -> bool:
    """Return whether kernels are those of the package, so that none has to be compiled."""
    return found["packaged"] is not None and not found["packaged"]["unused"]


def _packaged_line(code: dict[str, Any] | None) -> str:
    """Return a line on the machine `code` of the package, and why it is not used if it is not."""
    if code is None:
        return "Machine code in the package: none (a checkout or a pure wheel), so kernels are compiled here"
    state = f"not used: {code['unused']}" if code["unused"] else "used, nothing has to be compiled"
    return f"Machine code in the package: for {code['processor']}, {code['megabytes']:.1f} MB; {state}"


def _kernel_lines(kernels: dict[str, Any]) -> list[str]:
    """Return lines on the cache of compiled `kernels`."""
    state = f"those of {kernels['compiled']} source files, {kernels['megabytes']:.1f} MB"
    if not kernels["writable"]:
        state = f"{state}, read-only" if kernels["compiled"] else "cannot be stored there"
    elif not kernels["compiled"]:
        state = f"none yet; {_FIRST_COMPILATION}"
    lines = [f"Compiled kernels: {state} (in {kernels['folder']})"]
    if kernels["other_megabytes"] > 0.0:
        lines.append(
            f"  {kernels['other_megabytes']:.1f} MB are of other versions; the folder may be deleted at any time"
        )
    return lines


def _data_lines(data: dict[str, Any]) -> list[str]:
    """Return lines on the folders of `data` sets."""
    own = data["EVOLABEL_DATA"] or "not set"
    if data["EVOLABEL_DATA"] and not data["EVOLABEL_DATA exists"]:
        own += " (there is no such folder)"
    at_hand = ", ".join(data["at_hand"]) or "none, they are downloaded when they are used"
    return [f"Data sets: EVOLABEL_DATA is {own}, downloads are in {data['cache']}", f"  at hand: {at_hand}"]


def _extra_line(extra: str, state: dict[str, Any]) -> str:
    """Return a line on the packages of an `extra`: their versions, and how to install those that are absent."""
    packages = ", ".join(f"{name} {version or 'absent'}" for name, version in state["packages"].items())
    return f"  {extra}: {packages}" + ("" if state["usable"] else f"; run: {state['install']}")


# ---------------------------------------------------------------------- packages, from the metadata of the installation


class Package(NamedTuple):
    """A package: the least version that is needed, and the `version` installed, None where it is absent."""

    name: str
    least: str
    version: str | None

    @property
    def is_usable(self) -> bool:
        """Whether it is installed, and not too old."""
        return self.version is not None and _numbers(self.version) >= _numbers(self.least)


def needed_packages() -> list[Package]:
    """Return the packages that evolabel cannot do without."""
    return [_package(line) for line in _requirements() if not _EXTRA.search(line)]


def optional_packages() -> dict[str, list[Package]]:
    """Return the optional packages by the extra that installs them; extras of developers are left out."""
    found: dict[str, list[Package]] = {}
    for line in _requirements():
        extra = _EXTRA.search(line)
        if extra and extra[1] not in _FOR_DEVELOPERS and not line.startswith("evolabel"):
            found.setdefault(extra[1], []).append(_package(line))
    return found


def _requirements() -> list[str]:
    """Return the lines of the metadata that name packages; none where evolabel is not installed."""
    try:
        return requires("evolabel") or []
    except PackageNotFoundError:
        return []


def _package(line: str) -> Package:
    """Return the package of a `line` such as "numpy>=2.0"."""
    found = _REQUIREMENT.match(line)
    assert found is not None, line
    return Package(found[1], found[3], _installed(found[1]))


def _installed(name: str) -> str | None:
    """Return the version of the package `name`, None where it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _numbers(text: str) -> tuple[int, ...]:
    """Return the leading numbers of a version, (2, 1) of "2.1rc1"."""
    found = re.match(r"\d+(\.\d+)*", text)
    return tuple(map(int, found[0].split("."))) if found else ()
