"""Every claim of the paper's experiments, checked by code."""

from evolabel.paper.reproduce.claims import budgets, mediamill, permanent_updates, speed
from evolabel.paper.reproduce.claims.checks import PaperClaim, Verdict
from evolabel.paper.reproduce.claims.intervals import FAILS, HOLDS, NOT_DECIDED, UNKNOWN, Ruling
from evolabel.paper.reproduce.experiments import EXPERIMENTS
from evolabel.paper.reproduce.results import ProfileResults, ReproductionResults

__all__ = ["CLAIMS", "FAILS", "HOLDS", "NOT_DECIDED", "UNKNOWN", "PaperClaim", "Ruling", "Verdict", "verdicts"]

_ALL = (
    *permanent_updates.PERMANENT_CLAIMS,
    *mediamill.MEDIAMILL_CLAIMS,
    *budgets.BUDGET_CLAIMS,
    *speed.SPEED_CLAIMS,
)
CLAIMS: tuple[PaperClaim, ...] = tuple(claim for key in EXPERIMENTS for claim in _ALL if claim.experiment == key)


def verdicts(results: ReproductionResults) -> list[Verdict]:
    """The verdict on every claim in each of its profiles, computed from `results`."""
    return [claim.verdict(ProfileResults(results, profile)) for claim in CLAIMS for profile in claim.profiles]
