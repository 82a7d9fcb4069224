"""Build the wheel and the source archive of a release, and try them where there is no checkout.

    python tools/dist.py                      # writes dist/, tries every supported Python that is found
    python tools/dist.py --python 3.12        # tries this one alone
    python tools/dist.py --no-extras          # leaves out the environments of the single extras

1. `build` makes the source archive and from it the wheel; `twine check --strict` reads their metadata. The version of
   the package, of CITATION.cff and of the newest section of CHANGELOG.md must be the same.
2. For each Python in the classifiers of pyproject.toml, the wheel is installed without extras into an empty
   environment. Outside the checkout it fits, predicts, saves and loads. With the extra `cli`, `evolabel --version` and
   `evolabel doctor` run. A Python that is not on the machine is skipped with a message.
3. For each Python, a wheel with machine code for this machine is made (`platform_wheel.py`), and the first steps of a
   user with it compile nothing.
4. On the first of these Pythons, the first steps are made with the oldest versions that pyproject.toml allows.
5. Each extra of `all` is installed by itself, on the first of these Pythons, and what it is for is imported.

Versions of packages are those of `constraints.txt`.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from environments import install, new_environment, run
from platform_wheel import platform_wheel

_ROOT = Path(__file__).resolve().parent.parent
_ABSENT_WITHOUT_EXTRAS = ("rich", "cyclopts", "matplotlib", "river", "pandas", "fastapi")
_FIRST_STEPS = f"""
import importlib.resources, importlib.util
import numpy as np
from evolabel import EvolvingFuzzyClassifier
from evolabel.streams import DriftingStream

for name in {_ABSENT_WITHOUT_EXTRAS!r}:
    assert importlib.util.find_spec(name) is None, name + " is installed, so the test is not one without extras"
package = importlib.resources.files("evolabel")
assert "site-packages" in str(package), "imported from " + str(package)
for name in ("py.typed", "__init__.pyi"):
    assert package.joinpath(name).is_file(), "the wheel lacks " + name
X, Y = DriftingStream(seed=0).take(300)
clf = EvolvingFuzzyClassifier().fit(X[:200], Y[:200])
clf.partial_fit(X[200:], Y[200:])
clf.save("model.safetensors")
loaded = EvolvingFuzzyClassifier.load("model.safetensors")
assert np.array_equal(loaded.predict(X), clf.predict(X))
print(clf.rules_[0])
"""
_USES = {  # of each extra: a module that cannot be imported, or does nothing, without it
    "cli": "evolabel.cli.app",
    "plots": "matplotlib, evolabel.explain.figures.all_figures",
    "report": "jinja2, matplotlib, evolabel.report",
    "parquet": "pyarrow.parquet",
    "excel": "openpyxl",
    "river": "evolabel.adapters.river",
    "activeml": "evolabel.adapters.scikit_activeml",
    "server": "evolabel.server.app",
    "label-studio": "starlette, uvicorn, evolabel.label_studio",
    "postgres": "psycopg, evolabel.server.app",
    "client": "httpx, evolabel.client",
}


def main() -> None:
    """Build, check and try a release; an error ends with the output of the step that failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", help="a version such as 3.12; by default all that are supported")
    parser.add_argument("--no-extras", action="store_true", help="leave out the environments of the single extras")
    options = parser.parse_args()
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    if untested := _extras_of_all(project) - _USES.keys():
        sys.exit(f"tools/dist.py has no import for the extras {', '.join(sorted(untested))}; add them to _USES")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = _build(folder)
        wanted = options.python or _supported(project)
        found = [python for python in map(_find_python, wanted) if python is not None]
        if not found:
            sys.exit(f"none of Python {', '.join(wanted)} was found; install one of them")
        environments = [_try_wheel(python, wheel, folder) for python in found]
        for python in found:
            _try_platform_wheel(python, platform_wheel(python, wheel, wheel.parent))
        _try_oldest(found[0], wheel, project["dependencies"])
        if not options.no_extras:
            for extra, modules in _USES.items():
                _try_extra(environments[0], wheel, extra, modules)
    print(f"{wheel.name} works without the checkout on {len(found)} of {len(wanted)} Pythons")


def _build(folder: Path) -> Path:
    """Write the source archive and the wheel into dist/, checked, and return the wheel; tools go into `folder`."""
    version = _checked_version()
    out = _ROOT / "dist"
    shutil.rmtree(out, ignore_errors=True)
    tools = new_environment(Path(sys.executable), folder / "tools")
    install(tools, "build", "twine")
    run([tools, "-m", "build", "--outdir", out, _ROOT], folder)
    files = sorted(out.iterdir())
    expected = [f"evolabel-{version}-py3-none-any.whl", f"evolabel-{version}.tar.gz"]
    if [file.name for file in files] != expected:
        sys.exit(f"dist/ holds {', '.join(file.name for file in files)}; expected {', '.join(expected)}")
    print(run([tools, "-m", "twine", "check", "--strict", *files], folder).strip())
    return files[0]


def _checked_version() -> str:
    """Return the version of the package, which CITATION.cff and the newest section of CHANGELOG.md must have, too."""
    places = {
        "src/evolabel/__init__.py": r'__version__ = "([^"]+)"',
        "CITATION.cff": r"^version: (\S+)",
        "CHANGELOG.md": r"^## (\S+)",
    }
    found = {}
    for place, pattern in places.items():
        match = re.search(pattern, (_ROOT / place).read_text("utf-8"), re.MULTILINE)
        found[place] = match[1].strip("\"'") if match else "none"
    if len(set(found.values())) > 1:
        sys.exit("versions differ: " + ", ".join(f"{version} in {place}" for place, version in found.items()))
    return found["src/evolabel/__init__.py"]


def _supported(project: dict[str, list[str]]) -> list[str]:
    """Return the versions of Python in the classifiers of the `project`, such as 3.12."""
    texts = (re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", text) for text in project["classifiers"])
    return [text[1] for text in texts if text]


def _extras_of_all(project: dict[str, dict[str, list[str]]]) -> set[str]:
    """Return the extras that the extra `all` of the `project` consists of."""
    return set(re.findall(r"[\w-]+", project["optional-dependencies"]["all"][0].partition("[")[2]))


def _find_python(version: str) -> Path | None:
    """Return Python of this `version`, from the PATH or from pyenv; None with a message if there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    names = [shutil.which(f"python{version}"), *sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True)]
    for name in filter(None, names):
        done = subprocess.run([name, "--version"], capture_output=True, text=True, check=False)  # a shim of pyenv fails
        if done.returncode == 0:
            return Path(name)
    print(f"Python {version}: not on this machine, skipped")
    return None


def _try_wheel(python: Path, wheel: Path, folder: Path) -> Path:
    """Run the first steps of a user with `wheel` in an empty environment of `python`; return its Python."""
    place = folder / f"py-{python.parent.parent.name}-{python.name}"
    own = new_environment(python, place)
    install(own, str(wheel))
    run([own, "-I", "-c", _FIRST_STEPS], place)
    with_cli = _child(own, place / "with-cli")
    install(with_cli, "--no-deps", "--ignore-installed", str(wheel))  # for its command
    install(with_cli, f"{wheel}[cli]")
    command = with_cli.parent / "evolabel"
    version = run([command, "--version"], place).strip()
    state = json.loads(run([command, "doctor", "--json"], place))
    if version != state["evolabel"]["version"] or not state["kernels"]["compiled"]:
        sys.exit(f"evolabel --version prints {version}, evolabel doctor {state}")
    run([command, "doctor"], place)
    run([command, "predict", "--help"], place)
    print(f"Python {state['python']['version']}: fits, predicts, saves and loads; evolabel --version, evolabel doctor")
    return own


def _try_platform_wheel(python: Path, wheel: Path) -> None:
    """Run the first steps of a user with a platform `wheel` in an empty environment, which must compile nothing."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        own = new_environment(python, folder / "env")
        install(own, str(wheel))
        run([own, "-I", "-c", _FIRST_STEPS], folder)
        if compiled := sorted(folder.rglob("kernels/**/*.nbi")):
            sys.exit(f"{wheel.name}: the first steps compile {', '.join(file.name for file in compiled)}")
    print(f"{wheel.name}: the first steps compile nothing")


def _try_oldest(python: Path, wheel: Path, dependencies: list[str]) -> None:
    """Run the first steps of a user with `wheel` and the oldest version of each of its `dependencies`."""
    bounds = [re.match(r"([\w-]+)>=(\d+\.\d+)", text) for text in dependencies]
    oldest = [f"{bound[1]}~={bound[2]}.0" for bound in bounds if bound]
    with tempfile.TemporaryDirectory() as name:
        own = new_environment(python, Path(name, "env"))
        run([own, "-m", "pip", "install", "--quiet", str(wheel), *oldest], Path(name))
        run([own, "-I", "-c", _FIRST_STEPS], Path(name))
    print(f"{', '.join(oldest)}: fits, predicts, saves and loads")


def _try_extra(base: Path, wheel: Path, extra: str, modules: str) -> None:
    """Import `modules` in an environment with this `extra` of the `wheel` alone, above the environment of `base`."""
    own = _child(base, base.parent.parent / f"extra-{extra}")
    install(own, f"{wheel}[{extra}]")
    run([own, "-I", "-W", "error::ImportWarning", "-c", f"import {modules}"], own.parent)
    print(f"evolabel[{extra}]: imports {modules}")


def _child(base: Path, place: Path) -> Path:
    """Make an environment in `place` that also has the packages of the environment of the Python `base`."""
    own = new_environment(base, place)
    site = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages, here = (run([python, "-c", site], place).strip() for python in (base, own))
    Path(here, "base.pth").write_text(packages + "\n", "utf-8")
    return own


if __name__ == "__main__":
    main()
