"""Numbers that claims are about, and how they are told."""

from collections.abc import Callable, Iterable
from typing import Literal

from evolabel.reproduce.claims.verdict import Measured
from evolabel.reproduce.methods import METHODS, Profile
from evolabel.reproduce.results import AbsentError, Findings

Metric = Literal["pa", "ap"]

AHEAD = 0.002  # less than a fifth of a point says nothing
LITTLE = 0.01  # "negligible", "no significant drop": at most a point


def score(findings: Findings, profile: Profile, dataset: str, method: str, metric: Metric = "pa") -> float:
    """PA or AP over the whole stream."""
    value: float = getattr(findings.outcome(dataset, profile, method), metric)
    return value


def gain(findings: Findings, profile: Profile, dataset: str, method: str, other: str, metric: Metric = "pa") -> float:
    """By how much a method is above another one."""
    mine = score(findings, profile, dataset, method, metric)
    return mine - score(findings, profile, dataset, other, metric)


def on_each(
    names: Iterable[str],
    value: Callable[[str], float],
    agrees: Callable[[float], bool],
    form: Callable[[float], str],
    what: str,
    why: Callable[[dict[str, float]], str],
) -> Measured:
    """Does the claim hold on each of these sets? One that refutes it is enough; to confirm it, all must be there.

    `why` gets the sets that refute it, and their numbers.
    """
    found: dict[str, float] = {}
    absent: list[str] = []
    for name in names:
        try:
            found[name] = value(name)
        except AbsentError as error:
            absent.append(str(error))
    told = f"{what}: {numbered(found, form)}" if found else ""
    against = {name: number for name, number in found.items() if not agrees(number)}
    if absent and not against:
        raise AbsentError("; ".join([*filter(None, [told]), absent[0]]))
    return Measured(not against, told, lambda: why(against))


def points(difference: float) -> str:
    """A difference of scores in percentage points, with its sign."""
    return _signed(100 * difference, 1)


def hundredths(difference: float) -> str:
    """The same, for differences that are small."""
    return _signed(100 * difference, 2)


def times(ratio: float) -> str:
    """A ratio."""
    return f"{ratio:.1f}x"


def whole(number: float) -> str:
    """A count."""
    return f"{number:,.0f}"


def numbered(found: dict[str, float], form: Callable[[float], str]) -> str:
    """Sets with their numbers: birds +1.0, yeast -0.2."""
    return ", ".join(f"{name} {form(number)}" for name, number in found.items())


def listed(names: Iterable[str]) -> str:
    """Names as a person lists them.

    Examples
    --------
    >>> listed(["birds", "emotions", "yeast"])
    'birds, emotions and yeast'
    """
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def worth(findings: Findings, profile: Profile, against: Iterable[str], method: str) -> str:
    """What learning on brings over standing still, all of it and with a budget: the reason for whatever is lost."""
    told = (
        f"on {name} {points(gain(findings, profile, name, 'ours', 'static'))} points of PA with a full update and "
        f"{points(gain(findings, profile, name, method, 'static'))} with {METHODS[method].title}"
        for name in against
    )
    return f"What learning on is worth, over standing still: {'; '.join(told)}."


def _signed(number: float, digits: int) -> str:
    rounded = round(number, digits)
    return f"{rounded:+.{digits}f}" if rounded else f"{0.0:.{digits}f}"
