"""A claim of the paper and its verdict, which is always computed from results."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from evolabel.reproduce.methods import PROFILES, Profile
from evolabel.reproduce.results import NoResultError, ProfileResults

Ruling = Literal["holds", "does not hold", "cannot be checked"]
HOLDS: Ruling = "holds"
FAILS: Ruling = "does not hold"
UNKNOWN: Ruling = "cannot be checked"


class Measured(NamedTuple):
    """Whether a claim `holds`, the measured numbers as `text`, and a function `why` that explains a failure.

    The explanation is built from measured numbers, too, so that it cannot contradict them.
    """

    holds: bool
    text: str
    why: Callable[[], str]


ClaimCheck = Callable[[ProfileResults], Measured]


@dataclass(frozen=True)
class PaperClaim:
    """One claim of the paper.

    Parameters
    ----------
    key : str
        Name in `verdicts.json`.
    experiment : str
        Key of the experiment it is about.
    statement : str
        The claim in our words.
    holds_if : str
        The condition that is checked.
    check : callable of ProfileResults
        Returns what was measured.
    profiles : tuple of str
        The profiles to which the claim applies.
    """

    key: str
    experiment: str
    statement: str
    holds_if: str
    check: ClaimCheck
    profiles: tuple[Profile, ...] = PROFILES

    def verdict(self, found: ProfileResults) -> "Verdict":
        """The verdict on this claim by the results `found` in one profile."""
        try:
            measured = self.check(found)
        except NoResultError as missing:
            return Verdict(self, found.profile, UNKNOWN, f"{missing}", "")
        if measured.holds:
            return Verdict(self, found.profile, HOLDS, measured.text, "")
        try:
            why = measured.why()
        except NoResultError as missing:
            why = f"The numbers that could explain it are missing: {missing}."
        return Verdict(self, found.profile, FAILS, measured.text, why)


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim in one profile: the ruling, the measured numbers, and why the claim does not hold."""

    claim: PaperClaim
    profile: Profile
    ruling: Ruling
    measured: str
    explanation: str
