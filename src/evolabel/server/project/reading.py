"""What people and producers can read of a project. Nothing here changes it."""

import math
from collections.abc import Collection

import numpy as np

from evolabel.errors import StateError
from evolabel.explain.counterfactuals import Counterfactual
from evolabel.explain.prediction import Explanation
from evolabel.server.log.records import Record
from evolabel.server.log.times import SECOND
from evolabel.server.project.batch import RecordBatch, without_events
from evolabel.server.project.operations import ConflictError, UnknownError, question_record, sample_record
from evolabel.server.project.questions import Answers, Leases, OpenQuestion, needs_another
from evolabel.server.project.settings import Feature
from evolabel.server.project.state import Facts, ProjectState
from evolabel.server.project.values import read_answers

WAITING = ("open", "taken", "partly")
"""Statuses of questions that are not closed."""


def show_project(batch: RecordBatch) -> Facts:
    """Return features, labels, settings and counts of the project in the `batch`."""
    state, bucket = batch.state, batch.state.learner.bucket
    return {
        "features": [feature.facts() for feature in state.features],
        "labels": [label.facts() for label in state.labels],
        "settings": state.settings.facts(),
        "paused": state.paused,
        "seq": batch.seq,
        "samples": state.seen,
        "asked": state.n_questions,
        "cost": bucket.asked,
        "share_asked": bucket.share,
        "share_promised": bucket.promised,
        "open": len(state.open),
    }


def show_sample(batch: RecordBatch, number: int, person: int, *, sees_all: bool) -> Facts:
    """Return sample `number` in the `batch`, without what a `person` may not see yet, who `sees_all` or is blind."""
    return shown_sample(batch, sample_record(batch, number), person, sees_all=sees_all)


def shown_sample(batch: RecordBatch, record: Record, person: int, *, sees_all: bool) -> Facts:
    """Return the sample of a `record` in the log of the `batch`, as `show_sample` does."""
    payload, outcome = record.entry.payload or {}, without_events(record.entry.outcome)
    number = outcome["number"]
    names = [feature.name for feature in batch.state.features]
    shown: Facts = {"number": number, "at": record.entry.at, "x": dict(zip(names, payload.get("x", []), strict=False))}
    shown |= {key: payload[key] for key in ("id", "source") if key in payload}
    if not sees_all and not may_see(batch, number, person):
        return {**shown, "question": _asked(outcome), "hidden": True}
    return {**shown, **outcome, "hidden": False}


def may_see(batch: RecordBatch, number: int, person: int) -> bool:
    """Return whether a `person` in the `batch` may see the prediction of sample `number`, and the answers of others.

    In a blind project that is so once the question is closed or the person's own answer is final.
    """
    question = batch.state.open.get(number)
    if not batch.state.settings.blind or question is None:
        return True
    own = question.responses.get(person)
    return own is not None and own.is_final(batch.now, batch.state.settings)


def list_questions(
    batch: RecordBatch, leases: Leases, person: int, limit: int, *, status: str | None = None, after: int = 0
) -> Facts:
    """Return at most `limit` open questions of the `batch`, freshest first, and whether a `person` has answered each.

    Each has its status, by the `leases`. With a `status`, those with numbers above `after`, by number, and `next`.
    """
    found: list[Facts] = [
        {
            "number": q.number,
            "labels": q.labels,
            "at": q.at,
            "needed": q.needed,
            "answered": person in q.responses,
            "status": "taken" if leases.is_taken(q.number, batch.now) else "partly" if needs_another(q) else "open",
        }
        for q in batch.state.open.values()
    ]
    shown: Facts = {"open": len(batch.state.open)}
    if status is None:
        return {**shown, "questions": sorted(found, key=lambda facts: -facts["number"])[:limit]}
    rest = [facts for facts in found if facts["status"] == status and facts["number"] > after]
    page = sorted(rest, key=lambda facts: facts["number"])[:limit]
    return {**shown, "questions": page, "next": page[-1]["number"] if len(rest) > limit else None}


def checked_draft(batch: RecordBatch, number: int, answers: Facts) -> Answers:
    """Return the `answers` of a draft to question `number` in the `batch`; ConflictError if it is closed."""
    _check_open(batch, number)
    return read_answers(batch.state.labels, answers) if answers else {}


def next_question(batch: RecordBatch, leases: Leases, person: int, skipped: Collection[int]) -> Facts | None:
    """Return the next question in the `batch` for a `person`, with its sample and one of the `leases`, or None.

    Those in `skipped` are given back and come last.
    """
    state = batch.state
    leases.forget(state.open)
    for number in skipped:
        leases.give_back(number, person)
    question = leases.next_for(person, state.open.values(), batch.now, skipped)
    return None if question is None else _offered(batch, leases, question, person)


def open_question(batch: RecordBatch, leases: Leases, number: int, person: int) -> Facts | None:
    """Return question `number` in the `batch` for a `person`, with one of the `leases`; None if it cannot be answered.

    That is so once it is closed, or while an answer of the person counts.
    """
    question = batch.state.open.get(number)
    if question is None or person in question.responses:
        return None
    return _offered(batch, leases, question, person)


def asked_labels(batch: RecordBatch, number: int) -> list[str]:
    """Return the labels that question `number` in the `batch` asks about; none once it is closed."""
    question = batch.state.open.get(number)
    return [] if question is None else list(question.labels)


def can_take_back(batch: RecordBatch, number: int, person: int) -> bool:
    """Return whether the answer of a `person` to question `number` in the `batch` can still be taken back."""
    question = batch.state.open.get(number)
    own = None if question is None else question.responses.get(person)
    return own is not None and not own.is_final(batch.now, batch.state.settings)


def may_see_effect(batch: RecordBatch, number: int, person: int) -> bool:
    """Return whether a `person` may see what question `number` in the `batch` changes: once it is closed or answered.

    UnknownError if nothing was asked.
    """
    question_record(batch, number)
    question = batch.state.open.get(number)
    return question is None or person in question.responses


def waiting_for(batch: RecordBatch, person: int) -> int:
    """Return how many open questions in the `batch` a `person` has not answered."""
    return sum(person not in question.responses for question in batch.state.open.values())


def _offered(batch: RecordBatch, leases: Leases, question: OpenQuestion, person: int) -> Facts:
    """Return `question` with its sample and a new lease for a `person`."""
    lease = renew_lease(batch, leases, question.number, person)
    sample = show_sample(batch, question.number, person, sees_all=False)
    return {**sample, **_question(batch, question), **lease, "waiting": waiting_for(batch, person)}


def renew_lease(batch: RecordBatch, leases: Leases, number: int, person: int) -> Facts:
    """Keep question `number` of the `batch` for a `person` in the `leases`; ConflictError if it is closed."""
    _check_open(batch, number)
    until = batch.now + batch.state.settings.lease_seconds * SECOND
    leases.renew(number, person, until)
    return {"lease_until": until}


def _check_open(batch: RecordBatch, number: int) -> None:
    if number not in batch.state.open:
        detail = f"question {number} is closed or was never asked; ask for the next one"
        raise ConflictError("question-closed", detail)


def _question(batch: RecordBatch, question: OpenQuestion) -> Facts:
    """Return what an annotator is asked, with the reason for each label."""
    record = batch.sample(question.number)
    asked = {} if record is None else record.entry.outcome["question"]
    return {"question": {"labels": question.labels, "reasons": asked.get("reasons", {})}, "asked_at": question.at}


def _asked(outcome: Facts) -> Facts | None:
    """Return labels and reasons of the question in `outcome`, without what the model has predicted."""
    question = outcome["question"]
    return None if question is None else {"labels": question["labels"], "reasons": question["reasons"]}


MOST_TURNS = 3


def explain_label(state: ProjectState, cells: list[float | str | None], label: str) -> Facts:
    """Return the output of `label` for a sample of these `cells` by the model in `state`, in parts, and what turns it.

    `base`, what the `parts` give, and `feedback` add up to `output`. `answered_by` has the shares of rules, linear
    part, threshold rules and written rules in the answers of the label. ConflictError while the model has no rules.
    """
    if label not in state.label_names:
        raise UnknownError(f"there is no label {label!r}; ask for the project to see its labels")
    try:
        why = state.explain(cells, MOST_TURNS)
    except StateError:
        detail = "the model has no rules yet; they come with the first ten answered samples"
        raise ConflictError("no-rules-yet", detail) from None
    c = state.label_names.index(label)
    border = float(why.borders[c])
    return {
        "label": label,
        "base": float(why.by_feature[-1, c]),
        "parts": [*_feature_parts(state, cells, why, c), *_rule_parts(why, c)],
        "feedback": 0.0 if why.feedback is None else float(why.feedback[c]),
        "output": float(why.total[c]),
        "threshold": border if math.isfinite(border) else None,
        "positive": bool(why.predicted[c]),
        "probability": None if why.probabilities is None else float(why.probabilities[c]),
        "rules": [int(why.rules[i]) for i in np.argsort(-why.memberships, kind="stable")],
        "answered_by": state.learner.classifier.parts_[label].to_dict(),
        "turns": [_turn(state.features, cells, change) for change in why.changes[c]],
    }


def _feature_parts(state: ProjectState, cells: list[float | str | None], why: Explanation, c: int) -> list[Facts]:
    """Return what each feature gives to label `c`; a text gives what all of its 0/1 columns do."""
    gives = dict(zip(why.feature_names, why.by_feature[:-1, c].tolist(), strict=True))
    return [
        {"kind": "feature", "name": feature.name, "value": cell, "gives": sum(gives[name] for name in feature.columns)}
        for feature, cell in zip(state.features, cells, strict=True)
    ]


def _rule_parts(why: Explanation, c: int) -> list[Facts]:
    """Return what trees and written rules give to label `c`, where they give anything."""
    parts = (
        ("threshold_rules", why.threshold_rules),
        ("first_tree", why.first_tree),
        ("answered_forest", why.answered_forest),
        ("written_rules", why.written),
    )
    gives = {kind: float(part[c]) for kind, part in parts}
    return [{"kind": kind, "name": None, "value": None, "gives": value} for kind, value in gives.items() if value]


def _turn(features: list[Feature], cells: list[float | str | None], change: Counterfactual) -> Facts:
    """Return a `change` of one of `features`, from its cell to a number or a text."""
    place = next(i for i, feature in enumerate(features) if change.feature in feature.columns)
    feature = features[place]
    after = change.feature.removeprefix(f"{feature.name}=") if feature.choices else change.after
    return {"feature": feature.name, "before": cells[place], "after": after, "turns_on": change.turns_on}
