"""What the stored arrays of a model must be, group by group: a table of each, and what must agree beyond it."""

import numpy as np

from evolabel.core.array_checks import (
    FINITE,
    LARGEST,
    MOST,
    SHORTFALL,
    Expected,
    check_arrays,
    check_names,
    check_samples,
    flags,
    floats,
    is_nearly_definite,
    require,
    size_of,
    whole,
)
from evolabel.core.options import Options
from evolabel.errors import DataError
from evolabel.stages.drift.arrays import (
    BORN,
    CORRECTED_AT,
    CUT,
    FACTOR,
    HIGHEST_MEAN,
    IS_ON,
    LEAST_VARIANCE,
    LOWEST_MEAN,
    MOST_VARIANCE,
    N_ALARM,
    N_MEMBERS,
    N_READINGS,
    N_TRIAL,
    NEVER,
    NEW_FACTOR,
    NEW_MEAN,
    NEW_ROWS,
    NEW_SCATTER,
    ON_TRIAL,
    READ_MEAN,
    READ_VARIANCE,
    RENEWED,
    ROWS,
    SCORE_MEAN,
    SCORE_VARIANCE,
    SINCE_SUSPECT,
    SLOW_START,
    UNWATCHED,
    USUAL_MEAN,
    USUAL_VARIANCE,
)
from evolabel.stages.drift.loops.follow import MOST_REVERSAL, SHARE_MEMORY
from evolabel.stages.rules.arrays import NEXT_IDENTITY, RULES, SEEN, Settings, allocate
from evolabel.stages.rules.fast_sums import FAST_ARRAYS
from evolabel.stages.rules.inverses import mirrored
from evolabel.stages.rules.loops.paper.iteration import DIVERGED_ABOVE
from evolabel.stages.rules.slots import PER_SLOT
from evolabel.stages.scaling.stage import variance_of
from evolabel.typing import Arrays, FloatArray, IntArray

HEAVIEST = 1e12  # weight of a sample
SMALLEST = 1e-150  # of what is divided by: squares of its inverse must not overflow
FURTHEST = 1e6  # score of a feature, whatever the scaling

_MOST_SQUARED = 1e210  # a variance, or a sum of squares, of numbers up to 1e100

# Sums of labels are at most so many times what labels of 0 and 1 can add up to: labels that are not annotated count by
# the output for them, which may lie outside [0, 1].
OUTSIDE = 1e4


def warm_up_table(kept: int, p: int, K: int, seen: int) -> dict[str, Expected]:
    """Return what the buffer of the cold start must be: `kept` of `seen` samples, `p` features, `K` labels."""
    return {
        "X": floats(kept, p, missing=True),
        "Y": floats(kept, K, low=0.0, high=1.0, missing=True),
        "weights": floats(kept, high=HEAVIEST, positive=True),
        "confidences": floats(kept, K, low=0.0, high=1.0),
        "numbers": whole(kept, low=1, high=seen),
    }


def check_warm_up(arrays: Arrays, kept: int, p: int, K: int, seen: int) -> None:
    """Check the `arrays` of the cold start: `kept` of `seen` samples, `p` features, `K` labels."""
    check_arrays(arrays, warm_up_table(kept, p, K, seen))
    Y = arrays["Y"]
    require((Y == 0.0) | (Y == 1.0) | np.isnan(Y), "Y", "labels of 0, 1 or NaN")
    require(~np.isnan(Y).all(axis=1), "Y", "an annotated label in every row")
    check_samples("X", arrays["X"])
    require(np.diff(arrays["numbers"]) > 0, "numbers", "rising numbers")


def scaler_table(arrays: Arrays, p: int, kind: str) -> dict[str, Expected]:
    """Return what the `arrays` of the scaling of `p` features must be; the prior variance follows from its `kind`."""
    knots, variance = size_of(arrays, "x", 1), variance_of(kind)
    prior = floats(p, high=FURTHEST**2, positive=True) if variance is None else floats(p, low=variance, high=variance)
    return {
        "x": floats(p, knots, low=-FINITE, high=FINITE),
        "z": floats(p, knots),
        "used": whole(p, high=knots),
        "slope": floats(p, high=FINITE, positive=True),
        "prior": prior,
        "binary": flags(p),
    }


def check_scaler(arrays: Arrays, p: int, kind: str) -> None:
    """Check the `arrays` of the scaling of `p` features of this `kind`: knots and their scores rise."""
    check_arrays(arrays, scaler_table(arrays, p, kind))
    x, z, used = arrays["x"], arrays["z"], arrays["used"]
    require(x.shape[1] > 0, "x", "one knot or more")
    in_use = np.arange(1, x.shape[1]) < used[:, None]
    for name, rows in (("x", x), ("z", z)):
        require((np.diff(rows, axis=1) >= 0.0) | ~in_use, name, "knots that rise")


def slot_table(arrays: Arrays, p: int, K: int, settings: Settings, seen: int) -> dict[str, Expected]:
    """Return what `arrays` with an entry per slot must be: `p` features, `K` labels, `settings`, `seen` samples.

    Ranges that do not follow from the arrays' meaning only keep squares from overflowing.
    """
    slots, heaviest = size_of(arrays, "k"), HEAVIEST * (seen + 1.0)
    holds_weights = size_of(arrays, "W", 1) > 0 and not settings.iterated
    shapes = {
        name: (slots, *array.shape[1:])
        for name, array in allocate(0, p, K, settings, hold_weights=holds_weights)._asdict().items()
    }
    waiting = shapes["pending_H"][1]
    sums = ("H", "G", "pending_H", "pending_P")
    table = {name: floats(*shapes[name]) for name in ("F", "Q", *sums, *(FAST_ARRAYS[name] for name in sums))}
    table |= {name: floats(*shapes[name], low=0.0) for name in ("M", "n")}
    table |= {name: floats(*shapes[name], low=0.0, high=heaviest) for name in ("k", "compared")}
    table |= {"mass": floats(*shapes["mass"], low=0.0), "ybar": floats(*shapes["ybar"], low=-OUTSIDE, high=OUTSIDE)}
    furthest = OUTSIDE * _furthest(settings)
    table |= {"c": floats(*shapes["c"], low=-furthest, high=furthest)}
    table |= {name: floats(*shapes[name], high=FINITE, positive=True) for name in ("inv", "top")}
    table |= {name: floats(*shapes[name], low=-FINITE, high=FINITE) for name in ("P", "fast_P")}
    table |= {
        "W": floats(*shapes["W"], low=-DIVERGED_ABOVE, high=DIVERGED_ABOVE)
        if settings.iterated
        else floats(*shapes["W"])
    }
    table |= {name: whole(slots, high=waiting - 1) for name in ("n_pending", "fast_n_pending")}
    table |= {"age": whole(slots), "identity": whole(slots), "fast_block": whole(slots)}
    table |= {"born": whole(slots, high=seen), "last_won": whole(slots, high=seen), "locked": whole(slots, high=1)}
    return table


def check_slots(arrays: Arrays, p: int, K: int, settings: Settings, seen: int, *, first: IntArray) -> None:
    """Check `arrays` with an entry per slot, for `p` features, `K` labels, `settings` and `seen` samples.

    `first` is True for the slot of the whole stream.
    """
    G, H = (arrays[name].shape[1:] for name in ("G", "H"))
    if (K, p + 1) != G or (p + 1, p + 1) != H:  # before memory is allocated by these numbers
        raise DataError(f"arrays G and H have shapes {G} and {H} per slot, expected {(K, p + 1)} and {(p + 1, p + 1)}")
    check_arrays(arrays, slot_table(arrays, p, K, settings, seen))
    _check_distances(arrays, settings)
    for slot in range(len(first)):
        of_slot = {name: array[slot] for name, array in arrays.items()}
        _check_consequents(of_slot, settings, bool(first[slot]), HEAVIEST * (seen + 1.0))
        if settings.memory:
            fast = {name: of_slot[own] for name, own in FAST_ARRAYS.items()}
            _check_consequents(fast, settings, bool(first[slot]), HEAVIEST * (seen + 1.0))
        if settings.rotated:
            _check_spread(of_slot["F"], settings)


def _check_distances(arrays: Arrays, settings: Settings) -> None:
    """Squared distances must stay finite."""
    with np.errstate(over="ignore"):
        furthest = (np.abs(arrays["c"]) + _furthest(settings)) ** 2 * arrays["inv"]
    require(furthest.sum(axis=1) < FINITE, "inv", "squared distances that are finite")


def _furthest(settings: Settings) -> float:
    """The largest value of a sample in the space of the antecedents."""
    return max(FURTHEST, settings.label_weight) if settings.product else FURTHEST


def _check_spread(F: FloatArray, settings: Settings) -> None:
    """F F' of a rotated rule is its prior and what its samples add to it."""
    factor = np.tril(F)
    require(np.diagonal(factor) > 0.0, "F", "a diagonal above 0")
    spread = factor @ factor.T
    scatter = spread - np.diag(settings.prior_count * settings.prior)
    require(is_nearly_definite(scatter, np.diagonal(spread)), "F", "a spread of at least the prior")


def _check_consequents(slot: Arrays, settings: Settings, of_all: bool, heaviest: float) -> None:
    """H, G and P of one slot: positive definite, as far as rounding lets them, and sums of labels between 0 and 1."""
    penalty = settings.penalty[0 if of_all else 1]
    waiting = slot["n_pending"]
    H = mirrored(slot["H"]) + _outer(slot["pending_H"][:waiting])
    P = mirrored(slot["P"]) - _outer(slot["pending_P"][:waiting])
    require(np.diagonal(H) >= 0.0, "H", "a diagonal of at least 0")
    require(H[-1, -1] <= heaviest, "H", f"evidence of at most {heaviest:g}")
    require(np.diagonal(H) <= (OUTSIDE * FURTHEST) ** 2 * H[-1, -1], "H", "squares of scores")
    require(np.diagonal(P) > 0.0, "P", "a diagonal above 0")
    require(np.diagonal(P) <= 1e3 / penalty, "P", "no more than the ridge allows")
    require(is_nearly_definite(H + np.diag(penalty)), "H", "a positive definite matrix")
    require(is_nearly_definite(P), "P", "a positive definite matrix")
    squares = np.diagonal(H) + penalty
    require(np.abs(slot["G"]) <= OUTSIDE * np.sqrt(squares * squares[-1]), "G", "sums that labels in [0, 1] can have")
    if settings.iterated and not of_all:
        most = np.linalg.eigvalsh(H + np.diag(penalty))[-1]
        require(slot["top"][0] >= (1.0 - SHORTFALL) * most, "top", "a bound of the largest eigenvalue of H")


def _outer(rows: FloatArray) -> FloatArray:
    return np.asarray(rows.T @ rows)


def member_table(p: int, K: int) -> dict[str, Expected]:
    """Return what the arrays of the members of `p` features and `K` labels must be."""
    return {
        "clock": whole(5, low=-MOST),
        "W": floats(K, p + 1),
        "mean": floats(p),
        "variance": floats(p, low=0.0, high=_MOST_SQUARED),
        "n_read": floats(p, low=0.0, high=HEAVIEST),
        "losses": floats(N_MEMBERS, K, low=0.0, high=1.0),
        "n_losses": floats(K, low=0.0, high=HEAVIEST),
        "share": floats(2, K, low=0.0, high=SHARE_MEMORY),
        "alarms": floats(2, K, N_ALARM, low=0.0, high=float(MOST)),
        "episode": whole(K, low=NEVER),
        "depth": floats(2, K, low=0.0, high=1.0),
        "reversal": floats(4, K, low=0.0, high=MOST_REVERSAL),
        "paired": floats(3),
        "views": floats(4, p, low=-FINITE, high=FINITE),
        "readings": floats(N_READINGS, p, low=-_MOST_SQUARED, high=_MOST_SQUARED),
        "phase": whole(p, high=UNWATCHED),
        "trial": floats(N_TRIAL, low=0.0, high=float(MOST)),
    }


def check_members(arrays: Arrays, p: int, K: int, memory: int) -> None:
    """Check the `arrays` of the members of `p` features and `K` labels; the fast one remembers `memory` rows."""
    check_arrays(arrays, member_table(p, K))
    clock, now = arrays["clock"], arrays["clock"][ROWS]
    require((clock[[BORN, CUT, RENEWED]] >= NEVER) & (clock[[BORN, CUT, RENEWED]] <= now), "clock", "rows of the past")
    require(clock[SLOW_START] >= -memory, "clock", "a memory of the slow member that began in the stream")
    require((now >= 0) & (clock[SLOW_START] <= now), "clock", "rows of the past")
    require(arrays["share"][0] <= 1.0, "share", "shares in [0, 1]")
    require(arrays["alarms"][:, :, :4] <= 1.0, "alarms", "means and variances of losses in [0, 1]")
    require(arrays["episode"] <= now, "episode", "rows of the past")
    require(arrays["paired"][[0, 2]] >= 0.0, "paired", "a count and a variance of at least 0")
    require(np.isin(arrays["trial"][IS_ON], (0.0, 1.0)), "trial", "0 or 1, whether there is a trial")
    require(arrays["views"][[FACTOR, NEW_FACTOR]] > 0.0, "views", "factors above 0")
    require(arrays["readings"][CORRECTED_AT] <= now, "readings", "rows of the past")
    variances = [SCORE_VARIANCE, USUAL_VARIANCE, LEAST_VARIANCE, MOST_VARIANCE, SINCE_SUSPECT + 2, SINCE_SUSPECT + 3]
    require(arrays["readings"][variances] >= 0.0, "readings", "variances of at least 0")
    require(arrays["readings"][READ_VARIANCE:NEW_MEAN] >= 0.0, "readings", "a variance and counts of at least 0")
    means = [SCORE_MEAN, USUAL_MEAN, READ_MEAN, NEW_MEAN, LOWEST_MEAN, HIGHEST_MEAN, SINCE_SUSPECT, SINCE_SUSPECT + 1]
    require(np.abs(arrays["readings"][means]) <= LARGEST, "readings", f"means of at most {LARGEST:g}")
    require(arrays["readings"][NEW_SCATTER] >= 0.0, "readings", "sums of squares of at least 0")
    on_trial = arrays["phase"] == ON_TRIAL
    require((arrays["trial"][IS_ON] == 1.0) | ~on_trial, "phase", "features on trial only where there is a trial")
    require((arrays["readings"][NEW_ROWS] > 0.0) | ~on_trial, "readings", "rows of every feature on trial")


def check_counters(counters: IntArray, slots: int, options: Options) -> None:
    """Check the `counters`: rules, as many as `slots` less one and `options` allow, samples, next identity."""
    check_arrays({"counters": counters}, {"counters": whole(3)})
    require(counters[RULES] <= options.max_rules, "counters", f"at most {options.max_rules} rules")
    require(counters[RULES] + 1 == slots, "counters", f"{slots - 1} rules, as many as there are slots")


def check_identities(identities: IntArray, counters: IntArray) -> None:
    """Check the `identities` of the rules, without slot 0, against the `counters`."""
    require(len(set(identities.tolist())) == len(identities), "identity", "identities that differ")
    require(identities < counters[NEXT_IDENTITY], "identity", "identities below the next one")


def check_rules(arrays: Arrays, p: int, K: int, settings: Settings, options: Options) -> None:
    """Check all `arrays` of a rule base of `p` features and `K` labels with these `settings` and `options`."""
    check_names(arrays, (*PER_SLOT, "counters", "winner_stats"))
    slots = {name: arrays[name] for name in PER_SLOT}
    check_counters(arrays["counters"], size_of(slots, "k"), options)
    check_arrays({"winner_stats": arrays["winner_stats"]}, {"winner_stats": floats(3, low=0.0, high=FINITE)})
    require(arrays["winner_stats"][1] <= 1.0 / SMALLEST, "winner_stats", "a mean distance whose square is finite")
    first = np.arange(len(arrays["k"])) == 0
    check_slots(slots, p, K, settings, int(arrays["counters"][SEEN]), first=first)
    check_identities(arrays["identity"][1:], arrays["counters"])
    require(len(first) == 1 or arrays["k"][1:].any(), "k", "a rule that has won samples")
    require(arrays["locked"][0] == 0, "locked", "0 for the whole stream")
    if not settings.iterated:
        holds_weights = size_of(arrays, "W", 1) > 0
        require(holds_weights == bool(arrays["locked"].any()), "W", "weights only where a rule is locked")


def check_settings(settings: Settings) -> None:
    """Raise DataError if numbers of `settings` over- or underflow."""
    numbers = {"penalty": settings.penalty, "metric": settings.metric, "tau": np.array([settings.tau])}
    numbers["prior_count"] = np.array([settings.prior_count])
    for name, values in numbers.items():
        if not ((values >= SMALLEST) & (values <= 1.0 / SMALLEST)).all():
            raise DataError(f"the options lead to a {name} of {values}, expected {SMALLEST:g} to {1.0 / SMALLEST:g}")
