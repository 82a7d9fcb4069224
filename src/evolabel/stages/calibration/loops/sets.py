"""Thresholds of prediction sets: adaptive conformal prediction on counts of scores.

The score of a label is 1 - p of the value that came true, in [0, 1]; of classes, 1 - p of the true class. A set holds
every value whose score is at most a threshold q. For a level c of `LEVELS` it is the (1 - alpha_c)(n + 1) / n quantile
of the counted scores, linear inside a bin; everything is in the set where that is above 1, as without counts. After a
row, alpha_c += g_c (1 - c - error): where the sets miss too often, they grow.
"""

from evolabel.engine.compile import inner
from evolabel.stages.calibration.arrays import GAINS, LEVELS, CalibrationArrays
from evolabel.stages.calibration.loops.maps import CALIBRATION_MEMORY
from evolabel.typing import FloatArray

EVERYTHING = 1.0  # a threshold that every score is below


@inner
def learn_score(j: int, score: float, w: float, adapts: bool, c: CalibrationArrays) -> None:
    """Learn a `score` of weight w in stream j: alpha, if it `adapts`, by the errors of the sets, then the counts."""
    counts, bins, once = c.counts[j], c.counts.shape[1], min(w, 1.0)
    b = min(int(score * bins), bins - 1)
    if adapts:
        below = counts[b] * (score * bins - b)
        for i in range(b):
            below += counts[i]
        for level in range(LEVELS.shape[0]):
            is_wrong = c.n[j] > 0.0 and below > (1.0 - c.alpha[j, level]) * (c.n[j] + 1.0)
            c.alpha[j, level] += once * GAINS[level] * (1.0 - LEVELS[level] - (1.0 if is_wrong else 0.0))
    kept = 1.0 - once / CALIBRATION_MEMORY
    for i in range(bins):
        counts[i] *= kept
    counts[b] += w
    c.n[j] = kept * c.n[j] + w


@inner
def quantile(counts: FloatArray, n: float, needed: float) -> float:
    """Return the score that `needed` of the n counted scores are below; `EVERYTHING` if that is n or more."""
    if needed >= n:
        return EVERYTHING
    bins, before = counts.shape[0], 0.0
    for b in range(bins):
        after = before + counts[b]
        if after >= needed and after > 0.0:
            inside = (needed - before) / counts[b] if counts[b] > 0.0 else 0.0
            return float((b + max(inside, 0.0)) / bins)
        before = after
    return EVERYTHING  # rounding: the sum of the counts is a little below n


@inner
def set_limit(j: int, coverage: float, c: CalibrationArrays) -> float:
    """Return the threshold of stream j for this `coverage`: never lower than at a lower level, linear in between."""
    low, high = 0.0, 0.0
    for level in range(LEVELS.shape[0]):
        low = high
        high = max(high, quantile(c.counts[j], c.n[j], (1.0 - c.alpha[j, level]) * (c.n[j] + 1.0)))
        if coverage <= LEVELS[level]:
            break
    if level == 0:
        return high
    part = (coverage - LEVELS[level - 1]) / (LEVELS[level] - LEVELS[level - 1])
    return float(low + min(part, 1.0) * (high - low))
