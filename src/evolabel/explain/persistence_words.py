"""How much answers that persist prove, in words."""

from collections.abc import Mapping

_MOST_LABELS = 5  # that are named
_ROWS = 1000


def persistence_lines(independent: Mapping[str, float]) -> list[str]:
    """Return one line about how many answers 1,000 rows count for, or none where each row counts for one.

    `independent` has, by label, how many independent answers one answer counts for.

    Examples
    --------
    >>> persistence_lines({"leak": 0.04, "wear": 1.0})
    ['Answers persist: 1,000 rows count for 40 (leak), 1,000 (all other labels).']
    """
    if not independent or min(independent.values()) >= 1.0:
        return []
    lowest = dict(sorted(independent.items(), key=lambda item: item[1])[:_MOST_LABELS])
    named = {name: n for name, n in lowest.items() if n < 1.0}
    counts = {_count(n) for n in independent.values()}
    if len(counts) == 1:
        return [f"Answers persist: {_ROWS:,} rows count for {counts.pop()}."]
    parts = [f"{_count(n)} ({name})" for name, n in named.items()]
    rest = [n for name, n in independent.items() if name not in named]
    if rest:
        more = f"{_count(min(rest))}{'' if min(rest) >= 1.0 else ' or more'}"
        parts.append(f"{more} (all other labels)")
    return [f"Answers persist: {_ROWS:,} rows count for {', '.join(parts)}."]


def _count(n: float) -> str:
    """Return the independent answers in 1,000 rows of which one counts for `n`, as text."""
    return f"{max(1, round(_ROWS * n)):,}"
