"""Learners by the names a command line gives."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from evolabel import EvolvingFuzzyClassifier
from evolabel.baselines import LEARNERS, make_learner
from evolabel.cli.source import split_names
from evolabel.errors import FileFormatError, ParameterError
from evolabel.evaluate import Learner

TUNED = "evolabel (tuned)"  # name of the learner with tuned parameters
_SLOW = ("forest", "tuned", "paper-tuned")

Factory = Callable[[int], Learner]
"""Makes a learner for a seed."""


def chosen_learners(first: str, against: str, params: Path | None = None) -> dict[str, Factory]:
    """Return the learner named `first` and its rivals, each once.

    `against` has the names of the rivals separated by commas, or is "all". A classifier with the tuned parameters of
    the file `params` comes before all others.
    """
    quick = [name for name in LEARNERS if not name.startswith("river-") and name not in _SLOW]
    rivals = quick if against == "all" else split_names(against)
    names = list(dict.fromkeys([first, *rivals]))
    for name in names:
        if name not in LEARNERS:
            raise ParameterError(f"there is no learner {name!r}; use one of {', '.join(LEARNERS)}, or all")
    tuned: dict[str, Factory] = {} if params is None else {TUNED: _tuned(params)}
    return {**tuned, **{name: partial(make_learner, name) for name in names}}


def _tuned(path: Path) -> Factory:
    """Return a factory of classifiers with the parameters in `path`, a file written by `evolabel tune`."""
    if not path.is_file():
        raise ParameterError(f"there is no file {path}; use the best.json that `evolabel tune --out` has written")
    try:
        found = json.loads(path.read_text())
        profile, params = found["profile"], found["best_params"]
        _profile(profile, params).inner.options()
    except (OSError, ValueError, KeyError, TypeError) as error:
        why = f"no {error}" if isinstance(error, KeyError) else error
        raise FileFormatError(f"{path} holds no parameters of `evolabel tune` ({why}); use its best.json") from None
    return lambda seed: _profile(profile, params)


def _profile(profile: str, params: dict[str, Any]) -> EvolvingFuzzyClassifier:
    return EvolvingFuzzyClassifier.paper(**params) if profile == "paper" else EvolvingFuzzyClassifier(**params)
