"""Learners by the names a command line gives."""

from collections.abc import Callable, Sequence
from functools import partial

from evolabel import EvolvingFuzzyClassifier
from evolabel.classifier.targets import LabelMatrix, check_weighted_names, renamed_weights
from evolabel.cli.parameters import GivenParameters
from evolabel.cli.source import split_names
from evolabel.errors import ParameterError
from evolabel.evaluate import Learner
from evolabel.learners import LEARNERS, make_learner

_SLOW = ("forest", "tuned", "paper-tuned")
_OF_PROFILES = {"default": "evolabel", "paper": "paper"}  # learner by the profile of a search

Factory = Callable[[int], Learner]
"""Makes a learner for a seed."""


def chosen_learners(first: str, against: str, params: GivenParameters | None = None) -> dict[str, Factory]:
    """Return the learner named `first` and its rivals, each once.

    `against` has the names of the rivals separated by commas, or is "all". The learner `first` with the parameters
    `params`, or the profile of a search with those found, comes before all others; its name has the parameters.
    """
    quick = [name for name in LEARNERS if not name.startswith("river-") and name not in _SLOW]
    rivals = quick if against == "all" else split_names(against)
    names = list(dict.fromkeys([first, *rivals]))
    for name in names:
        if name not in LEARNERS:
            raise ParameterError(f"there is no learner {name!r}; use one of {', '.join(LEARNERS)}, or all")
    own = {} if params is None else _with_parameters(first, params)
    return {**own, **{name: partial(make_learner, name) for name in names}}


def weighted_by_order(learners: dict[str, Factory], label_names: Sequence[str]) -> dict[str, Factory]:
    """Return `learners` for arrays: names in the parameter `class_weight` become those of the columns of Y, by order.

    ParameterError for a name that is not among `label_names`.
    """
    return {name: partial(_weighted_by_order, make, label_names) for name, make in learners.items()}


def _weighted_by_order(make: Factory, label_names: Sequence[str], seed: int) -> Learner:
    learner = make(seed)
    if isinstance(learner, EvolvingFuzzyClassifier):
        check_weighted_names(learner.class_weight, LabelMatrix(list(label_names)))
        by_order = [f"label{k}" for k in range(len(label_names))]
        learner.class_weight = renamed_weights(learner.class_weight, label_names, by_order)
    return learner


def _with_parameters(first: str, params: GivenParameters) -> dict[str, Factory]:
    """Return the learner `first` with `params`, by its name; ParameterError if it does not have them."""
    if params.profile is not None:
        first = _OF_PROFILES.get(params.profile, "evolabel")
    plain = make_learner(first)
    if not isinstance(plain, EvolvingFuzzyClassifier):
        raise ParameterError(f"--params and --set are for a fuzzy classifier, not {first}; use --learner evolabel")
    for name in params.values:
        if name not in plain.get_params():
            other = next(each for each in _OF_PROFILES.values() if name in make_learner(each).get_params())
            raise ParameterError(f"{name} is no parameter of --learner {first}; use --learner {other}, or leave it out")
    _made(first, params, 0).inner.options()
    title = "evolabel" if params.profile is not None else first
    return {f"{title} ({params.shown})": partial(_made, first, params)}


def _made(first: str, params: GivenParameters, seed: int) -> EvolvingFuzzyClassifier:
    classifier = make_learner(first, seed)
    assert isinstance(classifier, EvolvingFuzzyClassifier)
    classifier.set_params(**params.values)
    return classifier
