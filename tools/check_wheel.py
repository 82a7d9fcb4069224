"""Whether the wheel works where there is no checkout and no optional package.

    python tools/check_wheel.py

Builds the wheel, installs it without extras into an empty environment, and runs the first steps of a user outside the
checkout: fit, predict, save, load. Then installs the extra `cli` and runs `evolabel --help`. Versions are those of
`constraints.txt`.
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_FIRST_STEPS = """
import importlib.resources, importlib.util, os
import numpy as np
from evolabel import EvolvingFuzzyClassifier
from evolabel.streams import DriftingStream

for name in ("rich", "cyclopts", "matplotlib", "river", "pandas"):
    assert importlib.util.find_spec(name) is None, f"{name} is installed, so the test is not one without extras"
package = importlib.resources.files("evolabel")
assert "site-packages" in str(package), f"imported from {package}"
for name in ("py.typed", "__init__.pyi"):
    assert package.joinpath(name).is_file(), f"the wheel lacks {name}"
X, Y = DriftingStream(seed=0).take(300)
clf = EvolvingFuzzyClassifier().fit(X[:200], Y[:200])
clf.partial_fit(X[200:], Y[200:])
clf.save("model")
loaded = EvolvingFuzzyClassifier.load("model")
assert np.array_equal(loaded.predict(X), clf.predict(X))
print(clf.rules_[0])
"""


def main() -> None:
    """Build, install and try the wheel in a temporary folder; an error ends with the output of the step that failed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _run([sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", str(folder), str(_ROOT)], folder)
        wheel = next(folder.glob("evolabel-*.whl"))
        venv.create(folder / "environment", with_pip=True)
        binaries = folder / "environment" / ("Scripts" if os.name == "nt" else "bin")
        python = str(binaries / "python")
        install = [python, "-m", "pip", "install", "--constraint", str(_ROOT / "constraints.txt")]
        _run([*install, str(wheel)], folder)
        print(_run([python, "-I", "-c", _FIRST_STEPS], folder).splitlines()[0])
        _run([*install, f"{wheel}[cli]"], folder)
        print(_run([str(binaries / "evolabel"), "--help"], folder).strip().splitlines()[0])
    print("the wheel works without the checkout")


def _run(command: list[str], folder: Path) -> str:
    """Return what `command` prints when it runs in `folder`, without the checkout on its path."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command[:4])} ... failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
