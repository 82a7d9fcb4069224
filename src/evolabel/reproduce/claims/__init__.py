"""Every claim of the paper's experiments, checked by code."""

from evolabel.reproduce.claims import active, mediamill, permanent, speed
from evolabel.reproduce.claims.verdict import FAILS, HOLDS, UNKNOWN, Claim, Ruling, Verdict
from evolabel.reproduce.findings import Findings

__all__ = ["CLAIMS", "FAILS", "HOLDS", "UNKNOWN", "Claim", "Ruling", "Verdict", "verdicts"]

CLAIMS: tuple[Claim, ...] = (*permanent.CLAIMS, *mediamill.CLAIMS, *active.CLAIMS, *speed.CLAIMS)


def verdicts(findings: Findings) -> list[Verdict]:
    """What becomes of every claim, profile by profile."""
    return [claim.verdict(findings, profile) for claim in CLAIMS for profile in claim.profiles]
