"""What records change in a learner: acts of experts on rules, other classifiers, and the events that follow."""

import copy
import hashlib
import math
from typing import Any, Protocol

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.active.storage import classifier_in
from evolabel.classifier.rule_book import RuleBook
from evolabel.core.events import Event
from evolabel.errors import EvolabelError, StateError
from evolabel.stages.rules.arrays import NEXT_IDENTITY
from evolabel.stages.written_rules.edits.journal import EditEntry

REPLACED = "model.replaced"
REBUILT = "model.rebuilt"
NEW_MODEL_KINDS = ("fitted", REPLACED, REBUILT)
"""Kinds of records after which the numbers of rules may stand for others."""
MODEL_KINDS = ("history", *NEW_MODEL_KINDS)
_FILE = "data"  # name of the bytes of a file in the payload of a record, which the log keeps in a table of their own
Columns = tuple[list[str], list[str]]
"""Names of features and of labels."""


class ModelHolder(Protocol):
    """What these records change: the learner, the rows of the history, and a classifier fitted to them before."""

    learner: ActiveLearner
    history: list[dict[str, Any]]
    prepared: EvolvingFuzzyClassifier | None

    def checksum(self) -> str:
        """Return a checksum of the state."""

    def training_rows(self) -> tuple[list[list[float]], list[list[float]]]:
        """Return the features and the labels of the rows in the history."""


def change_model(state: ModelHolder, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Change `state` by a record of this `kind` and `payload`, and return its outcome."""
    if kind == "history":
        state.history += payload["rows"]
        return {"rows": len(state.history)}
    before = state.checksum()
    if kind == REBUILT:
        state.learner = ActiveLearner.from_bytes(payload[_FILE])
        return {"seal_before": before, "seal": state.checksum(), "left_out": payload["left_out"]}
    if kind == REPLACED:
        classifier = classifier_in(payload[_FILE], "the stored model")
    else:
        classifier = state.prepared or fit_history(model_columns(state.learner), *state.training_rows())
        state.prepared, state.history = None, []
    state.learner.replace_classifier(classifier)
    return {"rules": n_rules(classifier), "seal_before": before, "seal": state.checksum()}


def model_columns(learner: ActiveLearner) -> Columns:
    """Return the names of the features and of the labels of the model of `learner`."""
    inner = learner.classifier.inner
    return list(inner.fitted.features or []), list(inner.label_names)


def fit_history(columns: Columns, X: list[list[float]], Y: list[list[float]]) -> EvolvingFuzzyClassifier:
    """Return a classifier with the names in `columns`, fitted to rows `X` with labels `Y`."""
    return EvolvingFuzzyClassifier().fit(X, Y).name_columns(*columns)


def has_learned(learner: ActiveLearner) -> bool:
    """Return whether the model of `learner` has learned from any row."""
    return learner.classifier.inner.any_model.n_seen > 0


def n_rules(classifier: EvolvingFuzzyClassifier) -> int:
    """Return the number of rules of `classifier`; 0 while it has too few rows for rules."""
    return 0 if classifier.inner.any_model.warm_up is not None else classifier.n_rules_


def blob_hash(data: bytes) -> str:
    """Return the name under which the log refers to `data`."""
    return hashlib.sha256(data).hexdigest()


RULE_KINDS = (
    "rule.added",
    "rule.edited",
    "rule.renamed",
    "rule.locked",
    "rule.unlocked",
    "rule.merged",
    "rule.deleted",
)
"""Kinds of records by which an expert changes rules."""
UNDONE = "act.undone"
"""Kind of the record that takes such a record back."""
RULE_KEYS = ("rule", "one", "other")
"""Names of the numbers of rules in the payload of such a record."""
_METHODS = dict(zip(RULE_KINDS, ("add", "edit", "rename", "lock", "unlock", "merge", "delete"), strict=True))
_LARGEST_ENTRY = 256 * 1024  # bytes of an entry in the log; an act with a larger one is undone by replay
_OF_LEARNED = "H"  # an array in the entry of an edit by an older version, which now adds a rule

Facts = dict[str, Any]


def change_rules(learner: ActiveLearner, kind: str, payload: Facts) -> Facts:
    """Carry out the act of this `kind` and `payload` on the rules of `learner`, and return its outcome.

    The outcome has the number of the rule, its text as read, the conditions before of the rules that `payload` names,
    and as `inverse` the entry of the journal if that can take back the act later. DataError or StateError if the act
    cannot be done; then nothing has changed.
    """
    book = learner.classifier.rulebook
    next_number = _next_number(learner)
    conditions = conditions_of(learner, payload)
    gone = _text(book, payload["rule"]) if kind == "rule.deleted" else ""
    done = getattr(book, _METHODS[kind])(**payload)
    rule = payload["rule"] if done is None else done
    outcome = {"rule": rule, "text": gone or _text(book, rule), "next": next_number, "conditions": conditions}
    entry = book.journal[-1]
    if entry.is_lasting and entry.size <= _LARGEST_ENTRY:
        outcome["inverse"] = entry.to_dict()
    return outcome


def undo_on(learner: ActiveLearner, payload: Facts) -> tuple[ActiveLearner, Facts]:
    """Return the learner after the act in the `payload` was undone, and what the record keeps of it."""
    if payload["way"] == "replay":
        return ActiveLearner.from_bytes(payload["data"]), {}
    book, entry = learner.classifier.rulebook, EditEntry.from_dict(payload["inverse"])
    if _OF_LEARNED in entry.contents:
        text = _text(book, entry.rule)
        book.delete(entry.rule)
        return learner, {"rule": entry.rule, "text": text}
    book.undo(entry)
    return learner, {"rule": entry.rule, "text": _text(book, entry.rule)}


def try_act(learner: ActiveLearner, kind: str, payload: Facts) -> Facts:
    """Return the outcome that the act of this `kind` and `payload` would have; the `learner` is not changed."""
    trial = copy.deepcopy(learner)
    return undo_on(trial, payload)[1] if kind == UNDONE else change_rules(trial, kind, payload)


def touched_rules(payload: Facts, outcome: Facts) -> set[int]:
    """Return the numbers of the rules that an act with this `payload` and `outcome` was about."""
    named = [payload.get(key) for key in RULE_KEYS]
    return {number for number in (*named, outcome.get("rule")) if number is not None}


def conditions_of(learner: ActiveLearner, payload: Facts) -> list[str]:
    """Return the text up to THEN of each rule of `learner` that the `payload` of an act names."""
    book = learner.classifier.rulebook
    return [_text(book, payload[key]).split(" THEN ")[0] for key in RULE_KEYS if key in payload]


def present_rules(learner: ActiveLearner, payload: Facts, conditions: list[str]) -> Facts:
    """Return the `payload` of an act with the numbers that its rules, of these `conditions`, have in `learner`.

    A number in the log can be that of another rule in a replay whose outcomes differ: StateError. Older versions edited
    a learned rule in its place; the rule meant is then the written rule in front of it.
    """
    found = conditions_of(learner, payload)
    if found == conditions:
        return payload
    written = {key: _rule_in_front(learner, payload[key]) for key in RULE_KEYS if key in payload}
    if None not in written.values() and conditions_of(learner, written) == conditions:
        return {**payload, **written}
    raise StateError(f"the act was about {' and '.join(conditions)}; here its numbers are of {' and '.join(found)}")


def _rule_in_front(learner: ActiveLearner, rule: int) -> int | None:
    """Return the number of the last written rule of `learner` that was added in front of `rule`; None without one."""
    written = {each.number for each in learner.classifier.rules_.written}
    added = [event.rule for event in learner.classifier.events_ if event.kind == "added" and event.other == rule]
    return added[-1] if added and added[-1] in written else None


def _next_number(learner: ActiveLearner) -> int:
    """Return the number that the next new rule of `learner` gets, 0 in the warm-up."""
    model = learner.classifier.inner.any_model
    return 0 if model.warm_up is not None else int(model.trained().arrays.counters[NEXT_IDENTITY])


def _text(book: RuleBook, rule: int) -> str:
    """Return the text of a `rule` as a person would write it."""
    try:
        return str(book.form(rule))
    except EvolabelError as error:  # a threshold rule that only holds for missing values
        return str(error)


_DEFAULTS: dict[str, Any] = {name: Event(0, "", None, None)._asdict()[name] for name in Event._fields}


def count_events(learner: ActiveLearner) -> int:
    """Return how many events `learner` has logged so far."""
    return learner.strategy.inner.any_model.n_events


def events_since(learner: ActiveLearner, n_events: int) -> list[dict[str, Any]]:
    """Return the events of `learner` after the first `n_events`, as JSON holds them."""
    if count_events(learner) == n_events:
        return []
    return [event_facts(event) for event in learner.strategy.inner.events_since(n_events)]


def event_facts(event: Event) -> dict[str, Any]:
    """Return `event` as JSON holds it: its kind, and what else it has a value for.

    The sample is left out, because the record of the event has its own.
    """
    facts = {name: value for name, value in event._asdict().items() if value != _DEFAULTS[name] and name != "sample"}
    return {name: value for name, value in facts.items() if not isinstance(value, float) or math.isfinite(value)}
