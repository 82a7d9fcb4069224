"""`ProjectState`: everything that the records of a project have made, and what each further record does to it.

`apply` depends on nothing but the state and the record: no clock, no database. So the records of the log, applied one
after the other, give the same bits again. This file and `rule_acts`, which it uses, alone change the learner.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner, Query
from evolabel.explain.prediction import Explanation
from evolabel.server.log.canonical import canonical, digest
from evolabel.server.log.times import HOUR
from evolabel.server.project.learner_changes import (
    MODEL_KINDS,
    RULE_KINDS,
    UNDONE,
    change_model,
    change_rules,
    count_events,
    events_since,
    has_learned,
    undo_on,
)
from evolabel.server.project.questions import Answers, OpenQuestion, Response, answers_needed, held_back, judged_answers
from evolabel.server.project.settings import Feature, Label, ProjectSettings
from evolabel.server.project.values import encoded, labels_row
from evolabel.typing import IntArray

Facts = dict[str, Any]
"""A JSON object."""


class ProjectState:
    """The `learner` of a project with its `settings`, `features` and `labels`, and its open questions."""

    def __init__(
        self, settings: ProjectSettings, features: list[Feature], labels: list[Label], learner: ActiveLearner
    ) -> None:
        self.settings = settings
        self.features = features
        self.labels = labels
        self.learner = learner
        self.open: dict[int, OpenQuestion] = {}
        self.asked_at: deque[int] = deque()
        self.n_questions = 0
        self.seen = 0
        """Samples so far; the last one has this number."""
        self.paused = False
        self.history: list[Facts] = []
        """Rows with labels that wait for a fit."""
        self.prepared: EvolvingFuzzyClassifier | None = None
        """A classifier fitted to the history, so that the record of the fit need not compute it."""

    @classmethod
    def created(cls, payload: Facts) -> "ProjectState":
        """Return the state that the record `project.created` with this `payload` makes."""
        settings = ProjectSettings.read(payload["settings"])
        features = [Feature.read(facts) for facts in payload["features"]]
        labels = [Label(**facts) for facts in payload["labels"]]
        learner = ActiveLearner.start(
            {feature.name: feature.choices or None for feature in features},
            [label.name for label in labels],
            budget=settings.budget,
            per=settings.per,
            burst=settings.burst,
            criteria=settings.criteria_names(),
        )
        settings.check_source(features)
        return cls(settings, features, labels, learner)

    # ------------------------------------------------------------------ facts

    @property
    def label_names(self) -> list[str]:
        """Names of the labels, in their order."""
        return [label.name for label in self.labels]

    @property
    def asked_names(self) -> list[str]:
        """Names of the labels that can be asked about: those that are not retired."""
        return [label.name for label in self.labels if not label.retired]

    def facts(self) -> Facts:
        """Return all but the learner, as JSON holds it."""
        return {
            "settings": self.settings.facts(),
            "features": [feature.facts() for feature in self.features],
            "labels": [label.facts() for label in self.labels],
            "open": [question.facts() for question in self.open.values()],
            "asked_at": list(self.asked_at),
            "n_questions": self.n_questions,
            "seen": self.seen,
            "paused": self.paused,
            "history": self.history,
        }

    @classmethod
    def restored(cls, facts: Facts, learner: ActiveLearner) -> "ProjectState":
        """Return the state whose `facts` were stored beside its `learner`."""
        features = [Feature.read(item) for item in facts["features"]]
        labels = [Label(**item) for item in facts["labels"]]
        state = cls(ProjectSettings.read(facts["settings"]), features, labels, learner)
        state.open = {item["number"]: OpenQuestion.read(item) for item in facts["open"]}
        state.asked_at = deque(facts["asked_at"])
        state.n_questions, state.seen, state.paused = facts["n_questions"], facts["seen"], facts["paused"]
        state.history = facts["history"]
        return state

    def checksum(self) -> str:
        """Return a checksum of the learner and of all else: two states with the same one go on in the same way."""
        return digest(self.learner.checksum() + canonical(self.facts())).hex()

    # ------------------------------------------------------------------ records

    def apply(self, kind: str, payload: Facts, at: int, decided: Facts | None = None) -> Facts:
        """Change the state by a record of this `kind` and `payload` made at time `at`, and return its outcome.

        Everything in `payload` was checked before. `events` of the outcome are what has changed in the rules. `decided`
        is the outcome that the record has in the log: what was asked then is asked, whatever is returned.
        """
        if kind in MODEL_KINDS:
            return change_model(self, kind, payload)
        if kind == UNDONE:
            return self._undone(payload)
        before = count_events(self.learner)
        if kind in RULE_KINDS:
            outcome = change_rules(self.learner, kind, payload)
        elif kind == "sample":
            outcome = self._sample(payload, at, decided)
        else:
            outcome = self._by_kind[kind](self, payload, at)
        if events := events_since(self.learner, before):
            outcome["events"] = events
        if self.history and has_learned(self.learner):
            self.history = []  # a model that has learned cannot be fitted to it any more
        return outcome

    def training_rows(self) -> tuple[list[list[float]], list[list[float]]]:
        """Return the features and the labels of the rows in the history, NaN where they are missing."""
        X = [encoded(self.features, row["x"])[0].rows[0].tolist() for row in self.history]
        return X, [labels_row(self.labels, row["y"]) for row in self.history]

    def predict(self, cells: list[float | str | None]) -> tuple[Facts, Query]:
        """Return the answer for a sample of these `cells`, and its query; changes nothing."""
        x, unseen = encoded(self.features, cells)
        query = self.learner.query(x)
        names, on = self.label_names, self.learner.classifier.thresholds_ <= query.prediction
        shares = query.probabilities  # known if labels are asked for, or there is no feature
        if self.learner.next_follows:
            on, shares = self.learner.predict([x])[0] > 0, self.learner.predict_proba([x])[0]
        elif shares is None:
            shares = self.learner.strategy.inner.model.calibrator().probabilities(query.prediction[None])[0]
        if self.settings.one_of:
            on = shares == shares.max()
        answer: Facts = {
            "prediction": dict(zip(names, shares.tolist(), strict=True)),
            "labels": [name for name, is_on in zip(names, on.tolist(), strict=True) if is_on],
        }
        if query.unfamiliar or unseen:
            beginnings = tuple(f"{name} is none of the texts" for name in unseen)
            others = [text for text in query.unfamiliar if not text.startswith(beginnings)]
            answer["warnings"] = [*others, *unseen.values()]
        return answer, query

    def decide(self, samples: Sequence[list[float | str | None]]) -> IntArray:
        """Return the labels that are predicted for `samples`, given by their cells, as 0 and 1, (n, K)."""
        rows = [encoded(self.features, cells)[0] for cells in samples]
        if not self.settings.one_of:
            return self.learner.predict(rows)
        shares = self.learner.predict_proba(rows)
        on: IntArray = (shares == shares.max(axis=1, keepdims=True)).astype(np.int64)
        return on

    def explain(self, cells: list[float | str | None], turns: int) -> Explanation:
        """Return the prediction for a sample of these `cells` in parts, with at most `turns` changes that turn a label.

        StateError while there are no rules.
        """
        return self.learner.explain(encoded(self.features, cells)[0], changes=turns)

    def _sample(self, payload: Facts, at: int, decided: Facts | None) -> Facts:
        """Count a sample with the question that the outcome `decided` has, or else with that of this model.

        What this model would ask is returned.
        """
        outcome, query = self.predict(payload["x"])
        self.seen += 1
        outcome |= {"number": self.seen, **self._decision(query, payload.get("y"), at)}
        decided = outcome if decided is None else decided
        question, given, asked = decided["question"], payload.get("y"), _labels_asked(decided)
        if asked and asked != _labels_asked(outcome):
            query = self.learner.pending[self.learner.mark_pending(query, asked)]
        if given is not None:
            self._learn_given(query, payload, is_paid=bool(asked))
        elif question is not None:
            if query.number is None:
                self.learner.mark_pending(query)
            self._open(query, asked, decided["labels"], at)
        elif query.asked:
            self.learner.skip(query, over_limit="held" in decided)
        else:
            self.learner.update(query, None)
        return outcome

    def _decision(self, query: Query, given: Answers | None, at: int) -> Facts:
        """Return what this model decides on a sample at time `at`: the question, the limit that stops it, what is paid.

        A question about labels that were `given` with the sample is paid if it is answered by them.
        """
        asked = [name for name, is_asked in zip(self.label_names, query.labels.tolist(), strict=False) if is_asked]
        if given is not None:
            paid = asked if all(given.get(name) is not None for name in asked) else []
            return {"question": None, **({"paid": paid} if paid else {})}
        if not query.asked:
            return {"question": None}
        if (limit := self._limit(at)) is not None:
            return {"question": None, "held": limit}
        reasons = {name: list(why) for name, why in zip(asked, query.label_reasons, strict=True)}
        needed = answers_needed(self.settings, self.n_questions)
        return {"question": {"labels": asked, "reasons": reasons, "cost": query.cost, "needed": needed}}

    def _limit(self, at: int) -> str | None:
        """Return the limit that stops a question at time `at`, or None."""
        waiting = len([question for question in self.open.values() if not question.responses])
        return held_back(self.settings, waiting, self.asked_at, at, paused=self.paused)

    def _learn_given(self, query: Query, payload: Facts, *, is_paid: bool) -> None:
        """Count and learn a sample whose labels came with it: an answer if its question `is_paid` or it has none."""
        if is_paid or not query.asked:
            self.learner.update(query, labels_row(self.labels, payload["y"]))
            return
        self.learner.skip(query)
        given = labels_row(self.labels, payload["y"])
        self.learner.learn(encoded(self.features, payload["x"])[0], given, late=0)

    def _open(self, query: Query, asked: list[str], predicted: list[str], at: int) -> None:
        """Keep the question of `query` about the labels `asked`; the model has `predicted` some labels."""
        needed = answers_needed(self.settings, self.n_questions)
        self.n_questions += 1
        self.asked_at.append(at)
        while self.asked_at[0] <= at - HOUR:
            self.asked_at.popleft()
        pending = self.learner.bucket.seen  # a sample without any value is no sample for the learner
        self.open[self.seen] = OpenQuestion(self.seen, pending, asked, predicted, query.cost, at, needed)

    def _answer(self, payload: Facts, at: int) -> Facts:
        return self._respond(payload, at, "submitted", payload["answers"])

    def _refusal(self, payload: Facts, at: int) -> Facts:
        return self._respond(payload, at, "refused", {})

    def _respond(self, payload: Facts, at: int, status: str, answers: Answers) -> Facts:
        question, person = self.open[payload["number"]], payload["person"]
        for other in self.open.values():
            if (earlier := other.responses.get(person)) is not None and other is not question:
                earlier.later += 1
        response = Response(person, payload["revision"], status, answers, at)
        question.responses[person] = response
        return {"final_at": response.final_at(self.settings), "needed": question.needed}

    def _withdrawal(self, payload: Facts, at: int) -> Facts:
        del self.open[payload["number"]].responses[payload["person"]]
        return {}

    def _close(self, payload: Facts, at: int) -> Facts:
        rows, question = payload["rows"], self.open.pop(payload["number"])
        query = self.learner.pending[question.pending]
        learned = [row for row in rows if any(y is not None for y in row.values())]
        names = [name for name, row in zip(payload["annotators"], rows, strict=True) if row in learned]
        y = [labels_row(self.labels, row) for row in learned]
        self.learner.update(query, y or None, names or None)
        return {"taught": len(learned), **judged_answers(question.predicted, learned)}

    def _late_labels(self, payload: Facts, at: int) -> Facts:
        y, question = payload["y"], self.open.pop(payload["number"], None)
        annotator, outcome = payload.get("annotator"), dict[str, Any](learned=len(y))
        if question is not None:
            self.learner.update(self.learner.pending[question.pending], labels_row(self.labels, y), annotator)
            outcome |= {"closes": True, **judged_answers(question.predicted, [y])}
        else:
            row = encoded(self.features, payload["x"])[0]
            self.learner.learn(row, labels_row(self.labels, y), annotator=annotator)
        return outcome

    def _correction(self, payload: Facts, at: int) -> Facts:
        if payload.get("replaces"):
            self.open[payload["number"]].responses[payload["person"]].answers = payload["answers"]
        return {"late": True, **({"learned": len(payload["taught"])} if "taught" in payload else {})}

    def _settings(self, payload: Facts, at: int) -> Facts:
        self.settings = ProjectSettings.read(payload["changed"], self.settings)
        if "budget" in payload["changed"]:
            self.learner.budget = self.settings.budget
        return {}

    def _pause(self, payload: Facts, at: int) -> Facts:
        self.paused = True
        return {}

    def _resume(self, payload: Facts, at: int) -> Facts:
        self.paused = False
        return {}

    def _epoch(self, payload: Facts, at: int) -> Facts:
        return {"seal": self.checksum()}

    def _undone(self, payload: Facts) -> Facts:
        before = self.checksum()
        self.learner, outcome = undo_on(self.learner, payload)
        return {**outcome, "seal_before": before, "seal": self.checksum()}

    def _label_added(self, payload: Facts, at: int) -> Facts:
        label = Label(**payload)
        self.learner.add_label(label.name)
        self.labels.append(label)
        return {"position": len(self.labels)}

    def _label_retired(self, payload: Facts, at: int) -> Facts:
        place = self.label_names.index(payload["name"])
        self.learner.retire_label(payload["name"])
        self.labels[place] = replace(self.labels[place], retired=True)
        return {}

    def _annotator_weighted(self, payload: Facts, at: int) -> Facts:
        self.learner.annotators.set_weight(payload["annotator"], payload["weight"])
        return {}

    _by_kind: ClassVar["dict[str, Callable[[ProjectState, Facts, int], Facts]]"] = {
        **dict.fromkeys(("epoch.started", "library.changed", "rebuild.failed", "fit.failed", "undo.failed"), _epoch),
        **dict.fromkeys(("redacted", "file.stopped", "file.continued", "file.ended"), lambda state, payload, at: {}),
        "answer": _answer,
        "refusal": _refusal,
        "withdrawal": _withdrawal,
        "close": _close,
        "labels.late": _late_labels,
        "correction": _correction,
        "decision": lambda state, payload, at: {},
        "settings.changed": _settings,
        "label.added": _label_added,
        "label.retired": _label_retired,
        "annotator.weighted": _annotator_weighted,
        "paused": _pause,
        "resumed": _resume,
    }


def _labels_asked(outcome: Facts) -> list[str]:
    """Return the labels that the `outcome` of a sample asks about, or that were paid because they came with it."""
    question = outcome["question"]
    return list(outcome.get("paid", []) if question is None else question["labels"])
