"""Which learners a command line asks for."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evolabel import EvolvingFuzzyClassifier
from evolabel.baselines import LEARNERS, make_learner
from evolabel.cli.source import split_names
from evolabel.errors import FileFormatError, ParameterError
from evolabel.evaluate import Learner

TUNED = "best.json"  # the name of the learner with tuned parameters
PATIENCE = ("forest", "tuned", "paper-tuned")

Factory = Callable[[int], Learner]
"""Makes a learner for a seed."""


def chosen_learners(first: str, against: str, params: Path | None = None) -> dict[str, Factory]:
    """The learner in question and its rivals, each once; the one with tuned parameters comes before all others."""
    quick = [name for name in LEARNERS if not name.startswith("river-") and name not in PATIENCE]
    rivals = quick if against == "all" else split_names(against)
    names = list(dict.fromkeys([first, *rivals]))
    for name in names:
        if name not in LEARNERS:
            raise ParameterError(f"there is no learner {name!r}; use one of {', '.join(LEARNERS)}, or all")
    tuned: dict[str, Factory] = {} if params is None else {TUNED: _tuned(params)}
    return {**tuned, **{name: _named(name) for name in names}}


def _named(name: str) -> Factory:
    return lambda seed: make_learner(name, seed)


def _tuned(path: Path) -> Factory:
    """A classifier with the parameters that `evolabel tune` has written."""
    if not path.is_file():
        raise ParameterError(f"there is no file {path}; use the best.json that `evolabel tune --out` has written")
    try:
        found = json.loads(path.read_text())
        profile, params = found["profile"], found["best_params"]
        make = _profile(profile, params)
        make()._options()
    except (OSError, ValueError, KeyError, TypeError) as error:
        why = f"no {error}" if isinstance(error, KeyError) else error
        raise FileFormatError(f"{path} holds no parameters of `evolabel tune` ({why}); use its best.json") from None
    return lambda seed: make()


def _profile(profile: str, params: dict[str, Any]) -> Callable[[], EvolvingFuzzyClassifier]:
    if profile == "paper":
        return lambda: EvolvingFuzzyClassifier.paper(**params)
    return lambda: EvolvingFuzzyClassifier(**params)
