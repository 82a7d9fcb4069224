"""Leases: a question that one person looks at is not offered to others for a while. A hint, never a right.

They are in a table, not in the log, and in memory: so they outlive a restart, and cost one write a batch, after its
requests were answered.
"""

from collections.abc import Collection, Iterable

from evolabel.server.project.lease_rows import LeaseChanges
from evolabel.server.project.questions import OpenQuestion, people_needed


class Leases:
    """Who looks at which question, until when."""

    def __init__(self) -> None:
        self._until: dict[int, dict[int, int]] = {}
        self._changed: LeaseChanges = {}

    def restore(self, until: dict[int, dict[int, int]]) -> None:
        """Go on with leases that end at the times in `until`, by question and person."""
        self._until, self._changed = until, {}

    def take_changed(self) -> LeaseChanges:
        """Return what has changed since the last call: the end of each lease, None for one that has ended."""
        changed, self._changed = self._changed, {}
        return changed

    def renew(self, number: int, person: int, until: int) -> None:
        """Give question `number` to a `person` until a time."""
        self._until.setdefault(number, {})[person] = self._changed[number, person] = until

    def give_back(self, number: int, person: int) -> None:
        """End the lease of a `person` on question `number`."""
        if self._until.get(number, {}).pop(person, None) is not None:
            self._changed[number, person] = None

    def forget(self, open_numbers: Collection[int]) -> None:
        """Drop leases on questions that are not among `open_numbers`."""
        for number in self._until.keys() - set(open_numbers):
            self._changed |= dict.fromkeys(((number, person) for person in self._until.pop(number)), None)

    def is_taken(self, number: int, now: int) -> bool:
        """Return whether a person looks at question `number` at the time `now`."""
        return any(until > now for until in self._until.get(number, {}).values())

    def next_for(
        self, person: int, questions: Iterable[OpenQuestion], now: int, skipped: Collection[int] = ()
    ) -> OpenQuestion | None:
        """Return the freshest of `questions` that a `person` has not answered and no other person looks at, or None.

        Those in `skipped` come last. `now` is the time.
        """
        free = [question for question in questions if self._is_free(question, person, now)]
        return max(free, key=lambda question: (question.number not in skipped, question.number), default=None)

    def _is_free(self, question: OpenQuestion, person: int, now: int) -> bool:
        if person in question.responses:
            return False
        held = self._until.get(question.number, {})
        others = sum(until > now for holder, until in held.items() if holder != person)
        return len(question.responses) + others < people_needed(question, question.responses.values())
