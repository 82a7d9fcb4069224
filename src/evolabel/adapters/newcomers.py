"""Features that have appeared but cannot take part yet, because nobody knows how they are distributed."""

from collections.abc import Hashable, Iterable


class Newcomers:
    """The first values of features that wait for a column: until there are enough, and not all the same."""

    def __init__(self) -> None:
        self.shown: dict[Hashable, list[float]] = {}

    def note(self, name: Hashable, values: Iterable[float], needed: int) -> bool:
        """Remember values (NaN is none); has the feature shown enough of them now?"""
        shown = self.shown.setdefault(name, [])
        shown.extend(value for value in values if value == value)
        if len(shown) < needed:
            return False
        if min(shown) < max(shown):
            return True
        del shown[:-1]  # constant so far: one value stands for all, and the wait goes on
        return False
