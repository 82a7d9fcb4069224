"""Features that have appeared but have no column yet, because they have shown too few values to be scaled."""

from collections.abc import Hashable, Iterable

MAX_WAITING_FEATURES = 1000  # the number of new names may be unlimited, as in a bag of words


class WaitingFeatures:
    """The first values of features without a column, in `shown`: by name, the feature seen last at the end."""

    def __init__(self) -> None:
        self.shown: dict[Hashable, list[float]] = {}

    def add(self, name: Hashable, values: Iterable[float], needed: int) -> bool:
        """Add `values` of the feature `name` (NaN is skipped); whether it now has `needed` values, not all equal."""
        shown = self.shown[name] = self.shown.pop(name, [])  # moves the name to the end
        shown.extend(value for value in values if value == value)
        if len(shown) < needed:
            return False
        if min(shown) < max(shown):
            return True
        del shown[:-1]  # constant so far: keep one value and continue to wait
        return False

    def drop_oldest(self) -> None:
        """Drop the features that were not seen for longest while more than `MAX_WAITING_FEATURES` wait."""
        for name in list(self.shown)[: max(0, len(self.shown) - MAX_WAITING_FEATURES)]:
            del self.shown[name]
