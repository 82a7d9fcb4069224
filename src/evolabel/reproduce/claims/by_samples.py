"""Claims about active learning with a budget of samples: Figure 9, and what the paper concludes from it."""

from evolabel.reproduce.claims.by_labels import BUDGETS, EASY
from evolabel.reproduce.claims.numbers import AHEAD, LITTLE, gain, numbered, on_each, points, worth
from evolabel.reproduce.claims.verdict import Claim, Measured
from evolabel.reproduce.experiments import SETS
from evolabel.reproduce.methods import Profile
from evolabel.reproduce.results import AbsentError, Findings

ONCE = (-0.045, -0.015)  # "about 3 points" lost


def whole_samples_cost_nothing(findings: Findings, profile: Profile) -> Measured:
    """Budgets of samples against a full update."""
    return on_each(
        EASY,
        lambda name: min(gain(findings, profile, name, f"samples-{b}", "ours") for b in BUDGETS),
        lambda found: found >= -LITTLE,
        points,
        "points against a full update, of the worst budget",
        lambda against: worth(findings, profile, against, "samples-10"),
    )


def water_quality_drops_once(findings: Findings, profile: Profile) -> Measured:
    """About 3 points from a full update to 30 % of the samples, nothing after that."""
    first = gain(findings, profile, "water-quality", "samples-30", "ours")
    then = gain(findings, profile, "water-quality", "samples-10", "samples-30")

    def why() -> str:
        reasons = []
        if first > ONCE[1]:
            reasons.append("30 % of the samples keep more than in the paper.")
        if first < ONCE[0]:
            reasons.append("30 % of the samples keep less than in the paper.")
        if then < -LITTLE:
            reasons.append("Below that the loss goes on, bit by bit.")
        return f"{' '.join(reasons)} {worth(findings, profile, ('water-quality',), 'samples-30')}"

    return Measured(
        ONCE[0] <= first <= ONCE[1] and then >= -LITTLE,
        f"{points(first)} points from a full update to 30 %, {points(then)} from there to 10 %",
        why,
    )


def birds_need_thirty(findings: Findings, profile: Profile) -> Measured:
    """Above the static classifier with 30 % of the samples, not with less."""
    over = {b: gain(findings, profile, "birds", f"samples-{b}", "static") for b in BUDGETS}
    full = gain(findings, profile, "birds", "ours", "static")

    def why() -> str:
        if full <= AHEAD:
            return (
                f"Not even a full update is above the static classifier ({points(full)}): of 100 labels on birds 95 "
                "are absent, and PA is nearly all labels that are rightly left out."
            )
        if over[30] <= AHEAD:
            return f"A full update is above it by {points(full)}, and 30 % of the samples are too few for that."
        return "Fewer samples suffice here."

    told = ", ".join(f"{points(found)} at {b} %" for b, found in over.items())
    return Measured(over[30] > AHEAD and max(over[20], over[10]) <= AHEAD, f"points over static: {told}", why)


def ten_percent_suffice(findings: Findings, profile: Profile) -> Measured:
    """The summary of the paper."""
    found = {name: gain(findings, profile, name, "samples-10", "ours") for name in SETS if name in findings.sizes}
    if not found:
        raise AbsentError("none of the paper's sets was run")
    lost = [name for name, change in found.items() if change < -LITTLE]
    return Measured(
        2 * len(lost) < len(found),
        f"points against a full update: {numbered(found, points)}",
        lambda: worth(findings, profile, lost, "samples-10"),
    )


CLAIMS = (
    Claim(
        "samples-little-lost",
        "fig9",
        "emotions, yeast: budgets of whole samples cost nothing, either",
        f"at most {100 * LITTLE:g} point of PA below a full update with 30, 20 and 10 %",
        whole_samples_cost_nothing,
    ),
    Claim(
        "water-quality-drop",
        "fig9",
        "water quality: about 3 points of PA lost with 30 % of the samples, no more with 20 and 10 %",
        f"1.5 to 4.5 points down to 30 %, at most {100 * LITTLE:g} from there to 10 %",
        water_quality_drops_once,
    ),
    Claim(
        "birds-need-thirty",
        "fig9",
        "birds: 30 % of the samples are needed to be above the static classifier",
        f"more than {100 * AHEAD:g} points of PA above it with 30 %, not with 20 and 10 %",
        birds_need_thirty,
    ),
    Claim(
        "ten-percent",
        "fig9",
        "in most sets 10 % of the samples have a minimal effect on PA",
        f"at most {100 * LITTLE:g} point below a full update on more than half of the sets that were run",
        ten_percent_suffice,
    ),
)
