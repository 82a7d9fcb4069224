"""What the stored arrays of a rule base must be: ranges, and what must agree beyond them."""

import numpy as np

from evolabel.core.array_checks import (
    FINITE,
    FURTHEST,
    HEAVIEST,
    SHORTFALL,
    SMALLEST,
    Expected,
    check_arrays,
    check_names,
    floats,
    is_nearly_definite,
    require,
    size_of,
    whole,
)
from evolabel.core.options import Options
from evolabel.errors import DataError
from evolabel.stages.rules.arrays import (
    NEXT_IDENTITY,
    OUTSIDE,
    RULE_ARRAYS,
    RULES,
    SEEN,
    Settings,
    rule_sizes,
    rule_switches,
)
from evolabel.stages.rules.fast_sums import FAST_ARRAYS
from evolabel.stages.rules.inverses import mirrored
from evolabel.stages.rules.loops.paper.iteration import DIVERGED_ABOVE
from evolabel.stages.rules.slots import PER_SLOT
from evolabel.typing import Arrays, FloatArray, IntArray


def _slot_table(arrays: Arrays, p: int, K: int, settings: Settings, seen: int) -> dict[str, Expected]:
    """Return what `arrays` with an entry per slot must be: `p` features, `K` labels, `settings`, `seen` samples.

    Ranges that do not follow from the arrays' meaning only keep squares from overflowing.
    """
    holds_weights = size_of(arrays, "W", 1) > 0
    sizes, switches = rule_sizes(0, p, K, settings), rule_switches(settings, hold_weights=holds_weights)
    expected = RULE_ARRAYS.expected({**sizes, "slot": size_of(arrays, "k")}, switches)
    furthest, heaviest = OUTSIDE * _furthest(settings), HEAVIEST * (seen + 1.0)
    table = {name: expected[name] for name in PER_SLOT}
    table["c"] = table["c"]._replace(low=-furthest, high=furthest)
    table |= {name: table[name]._replace(high=heaviest) for name in ("k", "compared")}
    table |= {name: table[name]._replace(high=sizes["block"] - 1) for name in ("n_pending", "fast_n_pending")}
    table |= {name: table[name]._replace(high=seen) for name in ("born", "last_won")}
    if settings.iterated:
        table["W"] = table["W"]._replace(low=-DIVERGED_ABOVE, high=DIVERGED_ABOVE)
    return table


def check_slots(arrays: Arrays, p: int, K: int, settings: Settings, seen: int, *, first: IntArray) -> None:
    """Check `arrays` with an entry per slot, for `p` features, `K` labels, `settings` and `seen` samples.

    `first` is True for the slot of the whole stream.
    """
    G, H = (arrays[name].shape[1:] for name in ("G", "H"))
    if (K, p + 1) != G or (p + 1, p + 1) != H:  # before memory is allocated by these numbers
        raise DataError(f"arrays G and H have shapes {G} and {H} per slot, expected {(K, p + 1)} and {(p + 1, p + 1)}")
    check_arrays(arrays, _slot_table(arrays, p, K, settings, seen))
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
