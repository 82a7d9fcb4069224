"""A claim of the paper and its verdict, which is always computed from results; numbers as text."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

from evolabel.paper.reproduce.claims.intervals import FAILS, HOLDS, NOT_DECIDED, UNKNOWN, Ruling, SeedInterval
from evolabel.paper.reproduce.methods import METHODS, PROFILES, Profile
from evolabel.paper.reproduce.results import NoResultError, ProfileResults, ScoreName

MIN_LEAD = 0.002  # smaller differences of scores are called level
MAX_LOSS = 0.01  # "negligible", "no significant drop" in the paper: at most one percentage point
ABOVE_ZERO = 1e-9  # the least value of a number that must be positive


NumberOf = Callable[[ProfileResults], float]
"""A function that computes a number from the results of one seed, or means over the seeds."""


@dataclass(frozen=True)
class BoundedNumber:
    """A number that must lie between `least` and `most` for a claim to hold.

    `name` says what it is about, `value` computes it from the results of one seed. It is judged by its interval over
    the seeds of `dataset`, or, if it must be true `always`, by every seed.
    """

    name: str
    dataset: str
    value: NumberOf
    least: float = -inf
    most: float = inf
    always: bool = False

    def judged(self, found: ProfileResults) -> tuple[SeedInterval, Ruling]:
        """The interval of the number over the seeds of `found`, and the ruling."""
        values = [self.value(found.of(seed)) for seed in found.seeds(self.dataset) or [0]]
        interval = SeedInterval.of(values)
        if self.always:
            return interval, HOLDS if all(self.least <= value <= self.most for value in values) else FAILS
        return interval, interval.ruling(self.least, self.most)


Numbers = dict[str, float]
"""Means over the seeds by the name of their condition."""


@dataclass(frozen=True)
class PaperClaim:
    """One claim of the paper about the `experiment` of this key; `key` is its own name in `verdicts.json`.

    `statement` is the claim in our words, `holds_if` says when it holds: if all `conditions` do. `what` names their
    numbers, `form` writes one of them. `why` explains a failure by the results (means over the seeds) and the numbers
    that contradict the claim. It applies to the `profiles`.
    """

    key: str
    experiment: str
    statement: str
    holds_if: str
    what: str
    conditions: tuple[BoundedNumber, ...]
    why: Callable[[ProfileResults, Numbers], str]
    form: Callable[[float], str]
    profiles: tuple[Profile, ...] = PROFILES

    def verdict(self, found: ProfileResults) -> "Verdict":
        """The verdict on this claim by the results `found` in one profile.

        One condition that fails refutes the claim; all must be there, and decided, to confirm it.
        """
        judged: dict[str, tuple[SeedInterval, Ruling]] = {}
        missing: list[str] = []
        for condition in self.conditions:
            try:
                judged[condition.name] = condition.judged(found)
            except NoResultError as error:
                missing.append(str(error))
        text = f"{self.what}: {self._listed({name: interval for name, (interval, _) in judged.items()})}"
        against = {name: interval.mean for name, (interval, ruling) in judged.items() if ruling == FAILS}
        if missing and not against:
            return Verdict(self, found.profile, UNKNOWN, "; ".join([*([text] if judged else []), missing[0]]), "")
        if against:
            return Verdict(self, found.profile, FAILS, text, self._explained(found, against))
        if open_ones := [name for name, (_, ruling) in judged.items() if ruling == NOT_DECIDED]:
            return Verdict(self, found.profile, NOT_DECIDED, text, _why_open(judged, open_ones))
        return Verdict(self, found.profile, HOLDS, text, "")

    def _explained(self, found: ProfileResults, against: Numbers) -> str:
        try:
            return self.why(found, against)
        except NoResultError as missing:
            return f"The numbers that could explain it are missing: {missing}."

    def _listed(self, intervals: dict[str, SeedInterval]) -> str:
        """The names of `intervals`, each with its mean and its limits: birds +1.0 [+0.2, +1.8]."""
        return ", ".join(f"{name} {self.form(i.mean)}{_limits(i, self.form)}" for name, i in intervals.items())


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim in one profile: the ruling, the measured numbers, and why the claim does not hold."""

    claim: PaperClaim
    profile: Profile
    ruling: Ruling
    measured: str
    explanation: str


def each(
    names: Iterable[str], value: Callable[[ProfileResults, str], float], **bounds: Any
) -> tuple[BoundedNumber, ...]:
    """A condition for each data set of `names`, with a `value` of results and name, and the same `bounds`."""
    return tuple(BoundedNumber(name, name, _on_set(value, name), **bounds) for name in names)


def score_difference(dataset: str, method: str, other: str, metric: ScoreName = "pa") -> NumberOf:
    """A function of results: the score (`metric`) of `method` minus that of `other` on `dataset`."""
    return lambda found: found.gain(dataset, method, other, metric)


def _on_set(value: Callable[[ProfileResults, str], float], name: str) -> NumberOf:
    return lambda found: value(found, name)


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


def percent_text(share: float) -> str:
    """`share` in percent, without decimals."""
    return f"{100 * share:.0f} %"


def numbered(found: Numbers, form: Callable[[float], str]) -> str:
    """The names of `found`, each with its number in the `form` given: birds +1.0, yeast -0.2."""
    return ", ".join(f"{name} {form(number)}" for name, number in found.items())


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


def _limits(interval: SeedInterval, form: Callable[[float], str]) -> str:
    if not isfinite(interval.low) or interval.low == interval.high:
        return ""
    return f" [{form(interval.low)}, {form(interval.high)}]"


def _why_open(judged: dict[str, tuple[SeedInterval, Ruling]], names: Sequence[str]) -> str:
    if any(not isfinite(judged[name][0].low) for name in names):
        return "One seed has no interval: this needs more seeds."
    return f"The interval over the seeds crosses the bound on {listed(names)}."


def _signed(number: float, digits: int) -> str:
    rounded = round(number, digits)
    return f"{rounded:+.{digits}f}" if rounded else f"{0.0:.{digits}f}"
