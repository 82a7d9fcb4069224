"""Arrays of several parts in one dictionary, as files hold them: every name begins with that of its part."""

from evolabel.typing import Arrays


def prefixed(part: str, arrays: Arrays) -> Arrays:
    """Return the `arrays` of a `part` by names of the form "part.name"."""
    return {f"{part}.{name}": array for name, array in arrays.items()}


def part_of(arrays: Arrays, part: str) -> Arrays:
    """Return what `prefixed` was given for this `part` of `arrays`; nothing if it is not there."""
    start = f"{part}."
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
