"""The default the study started from: everything it compares differs from this one, and its numbers hold for it.

The package has other defaults since: `local_ridge` is chosen by leave-one-out, and drift is followed. Therefore the old
ones are set here.
"""

from typing import Any

from evolabel import EvolvingFuzzyClassifier
from evolabel.core.options import Options

STUDIED = {"local_ridge": 0.2, "follow_drift": False}


def classifier(**changes: Any) -> EvolvingFuzzyClassifier:
    """The default of the study with these changes."""
    return EvolvingFuzzyClassifier(**{**STUDIED, **changes})


def options(**changes: Any) -> Options:
    """The same for models put together by hand."""
    return Options(**{**STUDIED, **changes}).check()
