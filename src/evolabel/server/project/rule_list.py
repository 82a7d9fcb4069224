"""The rules of a model as people read them: one entry per rule, whatever its kind."""

from typing import Any

from evolabel.errors import EvolabelError
from evolabel.explain.answer_parts import parts_values
from evolabel.explain.rules import Rule
from evolabel.server.project.operations import UnknownError
from evolabel.server.project.state import Facts, ProjectState
from evolabel.stages.threshold_rules.read_trees import read_threshold_rules
from evolabel.stages.threshold_rules.words import ThresholdRule
from evolabel.stages.written_rules.expert_reader import read_form
from evolabel.stages.written_rules.words import WrittenRule

_MOST_EVENTS = 200  # of the life of a rule


def rule_list(state: ProjectState, top: int | None = None) -> list[Facts]:
    """Return the rules of `state`: written, threshold and learned ones, of the last the `top` best supported.

    Each has its number `rule`, `kind`, `name`, `locked`, `text`, `conditions` and `labels`, its `support`, and for
    learned ones its `fidelity`. The labels of learned ones are those that they claim.
    """
    rules = state.learner.classifier.rules_
    if top is not None:
        rules = rules.top(top)
    found = [_written(rule) for rule in rules.written]
    found += [_threshold(rule) for label in rules.threshold_rules for rule in label.rules if rule.number is not None]
    return found + [_learned(rule) for rule in sorted(rules, key=lambda rule: -rule.support)]


def label_parts(state: ProjectState) -> dict[str, dict[str, float]]:
    """Return which part of the model of `state` answers each label: shares of rules, linear part and other rules."""
    return parts_values(state.learner.classifier.parts_)


def count_rules(state: ProjectState) -> int:
    """Return how many rules `rule_list` returns for `state`; to put them into words would take far longer."""
    inner = state.learner.classifier.inner
    model = inner.any_model
    if model.rules is None or model.rules.n_rules == 0:
        return 0
    labels = read_threshold_rules(model, inner.feature_names, inner.label_names)
    numbered = [rule for label in labels for rule in label.rules if rule.number is not None]
    return len(model.written) + len(numbered) + model.rules.n_rules


def show_rule(state: ProjectState, number: int) -> Facts:
    """Return rule `number` of `state` with its `form`, text that an edit reads; UnknownError if there is none."""
    for rule in rule_list(state):
        if rule["rule"] == number:
            return {**rule, **_form(state, number)}
    raise UnknownError(f"there is no rule {number}; the list of rules has their numbers")


def life_of(state: ProjectState, number: int) -> list[Facts]:
    """Return what happened to rule `number` of `state`, oldest first: the sample, the kind of event, and its text."""
    events = [event for event in state.learner.classifier.events_ if number in (event.rule, event.other)]
    return [{"sample": e.sample, "kind": e.kind, "text": str(e)} for e in events[-_MOST_EVENTS:]]


def _form(state: ProjectState, number: int) -> Facts:
    """Return the form of rule `number` as text and as JSON; a rule that cannot be written has none, and the reason."""
    try:
        form = state.learner.classifier.rulebook.form(number)
    except EvolabelError as error:
        return {"form": None, "note": str(error)}
    return {"form": str(form), "form_json": form.to_dict()}


def _written(rule: WrittenRule) -> Facts:
    labels = [
        {"label": outcome.label, "share": outcome.answer, "written": outcome.written, "is_used": outcome.is_used}
        for outcome in rule.outcomes
    ]
    support = max((outcome.support for outcome in rule.outcomes), default=0.0)
    conditions = [str(condition) for condition in read_form(rule.written).conditions]
    return _entry(rule.number, "written", conditions, labels, support) | {
        "name": rule.name,
        "locked": rule.locked,
        "text": rule.written,
    }


def _threshold(rule: ThresholdRule) -> Facts:
    conditions = [condition.words() for condition in rule.conditions]
    labels = [{"label": rule.label, "share": rule.share}]
    return _entry(rule.number or 0, "threshold", conditions, labels, rule.support) | {"text": rule.text}


def _learned(rule: Rule) -> Facts:
    conditions = [f"{feature} is {term} ({numbers})" for feature, term, numbers in rule.condition_words()]
    labels = [{"label": outcome.label, "share": outcome.share} for outcome in rule.outcomes if outcome.claimed]
    return _entry(rule.identity, "learned", conditions, labels, rule.support) | {
        "name": rule.name,
        "locked": rule.locked,
        "text": rule.text,
        "fidelity": rule.fidelity,
        "activity": rule.activity,
        "born": rule.born,
        "last_won": rule.last_won,
    }


def _entry(number: int, kind: str, conditions: list[str], labels: list[dict[str, Any]], support: float) -> Facts:
    """Return what every rule has."""
    return {
        "rule": number,
        "kind": kind,
        "name": "",
        "locked": False,
        "conditions": conditions,
        "labels": labels,
        "support": float(support),
    }
