"""Claims about the number of rules: Figure 6."""

from evolabel.core.options import Options
from evolabel.reproduce.claims.numbers import numbered, on_each, whole
from evolabel.reproduce.claims.permanent import TEAMS
from evolabel.reproduce.claims.verdict import Claim, Measured
from evolabel.reproduce.methods import Profile
from evolabel.reproduce.results import Findings

RULES_LEFT = {"emotions": 17, "water-quality": 10}
MANY = 100  # rules nobody reads


def rules_left(findings: Findings, profile: Profile) -> Measured:
    """Rules of ours at the end of the stream."""
    found = {name: findings.outcome(name, profile, "ours").rules for name in RULES_LEFT}
    away = [name for name, number in RULES_LEFT.items() if abs(found[name] - number) > number / 2]
    return Measured(
        not away,
        numbered(found, whole),
        lambda: (
            " ".join(_why_so_many(findings, profile, name) for name in away)
            + " It is chosen by what predicts best, not by what reads best."
        ),
    )


def _why_so_many(findings: Findings, profile: Profile, name: str) -> str:
    outcome = findings.outcome(name, profile, "ours")
    full = ", the most there may be" if outcome.rules >= Options.max_rules else ""
    many = "1 rule" if outcome.rules == 1 else f"{whole(outcome.rules)} rules"
    return f"On {name} the batch chooses a vigilance of {outcome.params['vigilance']:g}, which leaves {many}{full}."


def rules_of_rivals(findings: Findings, profile: Profile) -> Measured:
    """Rules of all classifiers together, of the rival with fewer."""

    def why(against: dict[str, float]) -> str:
        each = {name: rules / findings.size(name).labels for name, rules in against.items()}
        told = numbered(each, lambda rules: f"{rules:.1f}")
        return f"With the vigilance that the batch chooses, classifiers of a single label have few rules each: {told}."

    return on_each(
        RULES_LEFT,
        lambda name: min(findings.outcome(name, profile, team).rules for team in TEAMS),
        lambda rules: rules > MANY,
        whole,
        "rules of all classifiers together, of the rival with fewer",
        why,
    )


CLAIMS = (
    Claim(
        "rules-left",
        "fig6",
        "merging leaves about 17 rules on emotions and 10 on water quality",
        "within half of these numbers at the end of the stream",
        rules_left,
    ),
    Claim(
        "rules-of-rivals",
        "fig6",
        "taken together, the rivals' classifiers have far more than 100 rules",
        f"more than {MANY} at the end of the stream, for both rivals on both sets",
        rules_of_rivals,
    ),
)
