"""The default the study started from: everything it compares differs from this one, and its numbers hold for it.

The package has another default of `local_ridge` since ("local ridge by LOO"); therefore the old one is set here.
"""

from typing import Any

from evolabel import EvolvingFuzzyClassifier
from evolabel.core.options import Options

STUDIED = {"local_ridge": 0.2}


def classifier(**changes: Any) -> EvolvingFuzzyClassifier:
    """The default of the study with these changes."""
    return EvolvingFuzzyClassifier(**{**STUDIED, **changes})


def options(**changes: Any) -> Options:
    """The same for models put together by hand."""
    return Options(**{**STUDIED, **changes}).check()
