"""Claims about the number of rules: Figure 6."""

from evolabel.core.options import Options
from evolabel.reproduce.claims.numbers import count_text, numbered, on_each
from evolabel.reproduce.claims.permanent_updates import RIVAL_METHODS
from evolabel.reproduce.claims.verdict import Measured, PaperClaim
from evolabel.reproduce.results import ProfileResults

_PAPER_RULES = {"emotions": 17, "water-quality": 10}
_MIN_RIVAL_RULES = 100


def _rules_left(found: ProfileResults) -> Measured:
    """Number of rules of ours at the end of the stream."""
    counts = {name: found.run(name, "ours").rules for name in _PAPER_RULES}
    away = [name for name, number in _PAPER_RULES.items() if abs(counts[name] - number) > number / 2]
    return Measured(
        not away,
        numbered(counts, count_text),
        lambda: (
            " ".join(_why_other_count(found, name) for name in away)
            + " The search maximises accuracy; it does not limit the number of rules."
        ),
    )


def _why_other_count(found: ProfileResults, name: str) -> str:
    run = found.run(name, "ours")
    full = ", the most that are allowed" if run.rules >= Options.max_rules else ""
    many = "1 rule" if run.rules == 1 else f"{count_text(run.rules)} rules"
    return f"On {name} the search chooses a vigilance of {run.params['vigilance']:g}, which leaves {many}{full}."


def _rules_of_rivals(found: ProfileResults) -> Measured:
    """Rules of all classifiers of the rival that has fewer."""

    def why(against: dict[str, float]) -> str:
        each = {name: rules / found.size(name).labels for name, rules in against.items()}
        text = numbered(each, lambda rules: f"{rules:.1f}")
        return f"With the vigilance that the search chooses, classifiers of a single label have few rules each: {text}."

    return on_each(
        _PAPER_RULES,
        lambda name: min(found.run(name, rival).rules for rival in RIVAL_METHODS),
        lambda rules: rules > _MIN_RIVAL_RULES,
        form=count_text,
        what="rules of all classifiers together, of the rival with fewer",
        why=why,
    )


RULE_CLAIMS = (
    PaperClaim(
        "rules-left",
        "fig6",
        "merging leaves about 17 rules on emotions and 10 on water quality",
        "within half of these numbers at the end of the stream",
        _rules_left,
    ),
    PaperClaim(
        "rules-of-rivals",
        "fig6",
        "taken together, the rivals' classifiers have far more than 100 rules",
        f"more than {_MIN_RIVAL_RULES} at the end of the stream, for both rivals on both sets",
        _rules_of_rivals,
    ),
)
