"""Leases: a question that one person looks at is not offered to others for a while. A hint, never a right.

They are kept in memory: after a restart every open question is offered again, and any answer is taken.
"""

from collections.abc import Collection, Iterable

from evolabel.server.contexts.questions import OpenQuestion, people_needed


class Leases:
    """Who looks at which question, until when."""

    def __init__(self) -> None:
        self._until: dict[int, dict[int, int]] = {}

    def renew(self, number: int, person: int, until: int) -> None:
        """Give question `number` to a `person` until a time."""
        self._until.setdefault(number, {})[person] = until

    def give_back(self, number: int, person: int) -> None:
        """End the lease of a `person` on question `number`."""
        self._until.get(number, {}).pop(person, None)

    def forget(self, open_numbers: Collection[int]) -> None:
        """Drop leases on questions that are not among `open_numbers`."""
        self._until = {number: held for number, held in self._until.items() if number in open_numbers}

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
