"""Learners with a label budget for `evolabel run --budget`: active, by the paper's criteria, and at random."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from cyclopts import Group, Parameter

from evolabel import EvolvingFuzzyClassifier
from evolabel._utils.validation import check_number
from evolabel.active import BudgetedLearner, RandomSelection
from evolabel.active.presets import paper_settings
from evolabel.active.scoring.criteria import read_criteria
from evolabel.active.selection import read_selector
from evolabel.cli.learners import Factory
from evolabel.cli.source import split_names
from evolabel.errors import ParameterError
from evolabel.evaluate import Learner
from evolabel.learners import make_learner

_STATIC = "static"
_COMPILING_BUDGET = 0.5  # with this budget a few rows are enough to run all kernels of a query
_COMPILING_PARAMS = {"max_rules": 3, "prune_after": 5, "min_support": 50}  # few rules, which are soon removed


@Parameter(name="*", group=Group("Active learning", sort_key=1))  # its fields are options of the command itself
@dataclass(frozen=True)
class BudgetOptions:
    """Options of active learning.

    Parameters
    ----------
    budget
        Ask for labels, for at most this share of the stream; several as in 0.1,0.2,0.3. The run then compares active
        learning, the paper's criteria and random questions with this budget, training on all labels, and no training
        after the initial batch.
    per
        What is asked for and counted: whole samples, or single labels.
    criteria
        How samples are scored, separated by commas: novelty, ambiguity, uncertainty, instability, leverage, soft_count,
        variance_reduction. By default those that helped most in experiments.
    selection
        How samples are selected by these scores: quantile (the default), tokens, first_come, variable.
    """

    budget: str = ""
    per: Literal["samples", "labels"] = "samples"
    criteria: str = ""
    selection: Literal["quantile", "tokens", "first_come", "variable"] | None = None


def with_budgets(learners: dict[str, Factory], options: BudgetOptions, initial: float | str) -> dict[str, Factory]:
    """Return learners with each budget of `options`, then the given `learners`, then one that is not trained further.

    Without a budget these are the given `learners`. `initial` is the size of the initial batch, which must not be 0.
    """
    budgets = read_budgets(options)
    if not budgets:
        return learners
    if initial == 0:
        raise ParameterError("--budget needs an initial batch to score samples by; use --initial 0.2")
    base = next(iter(learners.values()))
    if not isinstance(base(0), EvolvingFuzzyClassifier):
        raise ParameterError(f"--budget needs a fuzzy classifier to train, not {next(iter(learners))}; use another")
    budgeted: dict[str, Factory] = {}
    for budget in budgets:
        budgeted |= _budgeted(base, budget, options)
    return {**budgeted, **learners, _STATIC: partial(make_learner, _STATIC)}


def compiling_learners(learners: dict[str, Factory], options: BudgetOptions) -> dict[str, Learner]:
    """Return one learner of each kind that `with_budgets` adds to `learners` for `options`, small enough to compile."""
    if not options.budget:
        return {}
    base = next(iter(learners.values()))
    kinds = _budgeted(lambda seed: _classifier(base, seed).set_params(**_COMPILING_PARAMS), _COMPILING_BUDGET, options)
    return {**{name: make(0) for name, make in kinds.items()}, _STATIC: make_learner(_STATIC, 0)}


def read_budgets(options: BudgetOptions) -> list[float]:
    """Return the budgets of `options`; ParameterError if one of its fields is not allowed."""
    try:
        budgets = [float(part) for part in split_names(options.budget)]
    except ValueError:
        raise ParameterError(f"--budget {options.budget} is not allowed; use a share as 0.1, or several") from None
    for budget in budgets:
        check_number("budget", budget, 0, 1, open_low=True)
    if not budgets and options != BudgetOptions():
        raise ParameterError("--per, --criteria and --selection need a budget; give a --budget, too")
    criteria = read_criteria(split_names(options.criteria) or None, options.per)
    read_selector(options.selection, options.per).reset(criteria, 1.0, 1, 1)  # some need criteria with thresholds
    return budgets


def trained_classifier(learner: Learner) -> Learner:
    """Return the classifier that `learner` trains, or `learner` itself if it has no budget."""
    return learner.learner_.classifier if isinstance(learner, BudgetedLearner) else learner


def _budgeted(base: Factory, budget: float, options: BudgetOptions) -> dict[str, Factory]:
    """Return three learners by name that spend `budget` in different ways on classifiers made by `base`."""
    share, per = f"{100 * budget:g} %", options.per
    chosen: dict[str, Any] = {"criteria": split_names(options.criteria) or None, "selection": options.selection}
    return {
        f"active {share}": lambda seed: BudgetedLearner(_classifier(base, seed), budget, per, **chosen),
        f"paper {share}": lambda seed: BudgetedLearner(_classifier(base, seed), budget, per, **paper_settings()),
        f"random {share}": lambda seed: RandomSelection(_classifier(base, seed), budget, per, seed=seed),
    }


def _classifier(base: Factory, seed: int) -> EvolvingFuzzyClassifier:
    classifier = base(seed)
    assert isinstance(classifier, EvolvingFuzzyClassifier)
    return classifier
