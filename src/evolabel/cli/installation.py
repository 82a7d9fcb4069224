"""Which packages evolabel needs and may use, from the metadata of its installation, and which of them are there."""

import re
from importlib.metadata import PackageNotFoundError, requires, version
from typing import NamedTuple

_FOR_DEVELOPERS = {"all", "test", "browser", "check", "docs"}  # extras that are no feature of their own
_REQUIREMENT = re.compile(r"([\w.-]+)(\[[\w,-]+\])? *(?:<[\w.]+,)?>= *([\w.]+)")
_EXTRA = re.compile(r"""extra *== *["']([\w-]+)["']""")


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
