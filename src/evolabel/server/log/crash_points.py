"""Named places at which tests end or stop the process, so that every order of crash and commit is tried."""

import os
import signal

_SIGNALS = {"EVOLABEL_DIE_AT": "SIGKILL", "EVOLABEL_STOP_AT": "SIGSTOP"}


def crash_point(name: str) -> None:
    """Kill the process if the environment variable EVOLABEL_DIE_AT is `name`, or `name:n` at the n-th time.

    EVOLABEL_STOP_AT stops it instead, until it is continued from outside.
    """
    for variable, sign in _SIGNALS.items():
        point, _, times = os.environ.get(variable, "").partition(":")
        if point != name:
            continue
        left = int(times or 1) - 1
        os.environ[variable] = f"{name}:{left}" if left > 0 else ""
        if left <= 0:
            os.kill(os.getpid(), getattr(signal, sign, signal.SIGTERM))
