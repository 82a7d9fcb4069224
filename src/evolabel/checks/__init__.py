"""Checks for authors of a learner, member, refiner, criterion or selector, as scikit-learn's `check_estimator`.

Each function runs small checks on a small stream and raises AssertionError at the first that fails. The message names
what is broken, what was expected and what to do. Objects are copied (`copy.deepcopy`), so those passed do not change.
"""

from evolabel.checks.learners import check_learner
from evolabel.checks.questions import check_criterion, check_selector
from evolabel.checks.stages import check_stage

__all__ = ["check_criterion", "check_learner", "check_selector", "check_stage"]
