"""The methods the paper compares, in both profiles, and the parameter values each is tuned over."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from evolabel.active import BudgetedLearner, Instability, RandomSelection
from evolabel.active.presets import paper_settings
from evolabel.active.scoring.criteria import DEFAULT_CRITERIA, PAPER_CRITERIA
from evolabel.baselines import StaticClassifier
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.evaluate import Learner
from evolabel.paper import EvolvingChain, EvolvingOneVsRest
from evolabel.paper.classifier import PaperClassifier

Profile = Literal["paper", "default"]
PROFILES: tuple[Profile, ...] = ("paper", "default")

ParameterValues = dict[str, tuple[Any, ...]]

_RLS_ONLY = {"alpha": 0.0, "beta": 0.0, "prox_steps": 0}  # eqs. (25)-(27) only, as the paper's rivals learn

_FIXED: dict[str, dict[str, Any]] = {
    "ours": {},
    "ridge": {"coupling": "ridge"},
    "uncoupled": {"coupling": "none", "beta": 0.0},
    "rfwls": _RLS_ONLY,
    "ovr": _RLS_ONLY,
    "chain": _RLS_ONLY,
}
"""Parameters of the paper's profile that are not searched, by what a method is tuned as. None changes the rules."""


@dataclass(frozen=True)
class Method:
    """One line of a figure, called `title` in legends and tables, in the `profiles` in which the method is run.

    `tuned_as` is the method whose search sets its parameters: those that differ only after the initial batch share one.
    `learner` returns the learner made of the tuned classifier, the profile and a seed.
    """

    title: str
    tuned_as: str
    learner: Callable[[EvolvingFuzzyClassifier, Profile, int], Learner]
    profiles: tuple[Profile, ...] = PROFILES


def _asking(per: str, budget: float, *, instability: bool = False) -> Callable[..., Learner]:
    """A function that makes an active learner with a `budget` of labels or samples (`per`).

    The paper's profile uses the paper's criteria and variable thresholds, the default profile the best measured ones;
    `instability` adds that criterion. No error feedback: the claims are about which samples are queried.
    """

    def make(classifier: EvolvingFuzzyClassifier, profile: Profile, seed: int) -> Learner:
        paper = profile == "paper"
        criteria = PAPER_CRITERIA[:2] if paper else DEFAULT_CRITERIA[per]
        options = {
            **(paper_settings() if paper else {"error_feedback": False}),
            "criteria": (*criteria, Instability()) if instability else criteria,
        }
        return BudgetedLearner(classifier, budget, per, **options)

    return make


def _random(per: str) -> Callable[..., Learner]:
    """A function that makes a learner of a tenth of the labels or samples (`per`) at random.

    In the paper's profile answers move rules as far as those that `_asking` asks for, and as much budget is saved.
    """

    def make(classifier: EvolvingFuzzyClassifier, profile: Profile, seed: int) -> Learner:
        options: dict[str, Any] = paper_settings() if profile == "paper" else {"error_feedback": False}
        kept = {name: value for name, value in options.items() if name not in ("criteria", "selection")}
        return RandomSelection(classifier, 0.1, per, seed=seed, **kept)

    return make


METHODS: dict[str, Method] = {
    "ours": Method("EFC-ML (ours)", "ours", lambda classifier, profile, seed: classifier),
    "ovr": Method("one-versus-rest", "ovr", lambda classifier, profile, seed: EvolvingOneVsRest(classifier)),
    "chain": Method("classifier chain", "chain", lambda classifier, profile, seed: EvolvingChain(classifier)),
    "static": Method("static", "ours", lambda classifier, profile, seed: StaticClassifier(classifier)),
    "rfwls": Method(  # the default profile has no correlation step
        "RFWLS only", "rfwls", lambda classifier, profile, seed: classifier, ("paper",)
    ),
    "labels-30": Method("30 % of the labels", "ours", _asking("labels", 0.3)),
    "labels-20": Method("20 % of the labels", "ours", _asking("labels", 0.2)),
    "labels-10": Method("10 % of the labels", "ours", _asking("labels", 0.1)),
    "labels-10-instability": Method("10 %, with instability", "ours", _asking("labels", 0.1, instability=True)),
    "samples-30": Method("30 % of the samples", "ours", _asking("samples", 0.3)),
    "samples-20": Method("20 % of the samples", "ours", _asking("samples", 0.2)),
    "samples-10": Method("10 % of the samples", "ours", _asking("samples", 0.1)),
    "random-10": Method("10 % at random", "ours", _random("samples")),
}


CONTROLS: dict[str, Method] = {
    "ridge": Method(
        "ridge in place of the coupling", "ridge", lambda classifier, profile, seed: classifier, ("paper",)
    ),
    "uncoupled": Method("L1 alone", "uncoupled", lambda classifier, profile, seed: classifier, ("paper",)),
    "random-labels-10": Method("10 % of the labels at random", "ours", _random("labels"), ("paper",)),
}
"""Ablations: each differs from a method in one thing, on the same rules, by the same search, rates and savings."""


def build_classifier(profile: Profile, tuned_as: str, params: dict[str, Any]) -> EvolvingFuzzyClassifier:
    """An untrained classifier for a method tuned as `tuned_as` in `profile`, with the tuned `params`."""
    if profile == "default":
        return EvolvingFuzzyClassifier(**params)
    return PaperClassifier(**{**_FIXED[tuned_as], **params})


def search_grid(profile: Profile, tuned_as: str, grids: dict[Profile, ParameterValues]) -> ParameterValues:
    """The values of `grids` that a method tuned as `tuned_as` is searched over in `profile`.

    The same for all methods; alpha and beta only where they are not fixed.
    """
    fixed = _FIXED[tuned_as] if profile == "paper" else {}
    return {name: values for name, values in grids[profile].items() if name not in fixed}
