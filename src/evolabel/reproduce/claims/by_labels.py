"""Claims about active learning with a budget of labels: Figures 8 and 10."""

from evolabel.reproduce.claims.numbers import (
    AHEAD,
    LITTLE,
    gain,
    hundredths,
    listed,
    numbered,
    on_each,
    points,
    worth,
)
from evolabel.reproduce.claims.verdict import Claim, Measured
from evolabel.reproduce.experiments import FOUR
from evolabel.reproduce.methods import Profile
from evolabel.reproduce.results import Findings

EASY, HARD = ("emotions", "yeast"), ("birds", "water-quality")
BUDGETS = (30, 20, 10)
STEADIER = ("birds", "emotions", "water-quality")
USED_UP, SAME = 0.9, 0.01  # shares of a budget


def little_lost(findings: Findings, profile: Profile) -> Measured:
    """Budgets of 20 and 10 % of the labels against all of them."""
    return on_each(
        EASY,
        lambda name: min(gain(findings, profile, name, f"labels-{b}", "ours") for b in (20, 10)),
        lambda found: found >= -LITTLE,
        points,
        "points against a full update, of the worse of the two budgets",
        lambda against: worth(findings, profile, against, "labels-10"),
    )


def random_is_worse(findings: Findings, profile: Profile) -> Measured:
    """10 % by the criteria against 10 % by chance."""

    def why(against: dict[str, float]) -> str:
        left = {name: gain(findings, profile, name, "ours", "random-10") for name in against}
        little = {name: room for name, room in left.items() if room <= LITTLE}
        much = {name: room for name, room in left.items() if name not in little}
        reasons = []
        if little:
            reasons.append(f"Hardly anything is left to win: a full update over chance is {numbered(little, points)}.")
        if much:
            reasons.append(
                f"A full update over chance is {numbered(much, points)}, so there is more to win, but with many labels "
                "nearly every sample has an ambiguous one: the budget decides which are asked about, not the criteria."
            )
        return " ".join(reasons)

    return on_each(
        FOUR,
        lambda name: gain(findings, profile, name, "labels-10", "random-10"),
        lambda found: found > AHEAD,
        points,
        "points of active selection over chance",
        why,
    )


def drop_below_twenty(findings: Findings, profile: Profile) -> Measured:
    """Little lost down to 20 % of the labels, more from there to 10 %."""
    first = {name: gain(findings, profile, name, "labels-20", "ours") for name in HARD}
    then = {name: gain(findings, profile, name, "labels-10", "labels-20") for name in HARD}
    against = [name for name in HARD if not (first[name] >= -LITTLE and then[name] < -LITTLE)]

    def reason(name: str) -> str:
        room = gain(findings, profile, name, "ours", "static")
        if room <= LITTLE:
            much = "nothing" if room <= 0.0 else "hardly anything"
            return f"On {name} there is {much} to lose: learning on is worth {points(room)} points."
        return f"On {name}, where learning on is worth {points(room)}, it is lost bit by bit: we see no edge at 20 %."

    return Measured(
        not against,
        "; ".join(f"{name} {points(first[name])} down to 20 %, {points(then[name])} on" for name in HARD),
        lambda: " ".join(reason(name) for name in against),
    )


def within_budget(findings: Findings, profile: Profile) -> Measured:
    """What was asked, as a share of the budget."""

    def used(name: str) -> float:
        shares = (
            (findings.outcome(name, profile, f"{per}-{b}").asked or 0.0) / (b / 100)
            for per in ("labels", "samples")
            for b in BUDGETS
        )
        return max(shares)

    return on_each(
        FOUR,
        used,
        lambda share: share <= 1.0,
        lambda share: f"{100 * share:.0f} %",
        "most of a budget that was used",
        lambda against: f"A bug, seen on {listed(against)}: please report it.",
    )


def instability_helps(findings: Findings, profile: Profile) -> Measured:
    """10 % of the labels with the third criterion against 10 % without it."""

    def reason(name: str, change: float) -> str:
        before, after = (
            10.0 * (findings.outcome(name, profile, method).asked or 0.0)
            for method in ("labels-10", "labels-10-instability")
        )
        if after - before < SAME and not round(100 * change, 2):
            return f"On {name} it changes nothing: {100 * before:.0f} % of the budget are used with it and without."
        if before >= USED_UP:
            return (
                f"On {name} {100 * before:.0f} % of the budget are used without it: what it asks for, all labels of a "
                "sample, is missing elsewhere."
            )
        return (
            f"On {name} it raises the used part of the budget from {100 * before:.0f} to {100 * after:.0f} %, but PA "
            "has nothing of these questions."
        )

    return on_each(
        STEADIER,
        lambda name: gain(findings, profile, name, "labels-10-instability", "labels-10"),
        lambda found: found > 0.0,
        hundredths,
        "points added by the criterion",
        lambda against: " ".join(reason(name, change) for name, change in against.items()),
    )


def birds_gain_most(findings: Findings, profile: Profile) -> Measured:
    """The set with most features is said to profit most."""
    found = {name: gain(findings, profile, name, "labels-10-instability", "labels-10") for name in FOUR}
    most = max(found, key=lambda name: found[name])

    def why() -> str:
        if max(map(abs, found.values())) <= LITTLE:
            return "The criterion changes PA by less than a point anywhere; the order of such differences is chance."
        return f"{most[0].upper()}{most[1:]} gains most, if anything does: the number of features does not decide it."

    return Measured(most == "birds" and found["birds"] > 0.0, numbered(found, hundredths), why)


CLAIMS = (
    Claim(
        "labels-little-lost",
        "fig8",
        "emotions, yeast: with 20 % and even 10 % of the labels PA hardly falls",
        f"at most {100 * LITTLE:g} point below a full update",
        little_lost,
    ),
    Claim(
        "random-worse",
        "fig8",
        "10 % chosen at random are clearly worse than 10 % chosen actively",
        f"active selection is more than {100 * AHEAD:g} points of PA ahead on all four sets",
        random_is_worse,
    ),
    Claim(
        "labels-drop",
        "fig8",
        "birds, water quality: no drop of PA down to 20 % of the labels, a clear one from there to 10 %",
        f"at most {100 * LITTLE:g} point down to 20 %, more than that from there to 10 %",
        drop_below_twenty,
    ),
    Claim(
        "within-budget",
        "fig8",
        "the budget is never exceeded",
        "what was asked is at most the budget, in every run of Figures 8 and 9",
        within_budget,
    ),
    Claim(
        "instability-helps",
        "fig10",
        "instability as a third criterion improves PA at 10 % on birds, emotions and water quality",
        "above the two criteria alone on each",
        instability_helps,
    ),
    Claim(
        "birds-gain-most",
        "fig10",
        "birds, with most features, gain most from instability",
        "the largest gain of the four sets, and above 0",
        birds_gain_most,
    ),
)
