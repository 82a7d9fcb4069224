"""Wheels with machine code: the pure wheel, what `evolabel ready --into-package` writes, and the tags of numba's wheel.

    python tools/platform_wheel.py dist/evolabel-0.2.0-py3-none-any.whl dist     # for the Python that runs it

The code fits wherever the wheel of numba for the same Python can be installed, on processors from the baseline on
(`evolabel.engine.installed_code`). Where it does not fit, kernels are compiled on first use, as with the pure wheel.
"""

import sys
import tempfile
from pathlib import Path

from environments import install, new_environment, run

_TAGS = "import importlib.metadata as m; print(m.distribution('numba').read_text('WHEEL'))"
_PACKAGE = "import evolabel; print(evolabel.__path__[0])"


def platform_wheel(python: Path, wheel: Path, out: Path) -> Path:
    """Write the `wheel` with machine code for `python` and this machine into the folder `out`; return the new file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        own = new_environment(python, folder / "env")
        install(own, f"{wheel}[server]", "wheel")
        run([own, "-m", "evolabel", "ready", "--into-package"], folder)
        code = Path(run([own, "-c", _PACKAGE], folder).strip(), "machine_code")
        run([own, "-m", "wheel", "unpack", wheel, "--dest", folder / "unpacked"], folder)
        unpacked = next(folder.glob("unpacked/*"))
        code.rename(unpacked / "evolabel" / "machine_code")
        run([own, "-m", "wheel", "pack", unpacked, "--dest-dir", folder], folder)
        packed = next(folder.glob("*.whl"))
        lines = run([own, "-c", _TAGS], folder).splitlines()
        tags = [line.removeprefix("Tag: ").split("-") for line in lines if line.startswith("Tag: ")]
        interpreter, abi, _ = tags[0]
        platforms = ".".join(tag[2] for tag in tags)
        words = ["--remove", "--python-tag", interpreter, "--abi-tag", abi, "--platform-tag", platforms]
        tagged = folder / run([own, "-m", "wheel", "tags", *words, packed], folder).strip()
        out.mkdir(exist_ok=True)
        return Path(tagged.replace(out / tagged.name))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.stdout.write(
        f"{platform_wheel(Path(sys.executable), Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())}\n"
    )
