"""Features that have appeared but cannot take part yet, because nobody knows how they are distributed."""

from collections.abc import Hashable, Iterable

MOST_WAITING = 1000  # new names may never end, as in a bag of words


class WaitingFeatures:
    """The first values of features that wait for a column: until there are enough, and not all the same."""

    def __init__(self) -> None:
        self.shown: dict[Hashable, list[float]] = {}

    def note(self, name: Hashable, values: Iterable[float], needed: int) -> bool:
        """Remember values (NaN is none); has the feature shown enough of them now?"""
        shown = self.shown[name] = self.shown.pop(name, [])  # now the latest
        shown.extend(value for value in values if value == value)
        if len(shown) < needed:
            return False
        if min(shown) < max(shown):
            return True
        del shown[:-1]  # constant so far: one value stands for all, and the wait goes on
        return False

    def make_room(self) -> None:
        """Forget the features that have not been seen for longest, if too many wait."""
        for name in list(self.shown)[: max(0, len(self.shown) - MOST_WAITING)]:
            del self.shown[name]
