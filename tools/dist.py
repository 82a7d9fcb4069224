"""Build the wheel and the source archive of a release, and try them where there is no checkout.

    python tools/dist.py                      # writes dist/, tries every supported Python that is found
    python tools/dist.py --python 3.12        # tries this one alone
    python tools/dist.py --no-extras          # leaves out the environments of the single extras

1. `build` makes the source archive and from it the wheel; `twine check --strict` reads their metadata. The version of
   the package, of CITATION.cff and of the newest section of CHANGELOG.md must be the same.
2. For each Python in the classifiers of pyproject.toml, the wheel is installed without extras into an empty
   environment. Outside the checkout it fits, predicts, saves and loads. With the extra `cli`, `evolabel --version` and
   `evolabel doctor` run. A Python that is not on the machine is skipped with a message.
3. Each extra of `all` is installed by itself, on the first of these Pythons, and what it is for is imported.

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

_ROOT = Path(__file__).resolve().parent.parent
_SCRIPTS = "Scripts" if os.name == "nt" else "bin"
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
        if not options.no_extras:
            for extra, modules in _USES.items():
                _try_extra(environments[0], wheel, extra, modules)
    print(f"{wheel.name} works without the checkout on {len(found)} of {len(wanted)} Pythons")


def _build(folder: Path) -> Path:
    """Write the source archive and the wheel into dist/, checked, and return the wheel; tools go into `folder`."""
    version = _checked_version()
    out = _ROOT / "dist"
    shutil.rmtree(out, ignore_errors=True)
    tools = _environment(Path(sys.executable), folder / "tools")
    _install(tools, "build", "twine")
    _run([tools, "-m", "build", "--outdir", out, _ROOT], folder)
    files = sorted(out.iterdir())
    expected = [f"evolabel-{version}-py3-none-any.whl", f"evolabel-{version}.tar.gz"]
    if [file.name for file in files] != expected:
        sys.exit(f"dist/ holds {', '.join(file.name for file in files)}; expected {', '.join(expected)}")
    print(_run([tools, "-m", "twine", "check", "--strict", *files], folder).strip())
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
    return set(re.findall(r"\w+", project["optional-dependencies"]["all"][0].partition("[")[2]))


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
    own = _environment(python, place)
    _install(own, str(wheel))
    _run([own, "-I", "-c", _FIRST_STEPS], place)
    with_cli = _child(own, place / "with-cli")
    _install(with_cli, "--no-deps", "--ignore-installed", str(wheel))  # for its command
    _install(with_cli, f"{wheel}[cli]")
    command = with_cli.parent / "evolabel"
    version = _run([command, "--version"], place).strip()
    state = json.loads(_run([command, "doctor", "--json"], place))
    if version != state["evolabel"]["version"] or not state["kernels"]["compiled"]:
        sys.exit(f"evolabel --version prints {version}, evolabel doctor {state}")
    _run([command, "doctor"], place)
    _run([command, "predict", "--help"], place)
    print(f"Python {state['python']['version']}: fits, predicts, saves and loads; evolabel --version, evolabel doctor")
    return own


def _try_extra(base: Path, wheel: Path, extra: str, modules: str) -> None:
    """Import `modules` in an environment with this `extra` of the `wheel` alone, above the environment of `base`."""
    own = _child(base, base.parent.parent / f"extra-{extra}")
    _install(own, f"{wheel}[{extra}]")
    _run([own, "-I", "-W", "error::ImportWarning", "-c", f"import {modules}"], own.parent)
    print(f"evolabel[{extra}]: imports {modules}")


def _environment(python: Path, place: Path) -> Path:
    """Make an empty environment of `python` in the folder `place`, and return its Python."""
    _run([python, "-m", "venv", place], place.parent)
    return place / _SCRIPTS / "python"


def _child(base: Path, place: Path) -> Path:
    """Make an environment in `place` that also has the packages of the environment of the Python `base`."""
    own = _environment(base, place)
    site = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages, here = (_run([python, "-c", site], place).strip() for python in (base, own))
    Path(here, "base.pth").write_text(packages + "\n", "utf-8")
    return own


def _install(python: Path, *packages: str) -> None:
    """Install `packages` into the environment of `python`."""
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--constraint"]
    _run([*install, _ROOT / "constraints.txt", *packages], python.parent)


def _run(command: list[str | Path], folder: Path) -> str:
    """Return what `command` prints when it runs in `folder`, without the checkout on its path."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    env["NUMBA_CACHE_DIR"] = str(folder / "kernels")
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words[:4])} ... failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
