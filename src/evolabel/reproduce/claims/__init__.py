"""Every claim of the paper's experiments, checked by code."""

from evolabel.reproduce.claims import by_labels, by_samples, mediamill, permanent, rules, speed
from evolabel.reproduce.claims.verdict import FAILS, HOLDS, UNKNOWN, Claim, Ruling, Verdict
from evolabel.reproduce.experiments import EXPERIMENTS
from evolabel.reproduce.results import Findings

__all__ = ["CLAIMS", "FAILS", "HOLDS", "UNKNOWN", "Claim", "Ruling", "Verdict", "verdicts"]

_MODULES = (permanent, rules, mediamill, by_labels, by_samples, speed)
CLAIMS: tuple[Claim, ...] = tuple(
    claim for where in EXPERIMENTS for module in _MODULES for claim in module.CLAIMS if claim.where == where
)


def verdicts(findings: Findings) -> list[Verdict]:
    """What becomes of every claim, profile by profile."""
    return [claim.verdict(findings, profile) for claim in CLAIMS for profile in claim.profiles]
