"""`note`: a warning that points at the line of the user's code, whatever the depth of the call inside evolabel."""

import inspect
import warnings

from evolabel.errors import DataWarning

_PACKAGE = __name__.partition(".")[0]


def note(text: str) -> None:
    """Warn of `text` by DataWarning, at the first caller outside this package."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == _PACKAGE:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, DataWarning, stacklevel=level)
