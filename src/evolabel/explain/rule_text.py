"""Rules as plain text, Markdown, HTML and JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from evolabel._utils.text import counted, one_line
from evolabel.explain.markup import bold, code, escape, page, words
from evolabel.explain.statements import Condition, Outcome
from evolabel.explain.terms import ANY, TERMS
from evolabel.explain.text_columns import CLEAR, column_and_value

if TYPE_CHECKING:
    from evolabel.explain.rules import Rule
    from evolabel.explain.shortening import Fidelity

SHOWN_LABELS = 5
SPECIAL = 0.25  # standard deviations of a label between its share in the rule and its usual one
Form = Literal["text", "markdown", "html"]


def plain(rule: "Rule") -> str:
    """One rule in words, on a few lines."""
    lines = [title(rule)]
    for word, (name, said, proof) in zip(["IF  ", *["AND "] * len(rule.conditions)], _told(rule), strict=False):
        lines.append(f"  {word}{one_line(name)} is {one_line(said)} ({proof})")
    for word, outcome in zip(["THEN ", *[" and "] * len(rule.outcomes)], shown(rule), strict=False):
        lines.append(f"  {word}{one_line(outcome.label)} is {_judged(outcome)}{_driven(outcome)}")
    return "\n".join([*lines, f"  {life(rule)}"])


def markdown(rule: "Rule") -> str:
    """One rule as a heading, a condition line and a list of labels."""
    conditions = " **AND** ".join(f"{code(name)} is {bold(said)} ({proof})" for name, said, proof in _told(rule))
    labels = [f"- {code(o.label)} is {bold(o.judgement)} here ({_shares(o)}){words(_driven(o))}" for o in shown(rule)]
    return "\n".join(
        [f"#### {words(title(rule))}", "", f"**IF** {conditions} **THEN**", "", *labels, "", life(rule), ""]
    )


def html(rule: "Rule") -> str:
    """One rule as a section."""
    conditions = "".join(
        f"<li><code>{escape(name)}</code> is <b>{escape(said)}</b> ({escape(proof)})</li>"
        for name, said, proof in _told(rule)
    )
    labels = "".join(
        f"<li><code>{escape(o.label)}</code> is <b>{escape(o.judgement)}</b> here ({escape(_shares(o))})"
        f"{escape(_driven(o))}</li>"
        for o in shown(rule)
    )
    return (
        f'<section class="rule"><h2>{escape(title(rule))}</h2><p>IF</p><ul>{conditions}</ul>'
        f"<p>THEN</p><ul>{labels}</ul><p>{escape(life(rule))}</p></section>"
    )


def document(rule: "Rule") -> dict[str, Any]:
    """One rule for machines, with all its labels."""
    return {
        "rule": rule.identity,
        "name": rule.name,
        "locked": rule.locked,
        "if": [asdict(condition) for condition in rule.conditions],
        "then": [{**asdict(outcome), "drivers": list(map(asdict, outcome.drivers))} for outcome in rule.outcomes],
        "support": rule.support,
        "born": rule.born,
        "last_won": rule.last_won,
        "n_seen": rule.n_seen,
        "activity": rule.activity,
        "certainty": rule.certainty,
        "fidelity": rule.fidelity,
        "dropped": rule.dropped,
    }


def whole(rules: Sequence["Rule"], fidelity: "Fidelity | None", form: Form) -> str:
    """Many rules with a line on what their shortened forms are worth."""
    told = summary(rules, fidelity)
    if form == "text":
        return "\n\n".join([told, *map(plain, rules)]) + "\n"
    if form == "markdown":
        return "\n".join([told, "", *map(markdown, rules)])
    return page("Rules", f"<p>{escape(told)}</p>" + "".join(map(html, rules)))


def whole_document(rules: Sequence["Rule"], fidelity: "Fidelity | None") -> dict[str, Any]:
    """Many rules for machines."""
    found = None if fidelity is None else {"labels": fidelity.labels, "positives": fidelity.positives}
    return {"fidelity": found, "rules": [document(rule) for rule in rules]}


def summary(rules: Sequence["Rule"], fidelity: "Fidelity | None") -> str:
    """How many rules, how short, how faithful."""
    if fidelity is None or not rules:
        return "There are no rules yet."
    kept = sum(len(rule.conditions) for rule in rules) / len(rules)
    count = "1 rule" if len(rules) == 1 else f"{len(rules)} rules"
    return (
        f"{count} with {kept:g} of {len(rules[0].feature_names)} features each; so shortened, all rules together "
        f"predict {fidelity.labels:.1%} of the labels as the whole ones do."
    )


def title(rule: "Rule") -> str:
    """Number, name and weight of a rule."""
    called = (f' "{one_line(rule.name)}"' if rule.name else "") + (", locked" if rule.locked else "")
    return f"Rule {rule.identity}{called} ({rule.support:.0f} samples, {rule.activity:.0%} of the activity)"


def life(rule: "Rule") -> str:
    """What is known about the rule itself."""
    won = "won the last sample" if rule.idle == 0 else f"last won {counted(rule.idle, 'sample')} ago"
    dropped = f"{counted(rule.dropped, 'feature')} dropped, " if rule.dropped else ""
    return (
        f"Born at sample {rule.born} of {rule.n_seen}, {won}; certainty {rule.certainty:.0%}; "
        f"{dropped}fidelity here {rule.fidelity:.0%}."
    )


def shown(rule: "Rule") -> tuple[Outcome, ...]:
    """The labels that stand out in the rule; the one that does most in any case."""
    special = tuple(outcome for outcome in rule.outcomes if outcome.apart >= SPECIAL)
    return special[:SHOWN_LABELS] or rule.outcomes[:1]


def _told(rule: "Rule") -> list[tuple[str, str, str]]:
    """For each condition what it is about, what is said, and by what numbers."""
    shares = rule.text_shares
    return [
        _text(condition.feature, shares[condition.feature])
        if condition.feature in shares
        else (condition.feature, condition.term, _range(condition))
        for condition in rule.conditions
    ]


def _text(feature: str, share: float) -> tuple[str, str, str]:
    """A column of texts and one of its values: those of the rule's samples that are as said."""
    column, value = column_and_value(feature)
    if share <= 1.0 - CLEAR:
        return column, f"not {value}", f"{1.0 - share:.0%} of its samples"
    return column, value if share >= CLEAR else f"sometimes {value}", f"{share:.0%} of its samples"


def _range(condition: Condition) -> str:
    """In the units of the feature; an outermost term has no end on its side."""
    if condition.term == ANY:
        return f"{condition.low:.4g} to {condition.high:.4g}"
    if condition.term.startswith(TERMS[0]):
        return f"at most {condition.high:.4g}"
    if condition.term.endswith(TERMS[-1]):
        return f"at least {condition.low:.4g}"
    return f"{condition.low:.4g} to {condition.high:.4g}"


def _judged(outcome: Outcome) -> str:
    return f"{outcome.judgement} here ({_shares(outcome)})"


def _shares(outcome: Outcome) -> str:
    return f"{outcome.share:.0%}, usually {outcome.usual:.0%}"


def _driven(outcome: Outcome) -> str:
    """What moves the label inside the rule: the signs of its local weights."""
    up = [one_line(driver.feature) for driver in outcome.drivers if driver.effect > 0.0]
    down = [one_line(driver.feature) for driver in outcome.drivers if driver.effect < 0.0]
    parts = [f"up with {' and '.join(up)}"] if up else []
    parts += [f"down with {' and '.join(down)}"] if down else []
    return f", driven {', '.join(parts)}" if parts else ""
