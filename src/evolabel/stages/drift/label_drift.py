"""`LabelDrift`: how well one label is predicted now and in calm times, and which members answer for it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan

from evolabel.core.events import Event
from evolabel.stages.drift.loops.alarm import CALM_COUNT, CALM_MEAN, SHORT_MEAN
from evolabel.stages.drift.stage import LABEL_EVENTS, NoDrift
from evolabel.typing import FloatArray

MEMBERS = ("slow", "fast", "linear")  # as the rows of `Drift.mixer_weights`

_OF_MIXTURE = 1  # index of the alarms of the outputs in `Drift.alarms`


def _slow_alone() -> Mapping[str, float]:
    return {"slow": 1.0, "fast": 0.0, "linear": 0.0}


@dataclass(frozen=True)
class LabelDrift:
    """State of one label in the stream.

    Attributes
    ----------
    state : {"calm", "drift", "recovered", "settled"}
        Whether the label has changed its meaning. "calm": not among the events that are kept. "drift": it has, and its
        error is still above that of calm times. "recovered": it is predicted as well as before. "settled": its error
        has stayed above that for 2,000 rows, and counts as usual now; or threshold rules alone had noticed the drift,
        and were dropped.
    since : int or None
        Row of the stream at which this state began; None while "calm".
    error : float
        Mean squared error of the outputs over the last answers, 50 or more; NaN before there are any. Where threshold
        rules are used for the label, it is the error of their own answers.
    calm_error : float
        The same in calm times.
    weights : dict of str to float
        Weights of the members in the outputs, which sum to 1: "slow" (the rules, from all rows), "fast" (the same
        rules, from recent rows) and "linear" (the linear part).
    independent : float
        Independent answers that one answer counts for: 1, or less where the answers persist, as 0.04 in runs of 25
        rows. Of classes: the mean over all of them.
    """

    state: str = "calm"
    since: int | None = None
    error: float = nan
    calm_error: float = nan
    weights: Mapping[str, float] = field(default_factory=_slow_alone)
    independent: float = 1.0

    def __str__(self) -> str:
        since = "" if self.since is None else f" since sample {self.since}"
        shares = ", ".join(f"{member} {weight:.0%}" for member, weight in self.weights.items())
        persists = "" if self.independent >= 1.0 else f"; 1,000 answers count for {1000.0 * self.independent:.0f}"
        return f"{self.state}{since}, error {self.error:.3f} (calm {self.calm_error:.3f}); {shares}{persists}"


def drifts_of_members(
    drift: NoDrift, events: Iterable[Event], instead: Mapping[int, FloatArray], independent: Sequence[float]
) -> list[LabelDrift]:
    """Return the state of each label, from the alarms of `drift` and the `events` so far.

    `instead` has, by label, alarms that errors are read from in place of those of the outputs, where there are answers;
    `independent` the independent answers that one answer of each label counts for.
    """
    last = {e.label: e for e in events if e.kind in LABEL_EVENTS.values()}
    weights, drifts = drift.mixer_weights.T.tolist(), []
    for label, alarm in enumerate(drift.alarms[_OF_MIXTURE]):
        kind, since = (last[label].kind, last[label].sample) if label in last else ("calm", None)
        answers = alarm[CALM_COUNT] > 0.0  # before, there was only the initial batch
        used = instead.get(label, alarm) if answers else alarm
        shares = dict(zip(MEMBERS, weights[label], strict=True))
        drifts.append(LabelDrift(kind, since, *_errors(used), shares, independent[label]))
    return drifts


def _errors(alarm: FloatArray) -> tuple[float, float]:
    """Return the recent and the calm mean loss of `alarm`; NaN before there was an answer."""
    return (float(alarm[SHORT_MEAN]), float(alarm[CALM_MEAN])) if alarm[CALM_COUNT] > 0.0 else (nan, nan)
