"""Claims about active learning: Figures 8 to 11."""

from evolabel.reproduce.claims.numbers import gain, on_each, points, score
from evolabel.reproduce.claims.permanent import AHEAD
from evolabel.reproduce.claims.verdict import Claim, Measured
from evolabel.reproduce.experiments import FOUR, MEDIAMILL, SETS
from evolabel.reproduce.findings import Findings
from evolabel.reproduce.methods import Profile

LITTLE = 0.01  # "negligible", "no significant drop": at most a point
EASY, HARD = ("emotions", "yeast"), ("birds", "water-quality")
BUDGETS = (30, 20, 10)
STEADIER = ("birds", "emotions", "water-quality")


def little_lost(findings: Findings, profile: Profile) -> Measured:
    """Budgets of 20 and 10 % of the labels against all of them."""
    return on_each(
        EASY,
        lambda name: min(gain(findings, profile, name, f"labels-{b}", "ours") for b in (20, 10)),
        lambda found: found >= -LITTLE,
        points,
        "points against a full update, of the worse of the two budgets",
    )


def random_is_worse(findings: Findings, profile: Profile) -> Measured:
    """10 % by the criteria against 10 % by chance, which is said to end near the static classifier."""
    return on_each(
        FOUR,
        lambda name: gain(findings, profile, name, "labels-10", "random-10"),
        lambda found: found > AHEAD,
        points,
        "points of active selection over chance",
    )


def drop_below_twenty(findings: Findings, profile: Profile) -> Measured:
    """Little lost down to 20 % of the labels, more from there to 10 %."""

    def told(name: str) -> str:
        first = gain(findings, profile, name, "labels-20", "ours")
        return (
            f"{name} {points(first)} down to 20 %, {points(gain(findings, profile, name, 'labels-10', 'labels-20'))} on"
        )

    def agrees(name: str) -> bool:
        kept = gain(findings, profile, name, "labels-20", "ours") >= -LITTLE
        return kept and gain(findings, profile, name, "labels-10", "labels-20") < -LITTLE

    return Measured(all(agrees(name) for name in HARD), "; ".join(told(name) for name in HARD))


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
        FOUR, used, lambda share: share <= 1.0, lambda share: f"{100 * share:.0f} %", "most of a budget that was used"
    )


def whole_samples_cost_nothing(findings: Findings, profile: Profile) -> Measured:
    """Budgets of samples against a full update."""
    return on_each(
        EASY,
        lambda name: min(gain(findings, profile, name, f"samples-{b}", "ours") for b in BUDGETS),
        lambda found: found >= -LITTLE,
        points,
        "points against a full update, of the worst budget",
    )


def water_quality_drops_once(findings: Findings, profile: Profile) -> Measured:
    """About 3 points from a full update to 30 % of the samples, nothing after that."""
    first = gain(findings, profile, "water-quality", "samples-30", "ours")
    then = gain(findings, profile, "water-quality", "samples-10", "samples-30")
    told = f"{points(first)} points from a full update to 30 %, {points(then)} from there to 10 %"
    return Measured(-0.045 <= first <= -0.015 and then >= -LITTLE, told)


def birds_need_thirty(findings: Findings, profile: Profile) -> Measured:
    """Above the static classifier with 30 % of the samples, not with less."""
    over = {b: gain(findings, profile, "birds", f"samples-{b}", "static") for b in BUDGETS}
    told = ", ".join(f"{points(found)} at {b} %" for b, found in over.items())
    return Measured(over[30] > AHEAD and max(over[20], over[10]) <= AHEAD, f"points over static: {told}")


def instability_helps(findings: Findings, profile: Profile) -> Measured:
    """10 % of the labels with the third criterion against 10 % without it."""
    return on_each(
        STEADIER,
        lambda name: gain(findings, profile, name, "labels-10-instability", "labels-10"),
        lambda found: found > 0.0,
        points,
        "points added by the criterion",
    )


def birds_gain_most(findings: Findings, profile: Profile) -> Measured:
    """The set with most features is said to profit most."""
    found = {name: gain(findings, profile, name, "labels-10-instability", "labels-10") for name in FOUR}
    told = ", ".join(f"{name} {points(value)}" for name, value in found.items())
    return Measured(max(found, key=lambda name: found[name]) == "birds" and found["birds"] > 0.0, told)


def mediamill_keeps_pa(findings: Findings, profile: Profile) -> Measured:
    """PA with 10 % of the samples against a full update."""
    found = gain(findings, profile, MEDIAMILL, "samples-10", "ours")
    return Measured(found >= -LITTLE / 2, f"{points(found)} points")


def mediamill_loses_little_ap(findings: Findings, profile: Profile) -> Measured:
    """AP with 30 % of the samples against a full update."""
    found = gain(findings, profile, MEDIAMILL, "samples-30", "ours", "ap")
    return Measured(-3 * LITTLE <= found < 0.0, f"{points(found)} points")


def chance_is_static(findings: Findings, profile: Profile) -> Measured:
    """10 % by chance: nearer to the static classifier than to the active one?"""
    chance, static, active = (
        score(findings, profile, MEDIAMILL, method, "ap") for method in ("random-10", "static", "samples-10")
    )
    told = f"AP {chance:.3f} by chance, {static:.3f} static, {active:.3f} active"
    return Measured(abs(chance - static) < abs(chance - active) and chance < active, told)


def ten_percent_suffice(findings: Findings, profile: Profile) -> Measured:
    """The summary of the paper."""
    found = {name: gain(findings, profile, name, "samples-10", "ours") for name in SETS if name in findings.sizes}
    kept = sum(value >= -LITTLE for value in found.values())
    told = ", ".join(f"{name} {points(value)}" for name, value in found.items())
    return Measured(2 * kept > len(found), f"points against a full update: {told}")


STILL_IMPROVING = (
    "A full update goes on improving along the stream, while a tenth of it leaves the model near its batch solution."
)
BIT_BY_BIT = "The loss grows bit by bit as labels become fewer; we see no edge where the paper sees one."

CLAIMS = (
    Claim(
        "labels-little-lost",
        "fig8",
        "emotions, yeast: with 20 % and even 10 % of the labels PA hardly falls",
        f"at most {100 * LITTLE:g} point below a full update",
        little_lost,
        STILL_IMPROVING,
    ),
    Claim(
        "random-worse",
        "fig8",
        "10 % chosen at random are clearly worse than 10 % chosen actively",
        f"active selection is more than {100 * AHEAD:g} points of PA ahead on all four sets",
        random_is_worse,
        "With many labels, nearly every sample has one that is ambiguous: which of them are asked about is then "
        "decided by the budget, as good as by chance.",
    ),
    Claim(
        "labels-drop",
        "fig8",
        "birds, water quality: no drop of PA down to 20 % of the labels, a clear one from there to 10 %",
        f"at most {100 * LITTLE:g} point down to 20 %, more than that from there to 10 %",
        drop_below_twenty,
        BIT_BY_BIT,
    ),
    Claim(
        "within-budget",
        "fig8",
        "the budget is never exceeded",
        "what was asked is at most the budget, in every run of Figures 8 and 9",
        within_budget,
        "A bug: please report it.",
    ),
    Claim(
        "samples-little-lost",
        "fig9",
        "emotions, yeast: budgets of whole samples cost nothing, either",
        f"at most {100 * LITTLE:g} point of PA below a full update with 30, 20 and 10 %",
        whole_samples_cost_nothing,
        STILL_IMPROVING,
    ),
    Claim(
        "water-quality-drop",
        "fig9",
        "water quality: about 3 points of PA lost with 30 % of the samples, no more with 20 and 10 %",
        f"1.5 to 4.5 points down to 30 %, at most {100 * LITTLE:g} from there to 10 %",
        water_quality_drops_once,
        BIT_BY_BIT,
    ),
    Claim(
        "birds-need-thirty",
        "fig9",
        "birds: 30 % of the samples are needed to be above the static classifier",
        f"more than {100 * AHEAD:g} points of PA above it with 30 %, not with 20 and 10 %",
        birds_need_thirty,
        "Of 100 labels on birds 95 are absent: PA is nearly all labels that are rightly left out, whoever answers, and "
        "budgets differ by tenths of a point.",
    ),
    Claim(
        "ten-percent",
        "fig9",
        "in most sets 10 % of the samples have a minimal effect on PA",
        f"at most {100 * LITTLE:g} point below a full update on more than half of the sets that were run",
        ten_percent_suffice,
        STILL_IMPROVING,
    ),
    Claim(
        "instability-helps",
        "fig10",
        "instability as a third criterion improves PA at 10 % on birds, emotions and water quality",
        "above the two criteria alone on each",
        instability_helps,
        "Ambiguous labels use the budget up before the third criterion is asked; where it fires, it asks for all "
        "labels of a sample, and takes the budget from those that are worth more.",
    ),
    Claim(
        "birds-gain-most",
        "fig10",
        "birds, with most features, gain most from instability",
        "the largest gain of the four sets, and above 0",
        birds_gain_most,
        "Where the budget is used up by the other criteria, the third one changes little, and chance decides.",
    ),
    Claim(
        "mediamill-keeps-pa",
        "fig11",
        "mediamill: PA does not fall even with 10 % of the samples",
        f"at most {100 * LITTLE / 2:g} points below a full update",
        mediamill_keeps_pa,
        STILL_IMPROVING,
    ),
    Claim(
        "mediamill-ap",
        "fig11",
        "mediamill: AP falls slightly between a full update and 30 % of the samples",
        f"by at most {300 * LITTLE:g} points",
        mediamill_loses_little_ap,
        "Rare labels are learned from the few samples that have them, most of which were not asked about.",
    ),
    Claim(
        "chance-is-static",
        "fig11",
        "mediamill: 10 % at random end where the static classifier ends",
        "AP nearer to static than to active selection, and below the latter",
        chance_is_static,
        "Samples by chance teach nearly as much as chosen ones: most of what there is to learn is in any of them.",
    ),
)
