"""Claims about active learning with a budget of labels: Figures 8 and 10."""

from evolabel.reproduce.claims.numbers import (
    MAX_LOSS,
    MIN_LEAD,
    hundredths,
    learning_gain,
    listed,
    numbered,
    on_each,
    points,
)
from evolabel.reproduce.claims.verdict import Measured, PaperClaim
from evolabel.reproduce.experiments import SMALL_SETS
from evolabel.reproduce.results import ProfileResults

EASY_SETS = ("emotions", "yeast")
BUDGET_PERCENTS = (30, 20, 10)

_HARD_SETS = ("birds", "water-quality")
_INSTABILITY_SETS = ("birds", "emotions", "water-quality")
_USED_UP, _SAME_SHARE = 0.9, 0.01  # shares of a budget


def _little_lost(found: ProfileResults) -> Measured:
    """Budgets of 20 and 10 % of the labels against all of them."""
    return on_each(
        EASY_SETS,
        lambda name: min(found.gain(name, f"labels-{b}", "ours") for b in (20, 10)),
        lambda gain: gain >= -MAX_LOSS,
        form=points,
        what="points against a full update, of the worse of the two budgets",
        why=lambda against: learning_gain(found, against, "labels-10"),
    )


def _random_is_worse(found: ProfileResults) -> Measured:
    """10 % of the labels chosen by the criteria against 10 % drawn at random."""

    def why(against: dict[str, float]) -> str:
        possible = {name: found.gain(name, "ours", "random-10") for name in against}
        little = {name: gain for name, gain in possible.items() if gain <= MAX_LOSS}
        much = {name: gain for name, gain in possible.items() if name not in little}
        reasons = []
        if little:
            reasons.append(f"There is little to gain: a full update over random is {numbered(little, points)}.")
        if much:
            reasons.append(
                f"A full update over random is {numbered(much, points)}, so there is more to gain, but with many "
                "labels nearly every sample has an ambiguous one: the budget decides which are queried, not the "
                "criteria."
            )
        return " ".join(reasons)

    return on_each(
        SMALL_SETS,
        lambda name: found.gain(name, "labels-10", "random-10"),
        lambda gain: gain > MIN_LEAD,
        form=points,
        what="points of active selection over random",
        why=why,
    )


def _drop_below_twenty(found: ProfileResults) -> Measured:
    """The loss down to 20 % of the labels, and from there to 10 %."""
    first = {name: found.gain(name, "labels-20", "ours") for name in _HARD_SETS}
    then = {name: found.gain(name, "labels-10", "labels-20") for name in _HARD_SETS}
    against = [name for name in _HARD_SETS if not (first[name] >= -MAX_LOSS and then[name] < -MAX_LOSS)]

    def reason(name: str) -> str:
        possible = found.gain(name, "ours", "static")
        if possible <= MAX_LOSS:
            much = "nothing" if possible <= 0.0 else "hardly anything"
            return f"On {name} there is {much} to lose: learning from the stream adds {points(possible)} points."
        return (
            f"On {name}, where learning from the stream adds {points(possible)}, PA falls gradually: there is no "
            "visible edge at 20 %."
        )

    return Measured(
        not against,
        "; ".join(f"{name} {points(first[name])} down to 20 %, {points(then[name])} on" for name in _HARD_SETS),
        lambda: " ".join(reason(name) for name in against),
    )


def _within_budget(found: ProfileResults) -> Measured:
    """The largest share of a budget that was used."""

    def used(name: str) -> float:
        return max(
            (found.run(name, f"{per}-{b}").asked or 0.0) / (b / 100)
            for per in ("labels", "samples")
            for b in BUDGET_PERCENTS
        )

    return on_each(
        SMALL_SETS,
        used,
        lambda share: share <= 1.0,
        form=lambda share: f"{100 * share:.0f} %",
        what="most of a budget that was used",
        why=lambda against: f"This is a bug, seen on {listed(against)}: please report it.",
    )


def _instability_gain(found: ProfileResults, name: str) -> float:
    return found.gain(name, "labels-10-instability", "labels-10")


def _instability_helps(found: ProfileResults) -> Measured:
    """10 % of the labels with the third criterion against 10 % without it."""

    def reason(name: str, change: float) -> str:
        before, after = (
            10.0 * (found.run(name, method).asked or 0.0) for method in ("labels-10", "labels-10-instability")
        )
        if after - before < _SAME_SHARE and not round(100 * change, 2):
            return f"On {name} it changes nothing: {100 * before:.0f} % of the budget are used with it and without."
        if before >= _USED_UP:
            return (
                f"On {name} {100 * before:.0f} % of the budget are used without it: its queries, for all labels of a "
                "sample, replace other queries."
            )
        return (
            f"On {name} it raises the used share of the budget from {100 * before:.0f} to {100 * after:.0f} %, but "
            "these queries do not improve PA."
        )

    return on_each(
        _INSTABILITY_SETS,
        lambda name: _instability_gain(found, name),
        lambda gain: gain > 0.0,
        form=hundredths,
        what="points added by the criterion",
        why=lambda against: " ".join(reason(name, change) for name, change in against.items()),
    )


def _birds_gain_most(found: ProfileResults) -> Measured:
    """Gain by the third criterion on all sets; birds has most features."""
    gains = {name: _instability_gain(found, name) for name in SMALL_SETS}
    most = max(gains, key=lambda name: gains[name])

    def why() -> str:
        if max(map(abs, gains.values())) <= MAX_LOSS:
            return "The criterion changes PA by less than a point on every set; the order of these is random."
        return f"{most[0].upper()}{most[1:]} gains most, so the number of features does not decide it."

    return Measured(most == "birds" and gains["birds"] > 0.0, numbered(gains, hundredths), why)


LABEL_BUDGET_CLAIMS = (
    PaperClaim(
        "labels-little-lost",
        "fig8",
        "emotions, yeast: with 20 % and even 10 % of the labels PA hardly falls",
        f"at most {100 * MAX_LOSS:g} point below a full update",
        _little_lost,
    ),
    PaperClaim(
        "random-worse",
        "fig8",
        "10 % chosen at random are clearly worse than 10 % chosen actively",
        f"active selection is more than {100 * MIN_LEAD:g} points of PA ahead on all four sets",
        _random_is_worse,
    ),
    PaperClaim(
        "labels-drop",
        "fig8",
        "birds, water quality: no drop of PA down to 20 % of the labels, a clear one from there to 10 %",
        f"at most {100 * MAX_LOSS:g} point down to 20 %, more than that from there to 10 %",
        _drop_below_twenty,
    ),
    PaperClaim(
        "within-budget",
        "fig8",
        "the budget is never exceeded",
        "the queried share is at most the budget, in every run of Figures 8 and 9",
        _within_budget,
    ),
    PaperClaim(
        "instability-helps",
        "fig10",
        "instability as a third criterion improves PA at 10 % on birds, emotions and water quality",
        "above the two criteria alone on each",
        _instability_helps,
    ),
    PaperClaim(
        "birds-gain-most",
        "fig10",
        "birds, with most features, gain most from instability",
        "the largest gain of the four sets, and above 0",
        _birds_gain_most,
    ),
)
