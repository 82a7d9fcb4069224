"""Checks of facts that were stored as JSON: numbers, texts and lists, each read by a method of `StoredFacts`."""

from typing import Any

from evolabel.core.array_checks import FINITE, MOST
from evolabel.errors import DataError


class StoredFacts:
    """Facts by name, read one by one; DataError names the fact, what came and what was expected.

    Parameters
    ----------
    facts : object
        A dictionary, if the file is in order.
    place : str
        Where they stand in the file, for messages.
    """

    def __init__(self, facts: object, place: str = "") -> None:
        if not isinstance(facts, dict):
            raise _wrong(place or "the manifest", facts, "a dictionary")
        self._facts: dict[str, Any] = facts
        self._place = place

    @property
    def facts(self) -> dict[str, Any]:
        """All facts, unchecked."""
        return self._facts

    def __contains__(self, name: str) -> bool:
        return name in self._facts

    def value(self, name: str) -> Any:
        """Return the fact `name`, whatever it is."""
        if name not in self._facts:
            raise DataError(f"{self._path(name)} is missing")
        return self._facts[name]

    def part(self, name: str) -> "StoredFacts":
        """Return the fact `name`, a dictionary of further facts."""
        return StoredFacts(self.value(name), self._path(name))

    def parts(self, name: str, most: int = MOST) -> list["StoredFacts"]:
        """Return the fact `name`, a list of at most `most` dictionaries of further facts."""
        return [StoredFacts(part, f"{self._path(name)}[{i}]") for i, part in enumerate(self.listed(name, most))]

    def only(self, *names: str) -> dict[str, Any]:
        """Return all facts if they have just these `names`."""
        if set(self._facts) != set(names):
            differing = sorted(set(self._facts) ^ set(names), key=str)
            raise DataError(f"{self._path(str(differing[0]))} is missing, or not expected there")
        return self._facts

    def whole(self, name: str, low: int = 0, high: int = MOST) -> int:
        """Return the fact `name`, a whole number between `low` and `high`."""
        value = self.value(name)
        if type(value) is not int or not low <= value <= high:
            raise _wrong(self._path(name), value, f"a whole number from {low} to {high}")
        return value

    def flag(self, name: str) -> bool:
        """Return the fact `name`, True or False."""
        value = self.value(name)
        if not isinstance(value, bool):
            raise _wrong(self._path(name), value, "true or false")
        return value

    def positive(self, name: str) -> float:
        """Return the fact `name`, a finite number above 0, stored as hexadecimal text so that no bit is lost."""
        value = self.value(name)
        try:
            number = float.fromhex(value)
        except (TypeError, ValueError, OverflowError):
            number = -1.0
        if not 0.0 < number <= FINITE:
            raise _wrong(self._path(name), value, "a number above 0 in hexadecimal")
        return number

    def listed(self, name: str, most: int = MOST) -> list[Any]:
        """Return the fact `name`, a list of at most `most` entries."""
        value = self.value(name)
        if not isinstance(value, list) or len(value) > most:
            raise _wrong(self._path(name), value, f"a list of at most {most} entries")
        return value

    def texts(self, name: str, size: int | None = None) -> list[str]:
        """Return the fact `name`, a list of texts, of this `size` if one is given."""
        value = self.listed(name)
        if not all(isinstance(text, str) for text in value) or size not in (None, len(value)):
            raise _wrong(self._path(name), value, "a list of texts" + ("" if size is None else f", {size} of them"))
        return value

    def counts(self, name: str) -> dict[str, int]:
        """Return the fact `name`, whole numbers >= 0 by name."""
        part = self.part(name)
        return {key: part.whole(key) for key in part.facts}

    def texts_by_number(self, name: str) -> dict[int, str]:
        """Return the fact `name`, texts by whole numbers >= 0, which JSON has made texts."""
        value = self.value(name)
        sound = isinstance(value, dict) and all(
            key.isascii() and key.isdecimal() and int(key) <= MOST and isinstance(text, str)
            for key, text in value.items()
        )
        if not sound:
            raise _wrong(self._path(name), value, "texts by number")
        return {int(key): text for key, text in value.items()}

    def refuse(self, name: str, expected: str) -> DataError:
        """Return the error about the fact `name` that is not what was `expected`."""
        return _wrong(self._path(name), self.value(name), expected)

    def _path(self, name: str) -> str:
        return f"{self._place}.{name}" if self._place else name


def _wrong(place: str, value: object, expected: str) -> DataError:
    shown = repr(value)
    return DataError(f"{place} is {shown if len(shown) <= 60 else shown[:57] + '...'}, expected {expected}")
