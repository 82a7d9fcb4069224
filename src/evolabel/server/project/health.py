"""Whether a project is well: checks with their values and limits. Pure decisions, no clock is read."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from evolabel.server.log.times import DAY, SECOND

USUAL_GAPS = 10  # without a sample before it is missed
MOST_BEHIND = 20_000  # records
MOST_EXPIRED = 0.2
LONGEST_WAIT = DAY
OLDEST_BACKUP = 2 * DAY
MOST_FALL = 0.1
_SHORTEST_GAP = 60 * SECOND
_FEWEST_ASKED = 10


class Check(NamedTuple):
    """One check: its name, whether it holds, and the values of its text."""

    name: str
    holds: bool
    values: dict[str, Any]


def check_writes(*, ready: bool) -> Check:
    """Return whether the project is `ready` to take samples."""
    return Check("writes", ready, {})


def check_arrival(last_sample: int | None, usual_gap: int | None, now: int) -> Check:
    """Return whether the `last_sample` came at most ten times the `usual_gap` before `now`, or a minute."""
    if last_sample is None or usual_gap is None:
        return Check("arrival", True, {"since": None, "gap": None})
    limit = max(USUAL_GAPS * usual_gap, _SHORTEST_GAP)
    return Check("arrival", now - last_sample <= limit, {"since": now - last_sample, "gap": usual_gap})


def check_disk(free: int | None, least: int) -> Check | None:
    """Return whether at least `least` bytes are `free`; None where it is not known."""
    return None if free is None else Check("disk", free >= least, {"free": free})


def check_backup(last: int | None, created: int, now: int) -> Check:
    """Return whether the `last` backup is at most two days old at time `now`; without one, the project `created`."""
    holds = now - (created if last is None else last) <= OLDEST_BACKUP
    return Check("backup", holds, {"since": None if last is None else now - last})


def check_snapshot(head_seq: int, snapshot_seq: int) -> Check:
    """Return whether the snapshot at `snapshot_seq` is at most 20 000 records behind `head_seq`."""
    return Check("snapshot", head_seq - snapshot_seq <= MOST_BEHIND, {"behind": head_seq - snapshot_seq})


def check_expired(causes: dict[str, int]) -> Check:
    """Return whether fewer than a fifth of the questions, counted in `causes`, expired."""
    asked = sum(causes.values())
    share = causes.get("expired", 0) / asked if asked else 0.0
    return Check("expired", asked < _FEWEST_ASKED or share < MOST_EXPIRED, {"share": share})


def check_waiting(oldest: int | None, now: int) -> Check:
    """Return whether the `oldest` question waits for less than a day at time `now`."""
    span = None if oldest is None else now - oldest
    return Check("waiting", span is None or span <= LONGEST_WAIT, {"span": span})


def check_quality(falls: Sequence[tuple[str, float]]) -> Check:
    """Return whether no label of `falls`, pairs of a label and its change, fell by more than 0.10.

    Labels with a drift mark are left out of `falls`: their fall is known.
    """
    label, change = min(falls, key=lambda fall: fall[1], default=(None, 0.0))
    return Check("quality", change >= -MOST_FALL, {"label": label, "change": change})
