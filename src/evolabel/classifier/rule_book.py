"""`clf.rulebook`: edits of the rules of a classifier by a person."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from evolabel._utils.interrupts import exclusive, unchanged_on_error, uninterrupted
from evolabel.classifier.inner import Classifier
from evolabel.core.events import Event
from evolabel.errors import DataError
from evolabel.model.stream_model import StreamModel
from evolabel.stages.rules.stream_terms import stream_terms
from evolabel.stages.written_rules.edits import rule_edits
from evolabel.stages.written_rules.edits.journal import EditEntry, current_entries, undo
from evolabel.stages.written_rules.expert_form import ExpertRule
from evolabel.stages.written_rules.expert_reader import read_form, text_of
from evolabel.stages.written_rules.rule_forms import form_of
from evolabel.stages.written_rules.specification import RuleSpec, resolve, spec_of

P = ParamSpec("P")
R = TypeVar("R")


def _an_edit(
    method: "Callable[Concatenate[RuleBook, P], R]",
) -> "Callable[Concatenate[RuleBook, P], R]":
    """Return `method` as an edit: it ends a warm-up before it begins, and one that is refused changes nothing."""

    @wraps(method)
    def call(self: "RuleBook", /, *arguments: P.args, **named: P.kwargs) -> R:
        model = self._inner.any_model
        self._inner.state.check_unused()
        with unchanged_on_error(model):
            model.end_warm_up()
            return method(self, *arguments, **named)

    return uninterrupted(call)


class RuleBook:
    """Add, edit, move, rename, lock, merge and delete rules; the classifier goes on learning from there.

    Rules are named by their number or by their name. Every edit is an event in `clf.events_` and can be undone as long
    as nothing was learned since, and some also later (`journal`). Forms are text or dictionaries;
    `docs/how-to/expert-rules.md` explains both. The first edit ends the warm-up: the batch phase runs on the rows kept,
    at least 10, and the edit stays.

    Examples
    --------
    >>> from evolabel import EvolvingFuzzyClassifier
    >>> from evolabel.streams import DriftingStream
    >>> X, Y = DriftingStream(n_features=3, n_labels=2, seed=0).take(200)
    >>> book = EvolvingFuzzyClassifier(max_rules=8).fit(X, Y).rulebook
    >>> book.add('IF x0 IS very high THEN label0 LIKELY, label1 UNLIKELY WITH CONFIDENCE 0.8 CALLED "hot"')
    8
    >>> book.lock("hot")
    >>> print(book.form("hot"))
    IF x0 IS very high THEN label0 LIKELY, label1 UNLIKELY WITH CONFIDENCE 0.8 WEIGHT 20 CALLED "hot"
    >>> print(book.undo())
    sample 200: rule 8 was locked by hand
    """

    def __init__(self, classifier: Classifier) -> None:
        self._classifier = classifier
        self._inner = classifier.inner

    @_an_edit
    def add(self, form: object) -> int:
        """Add a rule from a `form` behind the other written rules, and return its number."""
        spec, text, name = self._read(form)
        return rule_edits.add_rule(self._model(), spec, text, name)

    @_an_edit
    def edit(self, rule: int | str, form: object) -> int:
        """Replace a `rule` by a `form`, and return the number of the rule that has it now.

        A written rule keeps its number, place and lock, and its name if the form has none; what it had learned is
        dropped. A rule that was learned stays, because it follows the data: `form` is added as a written rule, which
        answers before it and whose number is returned. Start from `form(rule)` to change a part.
        """
        number = self._number(rule)
        spec, text, name = self._read(form)
        return rule_edits.edit_rule(self._model(), number, spec, text, name)

    @_an_edit
    def move(self, rule: int | str, place: int) -> None:
        """Move a written `rule` to a `place` in the list, counted from 1: the first rule that holds answers."""
        rule_edits.move_rule(self._model(), self._number(rule), place)

    @_an_edit
    def rename(self, rule: int | str, name: str) -> None:
        """Set the `name` of a `rule`; an empty name removes it."""
        rule_edits.rename_rule(self._model(), self._number(rule), name)

    @_an_edit
    def lock(self, rule: int | str) -> None:
        """Lock a `rule`: learning does not change its answers, nor where it is used."""
        rule_edits.lock_rule(self._model(), self._number(rule))

    @_an_edit
    def unlock(self, rule: int | str) -> None:
        """Unlock a `rule`: it learns again."""
        rule_edits.unlock_rule(self._model(), self._number(rule))

    @_an_edit
    def merge(self, one: int | str, other: int | str) -> int:
        """Merge the rules `one` and `other`, and return the number of the better supported one, which stays.

        Both are rules that were learned; written rules are never merged.
        """
        return rule_edits.merge_rules(self._model(), self._number(one), self._number(other))

    @_an_edit
    def delete(self, rule: int | str) -> None:
        """Remove a `rule`, locked or not."""
        rule_edits.delete_rule(self._model(), self._number(rule))

    @uninterrupted
    def undo(self, entry: EditEntry | None = None) -> Event:
        """Take back the last edit, bit for bit, and return its event; refused once samples were learned since.

        With an `entry` of the journal, take back its edit, however much was learned since, and return the event of
        that: only a lock, an unlock, a name and the edit of a written rule. What all else has learned stays. An edited
        rule has its former conditions, labels, name and counts again, and keeps its lock; one that was unlocked is
        locked with what it answers now. Refused if the rule is gone.
        """
        model = self._model()
        if entry is None:
            return undo(model)
        with unchanged_on_error(model):
            return rule_edits.take_back(model, entry)

    @property
    @exclusive
    def journal(self) -> tuple[EditEntry, ...]:
        """An entry per edit since samples were last learned, oldest first, at most 16.

        An entry can be kept as JSON (`to_dict`), and passed to `undo` later.
        """
        return tuple(current_entries(self._model()))

    @exclusive
    def form(self, rule: int | str) -> ExpertRule:
        """Return a `rule` as a person would write it; `str` of it is text that `add` and `edit` read."""
        model = self._inner.trained_model
        names = self._inner.feature_names, self._inner.label_names
        return form_of(self._number(rule), model, *names)

    @property
    @exclusive
    def names(self) -> dict[int, str]:
        """Names given by people, by number of the rule."""
        return dict(self._model().trained().rule_names.names)

    @property
    @exclusive
    def edits(self) -> list[Event]:
        """The events of edits by people, oldest first."""
        return [event for event in self._classifier.events_ if event.by_person]

    @property
    def _lock(self) -> Any:
        return self._inner.lock

    def _model(self) -> StreamModel:
        return self._inner.trained_model

    def _number(self, rule: int | str) -> int:
        if isinstance(rule, int | np.integer) and not isinstance(rule, bool):
            rule_edits.check_rule(self._model(), int(rule))
            return int(rule)
        for number, name in self._model().trained().rule_names.names.items():
            if name == rule:
                return number
        raise DataError(f"no rule is called {rule!r}; give its number, or rename a rule first")

    def _read(self, form: object) -> tuple[RuleSpec, str, str]:
        """Return the rule that `form` describes in numbers, its text, and its name."""
        model, features, labels = self._inner.trained_model, self._inner.feature_names, self._inner.label_names
        rule = resolve(read_form(form), stream_terms(model, features))
        return spec_of(rule, model, features, labels), text_of(form, rule), rule.name
