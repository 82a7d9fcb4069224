"""Folders of compiled kernels as in the image of a container, and processes that use them."""

import os
import subprocess
import sys

COUNTED = """
from numba.core.event import install_recorder
with install_recorder("numba:compile") as compiled:
    {code}
print(len(compiled.buffer))
"""


def run(code, *before, **environment):
    """Run code in a process without bounds checks, unless the environment asks for them; `before`: words before it."""
    inherited = {name: value for name, value in os.environ.items() if name != "NUMBA_BOUNDSCHECK"}
    command = [*before, sys.executable, "-c", code]
    return subprocess.run(command, env={**inherited, **environment}, capture_output=True, text=True, check=False)


def count_compiled(code):
    """Code that prints at last how often numba began or ended to compile something."""
    return COUNTED.format(code=code.strip().replace("\n", "\n    "))


def lock(folder):
    """Make a folder one that cannot be written to, as in an image; return the words before a command that obeys."""
    is_root = os.geteuid() == 0
    for path in (folder, *folder.rglob("*")):
        if is_root:
            os.chown(path, 10001, 10001)
        path.chmod(0o555 if path.is_dir() else 0o444)
    return ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if is_root else []
