"""Claims about mediamill, with permanent updates and with active learning: Figures 7 and 11."""

from evolabel.reproduce.claims.numbers import AHEAD, LITTLE, gain, listed, points, score, worth
from evolabel.reproduce.claims.permanent import TEAMS
from evolabel.reproduce.claims.verdict import Claim, Measured
from evolabel.reproduce.experiments import MEDIAMILL
from evolabel.reproduce.methods import METHODS, Profile
from evolabel.reproduce.results import Findings

EQUAL = 0.01  # "more or less equal": within a point
EVOLVING = ("ours", *TEAMS)


def _both(findings: Findings, profile: Profile, method: str, other: str) -> tuple[float, float]:
    """By how much a method is above another in PA and in AP."""
    return (
        gain(findings, profile, MEDIAMILL, method, other, "pa"),
        gain(findings, profile, MEDIAMILL, method, other, "ap"),
    )


def _told(pair: tuple[float, float]) -> str:
    return f"{points(pair[0])} points of PA and {points(pair[1])} of AP"


def static_falls(findings: Findings, profile: Profile) -> Measured:
    """From a fifth of the stream to its end."""
    line = findings.outcome(MEDIAMILL, profile, "static").trend["pa"]
    early, late = line[len(line) // 5], line[-1]
    return Measured(
        late < early - AHEAD,
        f"{early:.4f} after a fifth of the stream, {late:.4f} at its end",
        lambda: (
            f"It {'rises' if late > early + AHEAD else 'stays where it is'}: of 100 labels about 96 are absent, PA is "
            "nearly all labels that are rightly left out, and those do not age."
        ),
    )


def evolving_above_static(findings: Findings, profile: Profile) -> Measured:
    """The worst of the three decides."""
    found = {method: _both(findings, profile, method, "static") for method in EVOLVING}
    worst = min(pa for pa, _ in found.values()), min(ap for _, ap in found.values())

    def why() -> str:
        below = [method for method, pair in found.items() if min(pair) <= 0.0]
        above = [method for method in EVOLVING if method not in below]
        told = "; ".join(f"{METHODS[method].title} is at {_told(found[method])} against it" for method in below)
        gain = "gains" if len(above) == 1 else "gain"
        rest = f", while {listed(METHODS[method].title for method in above)} {gain} by learning on" if above else ""
        return f"{told[0].upper()}{told[1:]}{rest}."

    return Measured(min(worst) > 0.0, f"the worst evolving method over static: {_told(worst)}", why)


def level_with_one_versus_rest(findings: Findings, profile: Profile) -> Measured:
    """Close to one another, and both above the chain."""
    ovr = _both(findings, profile, "ours", "ovr")
    chain = _both(findings, profile, "ours", "chain")
    ovr_over_chain = _both(findings, profile, "ovr", "chain")
    level = max(abs(found) for found in ovr) <= EQUAL

    def why() -> str:
        reasons = []
        if not level:
            sides = [
                f"{'ahead' if found > 0.0 else 'behind'} in {metric}"
                for metric, found in zip(("PA", "AP"), ovr, strict=True)
                if abs(found) > EQUAL
            ]
            reasons.append(
                f"Ours is {listed(sides)}: most of the 101 labels have few positives, and whether they share a rule "
                "base or have one each decides about their ranking."
            )
        if min(*chain, *ovr_over_chain) <= 0.0:
            reasons.append("Not both are above the chain: what it knows of other labels helps more than it misleads.")
        return " ".join(reasons)

    return Measured(
        level and min(*chain, *ovr_over_chain) > 0.0,
        f"ours over one-versus-rest: {_told(ovr)}; over the chain: {_told(chain)}; one-versus-rest over the chain: "
        f"{_told(ovr_over_chain)}",
        why,
    )


def rfwls_worse(findings: Findings, profile: Profile) -> Measured:
    """What the correlation step adds."""
    found = _both(findings, profile, "ours", "rfwls")

    def why() -> str:
        params = findings.outcome(MEDIAMILL, profile, "ours").params
        chosen = f"The batch chooses alpha {params.get('alpha', 0.0):g} and beta {params.get('beta', 0.0):g}"
        effects = [
            f"{metric} {'hardly changes' if change >= -AHEAD else 'suffers'}"
            for metric, change in zip(("PA", "AP"), found, strict=True)
            if change <= AHEAD
        ]
        return f"{chosen}, with which {listed(effects)} by the step."

    return Measured(min(found) > AHEAD, f"the correlation step adds {_told(found)}", why)


def keeps_pa(findings: Findings, profile: Profile) -> Measured:
    """PA with 10 % of the samples against a full update."""
    found = gain(findings, profile, MEDIAMILL, "samples-10", "ours")
    return Measured(
        found >= -LITTLE / 2,
        f"{points(found)} points",
        lambda: worth(findings, profile, (MEDIAMILL,), "samples-10"),
    )


def loses_little_ap(findings: Findings, profile: Profile) -> Measured:
    """AP with 30 % of the samples against a full update."""
    found = gain(findings, profile, MEDIAMILL, "samples-30", "ours", "ap")
    return Measured(
        -3 * LITTLE <= found < 0.0,
        f"{points(found)} points",
        lambda: (
            "Nothing is lost: 30 % of the samples, chosen well, rank as well as all."
            if found >= 0.0
            else "Rare labels are learned from the few samples that have them, most of which were not asked about."
        ),
    )


def chance_is_static(findings: Findings, profile: Profile) -> Measured:
    """10 % by chance: nearer to the static classifier than to the active one?"""
    chance, static, active = (
        score(findings, profile, MEDIAMILL, method, "ap") for method in ("random-10", "static", "samples-10")
    )

    def why() -> str:
        told = (
            f"Over standing still, samples by chance bring {points(chance - static)} points of AP, chosen ones "
            f"{points(active - static)}"
        )
        if max(chance, active) < static:
            return f"{told}: a tenth of the samples does more harm than good, however it is chosen."
        if max(chance, active) - static <= LITTLE:
            return f"{told}: a tenth of the samples teaches little, however it is chosen."
        return f"{told}: most of what there is to learn is in any of them."

    told = f"AP {chance:.3f} by chance, {static:.3f} static, {active:.3f} active"
    return Measured(abs(chance - static) < abs(chance - active) and chance < active, told, why)


CLAIMS = (
    Claim(
        "static-falls",
        "fig7",
        "mediamill: the static classifier's PA falls along the stream",
        f"at least {100 * AHEAD:g} points lower at the end than after a fifth",
        static_falls,
    ),
    Claim(
        "evolving-above-static",
        "fig7",
        "mediamill: all evolving methods stay above static in PA and AP",
        "the worst of the three is above it in both",
        evolving_above_static,
    ),
    Claim(
        "mediamill-level",
        "fig7",
        "mediamill: ours and one-versus-rest are about equal, both clearly above the chain",
        f"within {100 * EQUAL:g} point in PA and AP, and both above the chain in both",
        level_with_one_versus_rest,
    ),
    Claim(
        "rfwls-worse",
        "fig7",
        "mediamill: RFWLS alone, without the correlation step, is worse",
        f"more than {100 * AHEAD:g} points lower in PA and AP",
        rfwls_worse,
        ("paper",),
    ),
    Claim(
        "mediamill-keeps-pa",
        "fig11",
        "mediamill: PA does not fall even with 10 % of the samples",
        f"at most {100 * LITTLE / 2:g} points below a full update",
        keeps_pa,
    ),
    Claim(
        "mediamill-ap",
        "fig11",
        "mediamill: AP falls slightly between a full update and 30 % of the samples",
        f"by at most {300 * LITTLE:g} points",
        loses_little_ap,
    ),
    Claim(
        "chance-is-static",
        "fig11",
        "mediamill: 10 % at random end where the static classifier ends",
        "AP nearer to static than to active selection, and below the latter",
        chance_is_static,
    ),
)
