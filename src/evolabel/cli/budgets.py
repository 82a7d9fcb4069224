"""Learners that ask for labels, as a command line wishes them: active, by the paper's criteria, and at random."""

from dataclasses import dataclass
from typing import Literal

from cyclopts import Parameter

from evolabel import EvolvingFuzzyClassifier
from evolabel._utils.validation import check_number
from evolabel.active import BudgetedLearner, RandomSelection
from evolabel.active.presets import paper_settings
from evolabel.active.scoring.criteria import read_criteria
from evolabel.active.selection import read_selector
from evolabel.baselines import make_learner
from evolabel.cli.learners import Factory
from evolabel.cli.source import split_names
from evolabel.errors import ParameterError
from evolabel.evaluate import Learner

STATIC = "static"
OFTEN = 0.5  # a budget with which a few rows are enough to see all that asking takes
HURRIED = {"max_rules": 3, "prune_after": 5, "min_support": 50}


@Parameter(name="*")  # its fields are options of the command itself
@dataclass(frozen=True)
class Asking:
    """How labels are asked for.

    Parameters
    ----------
    budget
        Ask for labels, for at most this share of the stream: active learning beside the paper's criteria and random
        questions of the same budget, the full update, and no update at all. Several as in 0.1,0.2,0.3.
    per
        What is asked for and counted: whole samples, or single labels.
    criteria
        What makes a sample worth a question, separated by commas: novelty, ambiguity, uncertainty, instability,
        leverage, soft_count, variance_reduction. By default what was measured to help most.
    selection
        How samples are chosen by these scores: quantile (the default), tokens, first_come, variable.
    """

    budget: str = ""
    per: Literal["samples", "labels"] = "samples"
    criteria: str = ""
    selection: Literal["quantile", "tokens", "first_come", "variable"] | None = None


def with_budgets(learners: dict[str, Factory], asking: Asking, initial: float | str) -> dict[str, Factory]:
    """The learners that ask first, then those that take all labels, and one that takes none."""
    budgets = read_budgets(asking)
    if not budgets:
        return learners
    if initial == 0:
        raise ParameterError("--budget needs an initial batch to judge samples by; use --initial 0.2")
    base = next(iter(learners.values()))
    if not isinstance(base(0), EvolvingFuzzyClassifier):
        raise ParameterError(f"--budget needs a fuzzy classifier to teach, not {next(iter(learners))}; use another")
    asked: dict[str, Factory] = {}
    for budget in budgets:
        asked |= _who_ask(base, budget, asking)
    return {**asked, **learners, STATIC: lambda seed: make_learner(STATIC, seed)}


def rehearsing(learners: dict[str, Factory], asking: Asking) -> dict[str, Learner]:
    """One of each kind that `with_budgets` puts beside the given ones, in a hurry: few rules, which die soon."""
    if not asking.budget:
        return {}
    base = next(iter(learners.values()))
    kinds = _who_ask(lambda seed: _taught(base, seed).set_params(**HURRIED), OFTEN, asking)
    return {**{name: make(0) for name, make in kinds.items()}, STATIC: make_learner(STATIC, 0)}


def read_budgets(asking: Asking) -> list[float]:
    """The budgets, and nothing wrong with the other options."""
    try:
        budgets = [float(part) for part in split_names(asking.budget)]
    except ValueError:
        raise ParameterError(f"--budget {asking.budget} is not allowed; use a share as 0.1, or several") from None
    for budget in budgets:
        check_number("budget", budget, 0, 1, open_low=True)
    if not budgets and asking != Asking():
        raise ParameterError("--per, --criteria and --selection say how to ask; give a --budget, too")
    criteria = read_criteria(split_names(asking.criteria) or None, asking.per)
    read_selector(asking.selection, asking.per).reset(criteria, 1.0, 1, 1)  # some need criteria with thresholds
    return budgets


def classifier_of(learner: Learner) -> Learner:
    """The classifier that a learner teaches; itself, if it asks nobody."""
    return learner.learner_.classifier if isinstance(learner, BudgetedLearner) else learner


def _who_ask(base: Factory, budget: float, asking: Asking) -> dict[str, Factory]:
    """Three ways to spend a budget."""
    share, per = f"{100 * budget:g} %", asking.per
    criteria = split_names(asking.criteria) or None

    def active(seed: int) -> Learner:
        return BudgetedLearner(_taught(base, seed), budget, per, criteria=criteria, selection=asking.selection)

    def paper(seed: int) -> Learner:
        return BudgetedLearner(_taught(base, seed), budget, per, **paper_settings())

    def random(seed: int) -> Learner:
        return RandomSelection(_taught(base, seed), budget, per, seed=seed)

    return {f"active {share}": active, f"paper {share}": paper, f"random {share}": random}


def _taught(base: Factory, seed: int) -> EvolvingFuzzyClassifier:
    classifier = base(seed)
    assert isinstance(classifier, EvolvingFuzzyClassifier)
    return classifier
