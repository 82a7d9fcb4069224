"""Rules as plain text, Markdown, HTML and JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from evolabel._utils.text import counted, one_line
from evolabel.explain.markup import bold, code, escape, markdown_text, page
from evolabel.explain.statements import RuleCondition, RuleOutcome
from evolabel.explain.terms import ANY, TERMS
from evolabel.explain.text_columns import CLEAR_SHARE, column_and_value

if TYPE_CHECKING:
    from evolabel.explain.rules import Rule
    from evolabel.explain.shortening import Fidelity

_MAX_LABELS = 5
_MIN_APART = 0.25  # standard deviations of a label between its share in the rule and its usual one
_Form = Literal["text", "markdown", "html"]


def rule_to_text(rule: "Rule") -> str:
    """Return `rule` in words, on a few lines."""
    lines = [_title(rule)]
    for word, (name, value, proof) in zip(["IF  ", *["AND "] * len(rule.conditions)], _conditions(rule), strict=False):
        lines.append(f"  {word}{one_line(name)} is {one_line(value)} ({proof})")
    for word, outcome in zip(["THEN ", *[" and "] * len(rule.outcomes)], _shown(rule), strict=False):
        lines.append(
            f"  {word}{one_line(outcome.label)} is {outcome.judgement} here ({_shares(outcome)}){_driven(outcome)}"
        )
    return "\n".join([*lines, f"  {_life(rule)}"])


def rule_to_markdown(rule: "Rule") -> str:
    """Return `rule` in Markdown: a heading, a line of conditions and a list of labels."""
    conditions = [f"{code(name)} is {bold(value)} ({proof})" for name, value, proof in _conditions(rule)]
    labels = [
        f"- {code(o.label)} is {bold(o.judgement)} here ({_shares(o)}){markdown_text(_driven(o))}" for o in _shown(rule)
    ]
    condition_line = f"**IF** {' **AND** '.join(conditions)} **THEN**"
    title = f"#### {markdown_text(_title(rule))}"
    return "\n".join([title, "", condition_line, "", *labels, "", _life(rule), ""])


def rule_to_html(rule: "Rule") -> str:
    """Return `rule` as a section of HTML."""
    conditions = "".join(
        f"<li><code>{escape(name)}</code> is <b>{escape(value)}</b> ({escape(proof)})</li>"
        for name, value, proof in _conditions(rule)
    )
    labels = "".join(
        f"<li><code>{escape(o.label)}</code> is <b>{escape(o.judgement)}</b> here ({escape(_shares(o))})"
        f"{escape(_driven(o))}</li>"
        for o in _shown(rule)
    )
    return (
        f'<section class="rule"><h2>{escape(_title(rule))}</h2><p>IF</p><ul>{conditions}</ul>'
        f"<p>THEN</p><ul>{labels}</ul><p>{escape(_life(rule))}</p></section>"
    )


def rule_to_dict(rule: "Rule") -> dict[str, Any]:
    """Return `rule` as values that JSON can hold, with all its labels."""
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


def rules_to_text(rules: Sequence["Rule"], fidelity: "Fidelity | None", form: _Form) -> str:
    """Return all `rules` in the given `form`, after one line about the `fidelity` of their shortened forms."""
    first = summary(rules, fidelity)
    if form == "text":
        return "\n\n".join([first, *map(rule_to_text, rules)]) + "\n"
    if form == "markdown":
        return "\n".join([first, "", *map(rule_to_markdown, rules)])
    return page("Rules", f"<p>{escape(first)}</p>" + "".join(map(rule_to_html, rules)))


def rules_to_dict(rules: Sequence["Rule"], fidelity: "Fidelity | None") -> dict[str, Any]:
    """Return all `rules`, with their `fidelity`, as values that JSON can hold."""
    found = None if fidelity is None else {"labels": fidelity.labels, "positives": fidelity.positives}
    return {"fidelity": found, "rules": [rule_to_dict(rule) for rule in rules]}


def summary(rules: Sequence["Rule"], fidelity: "Fidelity | None") -> str:
    """Return one line: how many `rules`, how many features they keep, and the `fidelity` of the shortened ones."""
    if fidelity is None or not rules:
        return "There are no rules yet."
    kept = sum(len(rule.conditions) for rule in rules) / len(rules)
    count = "1 rule" if len(rules) == 1 else f"{len(rules)} rules"
    return (
        f"{count} with {kept:g} of {len(rules[0].feature_names)} features each; so shortened, all rules together "
        f"predict {fidelity.labels:.1%} of the labels as the whole ones do."
    )


def _title(rule: "Rule") -> str:
    """Return number, name and support of a rule."""
    name = (f' "{one_line(rule.name)}"' if rule.name else "") + (", locked" if rule.locked else "")
    return f"Rule {rule.identity}{name} ({rule.support:.0f} samples, {rule.activity:.0%} of the activity)"


def _life(rule: "Rule") -> str:
    """Return age, certainty and fidelity of a rule."""
    won = "won the last sample" if rule.idle == 0 else f"last won {counted(rule.idle, 'sample')} ago"
    dropped = f"{counted(rule.dropped, 'feature')} dropped, " if rule.dropped else ""
    return (
        f"Born at sample {rule.born} of {rule.n_seen}, {won}; certainty {rule.certainty:.0%}; "
        f"{dropped}fidelity here {rule.fidelity:.0%}."
    )


def _shown(rule: "Rule") -> tuple[RuleOutcome, ...]:
    """Return the labels that differ clearly from the stream, but at least one."""
    distinct = tuple(outcome for outcome in rule.outcomes if outcome.apart >= _MIN_APART)
    return distinct[:_MAX_LABELS] or rule.outcomes[:1]


def _conditions(rule: "Rule") -> list[tuple[str, str, str]]:
    """Return for each condition the feature or column, its term or text, and the numbers behind it."""
    shares = rule.text_shares
    return [
        _text(condition.feature, shares[condition.feature])
        if condition.feature in shares
        else (condition.feature, condition.term, _range(condition))
        for condition in rule.conditions
    ]


def _text(feature: str, share: float) -> tuple[str, str, str]:
    """Return column, value and share of the rule's samples of a 0/1 feature of a categorical column."""
    column, value = column_and_value(feature)
    if share <= 1.0 - CLEAR_SHARE:
        return column, f"not {value}", f"{1.0 - share:.0%} of its samples"
    return column, value if share >= CLEAR_SHARE else f"sometimes {value}", f"{share:.0%} of its samples"


def _range(condition: RuleCondition) -> str:
    """Return the range in the units of the feature; an outermost term has no end on its side."""
    if condition.term == ANY:
        return f"{condition.low:.4g} to {condition.high:.4g}"
    if condition.term.startswith(TERMS[0]):
        return f"at most {condition.high:.4g}"
    if condition.term.endswith(TERMS[-1]):
        return f"at least {condition.low:.4g}"
    return f"{condition.low:.4g} to {condition.high:.4g}"


def _shares(outcome: RuleOutcome) -> str:
    return f"{outcome.share:.0%}, usually {outcome.usual:.0%}"


def _driven(outcome: RuleOutcome) -> str:
    """Return the features that move the label inside the rule, by the signs of their local weights."""
    up = [one_line(driver.feature) for driver in outcome.drivers if driver.effect > 0.0]
    down = [one_line(driver.feature) for driver in outcome.drivers if driver.effect < 0.0]
    parts = [f"up with {' and '.join(up)}"] if up else []
    parts += [f"down with {' and '.join(down)}"] if down else []
    return f", driven {', '.join(parts)}" if parts else ""
