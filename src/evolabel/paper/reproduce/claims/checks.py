"""A claim of the paper and its verdict, which is always computed from results; checks, and numbers as text."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from evolabel.paper.reproduce.methods import METHODS, PROFILES, Profile
from evolabel.paper.reproduce.results import NoResultError, ProfileResults

Ruling = Literal["holds", "does not hold", "cannot be checked"]
HOLDS: Ruling = "holds"
FAILS: Ruling = "does not hold"
UNKNOWN: Ruling = "cannot be checked"

MIN_LEAD = 0.002  # smaller differences of scores are not counted as differences
MAX_LOSS = 0.01  # "negligible", "no significant drop" in the paper: at most one percentage point


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
    """One claim of the paper about the `experiment` of this key; `key` is its own name in `verdicts.json`.

    `statement` is the claim in our words, `holds_if` the condition that is checked. `check` returns what was measured
    in one of the `profiles` to which the claim applies.
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


def points(difference: float) -> str:
    """A `difference` of scores in percentage points with its sign and one decimal."""
    return _signed(100 * difference, 1)


def hundredths(difference: float) -> str:
    """A small `difference` of scores in percentage points with its sign and two decimals."""
    return _signed(100 * difference, 2)


def ratio_text(ratio: float) -> str:
    """`ratio` with one decimal, such as "2.5x"."""
    return f"{ratio:.1f}x"


def count_text(number: float) -> str:
    """`number` without decimals."""
    return f"{number:,.0f}"


def numbered(found: dict[str, float], form: Callable[[float], str]) -> str:
    """The names of `found`, each with its number in the `form` given: birds +1.0, yeast -0.2."""
    return ", ".join(f"{name} {form(number)}" for name, number in found.items())


def on_each(
    names: Iterable[str],
    value: Callable[[ProfileResults, str], float],
    agrees: Callable[[float], bool],
    *,
    what: str,
    why: Callable[[ProfileResults, dict[str, float]], str],
    form: Callable[[float], str] = points,
) -> ClaimCheck:
    """A check of each data set of `names`: one that contradicts the claim refutes it, all must be there to confirm it.

    `value` returns the number of a data set, `agrees` whether that number agrees with the claim, `form` the number as
    text; `what` names the numbers. `why` explains a failure by the results and the numbers that
    contradict the claim.
    """

    def check(results: ProfileResults) -> Measured:
        found: dict[str, float] = {}
        missing: list[str] = []
        for name in names:
            try:
                found[name] = value(results, name)
            except NoResultError as error:
                missing.append(str(error))
        text = f"{what}: {numbered(found, form)}" if found else ""
        against = {name: number for name, number in found.items() if not agrees(number)}
        if missing and not against:
            raise NoResultError("; ".join([*filter(None, [text]), missing[0]]))
        return Measured(not against, text, lambda: why(results, against))

    return check


def listed(names: Iterable[str]) -> str:
    """`names` as a list in a sentence.

    Examples
    --------
    >>> listed(["birds", "emotions", "yeast"])
    'birds, emotions and yeast'
    """
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def learning_gain(found: ProfileResults, names: Iterable[str], method: str) -> str:
    """A sentence with the gain over the static classifier on each of `names`, by a full update and by `method`.

    The numbers come from `found`.
    """
    gains = (
        f"on {name} {points(found.gain(name, 'ours', 'static'))} points of PA with a full update and "
        f"{points(found.gain(name, method, 'static'))} with {METHODS[method].title}"
        for name in names
    )
    return f"Gain of learning after the initial batch: {'; '.join(gains)}."


def _signed(number: float, digits: int) -> str:
    rounded = round(number, digits)
    return f"{rounded:+.{digits}f}" if rounded else f"{0.0:.{digits}f}"
