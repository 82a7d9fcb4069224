"""Numbers that claims are about, and how they are told."""

from collections.abc import Callable, Iterable
from typing import Literal

from evolabel.reproduce.claims.verdict import Measured
from evolabel.reproduce.findings import AbsentError, Findings
from evolabel.reproduce.methods import Profile

Metric = Literal["pa", "ap"]


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
) -> Measured:
    """Does the claim hold on each of these sets? One that refutes it is enough; to confirm it, all must be there."""
    found: dict[str, float] = {}
    absent: list[str] = []
    for name in names:
        try:
            found[name] = value(name)
        except AbsentError as error:
            absent.append(str(error))
    told = f"{what}: {', '.join(f'{name} {form(number)}' for name, number in found.items())}" if found else ""
    holds = all(agrees(number) for number in found.values())
    if absent and holds:
        raise AbsentError("; ".join([*filter(None, [told]), absent[0]]))
    return Measured(holds, told)


def points(difference: float) -> str:
    """A difference of scores in percentage points, with its sign."""
    return f"{100 * difference:+.1f}"


def times(ratio: float) -> str:
    """A ratio."""
    return f"{ratio:.1f}x"


def whole(number: float) -> str:
    """A count."""
    return f"{number:,.0f}"
