"""A claim of the paper, and what becomes of it: every verdict is computed from findings, none is typed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from evolabel.reproduce.methods import PROFILES, Profile
from evolabel.reproduce.results import AbsentError, Findings

Ruling = Literal["holds", "does not hold", "cannot be checked"]
HOLDS: Ruling = "holds"
FAILS: Ruling = "does not hold"
UNKNOWN: Ruling = "cannot be checked"


class Measured(NamedTuple):
    """What we found, in numbers, and whether that is what the paper says.

    `why` says why not, if it does not hold. It is made of measured numbers, too, so that it cannot contradict them.
    """

    holds: bool
    told: str
    why: Callable[[], str]


Check = Callable[[Findings, Profile], Measured]


@dataclass(frozen=True)
class Claim:
    """One line of the paper.

    Parameters
    ----------
    key : str
    where : str
        Key of the experiment.
    words : str
        What the paper says, in our words.
    means : str
        When we say that it holds.
    check : function of findings and profile
    profiles : tuple
        Where the claim makes sense.
    """

    key: str
    where: str
    words: str
    means: str
    check: Check
    profiles: tuple[Profile, ...] = PROFILES

    def verdict(self, findings: Findings, profile: Profile) -> "Verdict":
        """The claim held against what was found."""
        try:
            measured = self.check(findings, profile)
        except AbsentError as absent:
            return Verdict(self, profile, UNKNOWN, f"{absent}", "")
        if measured.holds:
            return Verdict(self, profile, HOLDS, measured.told, "")
        return Verdict(self, profile, FAILS, measured.told, _explained(measured))


def _explained(measured: Measured) -> str:
    try:
        return measured.why()
    except AbsentError as absent:
        return f"What could explain it is missing: {absent}."


@dataclass(frozen=True)
class Verdict:
    """What became of a claim in one profile."""

    claim: Claim
    profile: Profile
    ruling: Ruling
    measured: str
    explanation: str
