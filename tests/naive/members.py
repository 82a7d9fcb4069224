"""Twins of `stages.drift.loops`: the linear member, the mixer, the sums of the fast member, the watch of the sensors.

All numbers of the study are written out, and every member is an object with named numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import exp, log, sqrt

import numpy as np

from evolabel.typing import FloatArray


def standard_scores(x: FloatArray, mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Standard scores cut at 4, then 1; a missing or constant feature scores 0."""
    s = [
        0.0 if np.isnan(v) or spread <= 1e-16 * centre**2 else float(np.clip((v - centre) / sqrt(spread), -4.0, 4.0))
        for v, centre, spread in zip(x, mean, variance, strict=True)
    ]
    return np.array([*s, 1.0])


class NaiveLinear:
    """Logistic regression of each label on running standard scores."""

    def __init__(self, p: int, K: int) -> None:
        self.W = np.zeros((K, p + 1))
        self.mean, self.variance, self.n = np.zeros((3, p))

    def answer(self, x: FloatArray) -> FloatArray:
        """The share that each label is expected to be on."""
        return 1.0 / (1.0 + np.exp(-self.W @ standard_scores(x, self.mean, self.variance)))

    def learn(self, x: FloatArray, y: FloatArray, weight: float, confidence: FloatArray, pace: float = 1.0) -> None:
        """One step per answered label, shorter where answers persist, then the scores."""
        s, f = standard_scores(x, self.mean, self.variance), self.answer(x)
        for b, known in enumerate(confidence):
            if weight * known > 0.0 and not np.isnan(y[b]):
                eta = 0.05 * weight * known * pace
                self.W[b] += eta / (1.0 + eta * (s @ s) / 4.0) * (y[b] - f[b]) * s
        self.learn_scores(x, weight)

    def learn_scores(self, x: FloatArray, weight: float) -> None:
        """Weighted mean and variance; beyond a weight of 2,000 old rows fade. Values beyond 20 deviations are cut."""
        for j, v in enumerate(x):
            if not np.isnan(v):
                before = min(self.n[j], max(2000.0, weight) - weight)
                self.n[j] = before + weight
                e = v - self.mean[j]
                if self.n[j] >= 30.0 and self.variance[j] > 1e-16 * self.mean[j] ** 2:
                    e = float(np.clip(e, -20.0 * sqrt(self.variance[j]), 20.0 * sqrt(self.variance[j])))
                self.variance[j] = before * self.variance[j] / self.n[j] + before * weight * e**2 / self.n[j] ** 2
                self.mean[j] += weight / self.n[j] * e


class NaiveMixer:
    """Weights of slow, fast and linear member for one label, by their recent losses."""

    def __init__(self) -> None:
        self.losses, self.n = [0.25, 0.25, 0.25], 0.0

    def weights(self, has_fast: bool) -> list[float]:
        """Softmax of relative losses; all but the slow member have a handicap of a tenth."""
        handicapped = [self.losses[0], 1.1 * self.losses[1], 1.1 * self.losses[2]]
        members = [0, 1, 2] if has_fast else [0, 2]
        least = min(handicapped[m] for m in members)
        raw = [exp(-40.0 * (handicapped[m] - least) / (least + 0.001)) if m in members else 0.0 for m in range(3)]
        return [part / sum(raw) for part in raw]

    def learn(self, outputs: FloatArray, y: float, weight: float) -> None:
        """Mean of the squared errors; beyond a weight of 200 old answers fade."""
        before = min(self.n, max(200.0, weight) - weight)
        self.n = before + weight
        for m in range(3):
            loss = (min(max(outputs[m], 0.0), 1.0) - y) ** 2
            self.losses[m] = (before * self.losses[m] + weight * loss) / self.n


@dataclass
class NaiveFast:
    """All rows that one slot of the fast member has learned: block, weight, regressor and labels."""

    penalty: FloatArray
    rows: list[tuple[int, float, FloatArray, FloatArray]] = field(default_factory=list)

    def sums(self, block: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """H, G and P in this block: each row counts less by exp(-1/2) for every block since."""
        q, K = len(self.rows[0][2]), len(self.rows[0][3])
        H, G = np.zeros((q, q)), np.zeros((K, q))
        for learned, weight, r, y in self.rows:
            w = weight * exp(-(block - learned) / 2.0)
            H += w * np.outer(r, r)
            G += w * np.outer(y, r)
        return H, G, np.linalg.inv(H + np.diag(self.penalty))


@dataclass
class NaiveSensor:
    """The watch of one feature: recent scores, readings in calm times, and readings since it was suspect."""

    scaled: object  # function: value -> score, not clipped
    a: float = 0.0
    b: float = 1.0
    new_a: float = 0.0
    new_b: float = 1.0
    mean: float = 0.0
    variance: float = 1.0
    usual_mean: float = 0.0
    usual_variance: float = 1.0
    usual: list[tuple[float, float]] = field(default_factory=lambda: [(0.0, 1.0)])
    places: list[tuple[float, float]] = field(default_factory=list)  # since it was suspect
    calm_mean: float = 0.0
    calm_variance: float = 0.0
    calm_rows: float = 0.0
    new: list[float] = field(default_factory=list)
    corrected_at: int = 0
    phase: str = "watched"
    begins: Callable[[], bool] = lambda: True  # whether it may be tried now

    @property
    def suspect(self) -> bool:
        """Mean or spread of the recent scores are not the usual ones; scores that are cut, at 8, have no spread."""
        means, variances = zip(*self.usual, strict=True)
        wider = self.variance > 9.0 * max(*variances, 0.01)
        narrower = self.variance < min(variances) / 9.0 and abs(self.mean) < 7.0
        return not min(means) - 1.5 <= self.mean <= max(means) + 1.5 or wider or narrower

    @property
    def unsettled(self) -> bool:
        """Suspect, on trial, or on the way there."""
        means, variances = zip(*self.usual, strict=True)
        apart = not min(means) - 0.5 <= self.mean <= max(means) + 0.5
        widths = min(variances) / 2.5 <= self.variance <= 2.5 * max(*variances, 0.01)
        return self.phase in ("collecting", "on trial") or apart or not widths

    def learn_calm(self, x: float) -> None:
        """Mean and variance of the raw reading over 2,000 rows; from 30 rows on, cut at 8 deviations."""
        e = x - self.calm_mean
        if self.calm_rows >= 30.0 and self.calm_variance > 0.0:
            e = float(np.clip(e, -8.0 * sqrt(self.calm_variance), 8.0 * sqrt(self.calm_variance)))
        self.calm_rows += 1.0
        step = 1.0 / min(self.calm_rows, 2000.0)
        self.calm_mean += step * e
        self.calm_variance = (1.0 - step) * (self.calm_variance + step * e**2)

    def watch(self, x: float) -> bool:
        """Learn a reading; return whether a trial begins."""
        score = float(np.clip(self.scaled(self.a + self.b * x), -8.0, 8.0))  # type: ignore[operator]
        e = score - self.mean
        self.mean += e / 50.0
        self.variance = 0.98 * (self.variance + e**2 / 50.0)
        begins = False
        if self.phase in ("collecting", "on trial"):
            self.places.append((self.mean, self.variance))
            begins = self.collect(x)
        elif self.suspect:
            self.phase, self.new, self.places = "collecting", [], [(self.mean, self.variance)]
            self.new_a, self.new_b = self.a, self.b
        elif self.calm_rows < 30 or abs(self.mean - self.usual_mean) <= 0.5:
            self.learn_calm(x)
        return begins

    def collect(self, x: float) -> bool:
        """Keep a reading, cut at 8 deviations from 30 of them on; then the view on trial follows."""
        if len(self.new) >= 30 and np.var(self.new) > 0.0:
            centre, furthest = float(np.mean(self.new)), 8.0 * float(np.std(self.new))
            x = min(max(x, centre - furthest), centre + furthest)
        self.new.append(x)
        if len(self.new) < 30:
            return False
        begins = self.phase == "collecting"
        if begins and np.var(self.new) <= 1e-6 * self.calm_variance:
            self.new = []
            self.phase = self.phase if self.suspect else "watched"
            return False
        if begins and not self.begins():
            return False
        factor = sqrt(self.calm_variance / np.var(self.new))
        factor = 1.0 if abs(log(factor)) < 0.35 else factor
        self.new_a = self.a + self.b * (self.calm_mean - factor * float(np.mean(self.new)))
        self.new_b, self.phase = self.b * factor, "on trial"
        return begins

    def judged(self, better: bool, now: int) -> tuple[float, float]:
        """End of a trial; return the means before and after."""
        before, after = self.calm_mean, float(np.mean(self.new))
        self.phase = "reviewed" if better else "watched"
        if better:
            self.corrected_at = now
            self.a, self.b, self.new_a, self.new_b = self.new_a, self.new_b, self.a, self.b
            self.mean, self.variance = self.usual_mean, self.usual_variance
        else:
            self.usual_mean, self.usual_variance = self.mean, self.variance
            self.usual += self.places
            self.new_a, self.new_b = self.a, self.b
        self.calm_mean, self.calm_variance = after, float(np.var(self.new))
        self.calm_rows = min(self.calm_rows, 500.0)
        return before, after

    def dropped(self, now: int) -> None:
        """The view from before the correction is used again; where it read while suspect is usual."""
        self.a, self.b, self.corrected_at = self.new_a, self.new_b, now
        means, variances = zip(*self.places, strict=True)
        up, down = max(means) - self.usual_mean, self.usual_mean - min(means)
        self.mean = max(means) if up > down else min(means)
        self.variance = max(variances)
        self.usual_mean, self.usual_variance = self.mean, self.variance
        self.usual += self.places


class NaiveTrial:
    """All features, and the trial that the suspects share."""

    def __init__(self, sensors: list[NaiveSensor]) -> None:
        self.sensors = sensors
        self.on, self.since, self.begun = False, 0, 0
        self.reviews = False
        self.now = 0
        for sensor in sensors:
            sensor.begins = self.takes_suspects
        self.as_read = self.moved = 0.0
        self.persisted = False  # at the last comparison
        self.persists, self.runs = False, [[0.0]]  # gains of the rows of each run of answers

    @property
    def uses_new(self) -> bool:
        """Whether the view on trial answers: better of late, and likely better by runs where answers persist."""
        return self.on and self.moved <= self.as_read and (not self.persisted or self.is_sure(1.0, 2))

    def takes_suspects(self) -> bool:
        """Whether suspects may join the trial, in its first 200 rows, or begin one."""
        return not self.on or (self.now - self.since < 200 and self.now - self.begun < 4800)

    @property
    def many(self) -> bool:
        """More are on trial than have moved likely."""
        return sum(sensor.phase == "on trial" for sensor in self.sensors) > max(4, len(self.sensors) / 4)

    @property
    def gains(self) -> list[float]:
        """Mean gains of the runs that have ended, which a row of the next one shows."""
        return [float(np.mean(run)) for run in [run for run in self.runs if run][:-1]]

    def is_sure(self, errors: float, least: int = 6) -> bool:
        """Beyond so many standard errors over at least so many runs."""
        n = len(self.gains)
        return n >= least and float(np.mean(self.gains)) > errors * np.std(self.gains, ddof=1) / sqrt(n)

    @property
    def is_view_better(self) -> bool:
        """Better of late, and sure enough where answers persist or many features are tried."""
        proved = self.is_sure(6.0) if self.many else not self.persists or self.is_sure(3.5)
        return self.moved < 0.95 * self.as_read and proved

    @property
    def is_undecided(self) -> bool:
        """Too few runs of answers, or a gain over them that is likely and not sure."""
        undecided = self.on and self.is_sure(1.0, 2) and not self.is_view_better
        return (self.persists or self.many) and (len(self.gains) < 6 or undecided)

    def corrected(self, x: FloatArray, *, new: bool) -> FloatArray:
        """The row by the view in use, or by the one on trial."""
        return np.array(
            [(s.new_a + s.new_b * v) if new else (s.a + s.b * v) for s, v in zip(self.sensors, x, strict=True)]
        )

    def learn(self, x: FloatArray, loss_used: float, loss_other: float, now: int) -> list[str]:
        """Learn a row and the losses of both views; return the verdict on each feature, "" without one."""
        verdicts, self.now = [""] * len(self.sensors), now
        if self.on or self.reviews:
            as_read, moved = (loss_other, loss_used) if self.uses_new else (loss_used, loss_other)
            self.runs[-1].append(as_read - moved)
            self.as_read += (as_read - self.as_read) / 50.0
            self.moved += (moved - self.moved) / 50.0
            if now - self.since >= 200 and (now - self.begun >= 5000 or not self.is_undecided):
                verdicts = self.look_back(now) if self.reviews else self.judged(now)
        self.persisted = self.persists
        for sensor, value in zip(self.sensors, x, strict=True):
            if not np.isnan(value) and sensor.watch(float(value)):
                self.begun = self.begun if self.on else now
                self.end_review()
                self.on, self.since, self.as_read, self.moved = True, now, 0.25, 0.25
                self.runs = [[]]
        return verdicts

    def judged(self, now: int) -> list[str]:
        """End of a trial."""
        verdicts = [""] * len(self.sensors)
        better, no_verdict = self.is_view_better, self.is_undecided
        for j, sensor in enumerate(self.sensors):
            if sensor.phase == "on trial":
                verdicts[j] = "sensor moved" if better else "" if no_verdict else "inputs moved"
        for sensor in self.sensors:
            if sensor.phase == "on trial":
                sensor.judged(better, now)
        self.on, self.reviews = False, better
        if better:
            self.as_read, self.moved = self.moved, self.as_read
            self.since, self.begun, self.runs = now, now, [[]]
        return verdicts

    def look_back(self, now: int) -> list[str]:
        """A look at corrections: dropped where the earlier view is better beyond doubt; reviewed for 5,000 rows."""
        worse = self.moved < 0.95 * self.as_read and self.is_sure(3.5)
        verdicts = ["correction dropped" if worse and s.phase == "reviewed" else "" for s in self.sensors]
        for sensor in self.sensors:
            if worse and sensor.phase == "reviewed":
                sensor.dropped(now)
        if worse or now - self.begun >= 5000:
            self.end_review()
        self.since, self.runs = now, [[]]
        return verdicts

    def end_review(self) -> None:
        """Its features have one view again."""
        self.reviews = False
        for sensor in self.sensors:
            if sensor.phase == "reviewed":
                sensor.phase, sensor.new_a, sensor.new_b = "watched", sensor.a, sensor.b
