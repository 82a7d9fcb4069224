"""Named places at which tests end the process, so that every order of crash and commit is tried."""

import os
import signal

VARIABLE = "EVOLABEL_DIE_AT"


def crash_point(name: str) -> None:
    """Kill the process if the environment variable EVOLABEL_DIE_AT is `name`, or `name:n` at the n-th time."""
    needed = os.environ.get(VARIABLE)
    if not needed or needed.partition(":")[0] != name:
        return
    left = int(needed.partition(":")[2] or 1) - 1
    if left > 0:
        os.environ[VARIABLE] = f"{name}:{left}"
        return
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
