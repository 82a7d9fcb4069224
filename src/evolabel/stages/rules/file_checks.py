"""What the stored arrays of a rule base must be: ranges, and what must agree beyond them."""

import numpy as np

from evolabel.core.options import Options
from evolabel.core.schema import Sizes
from evolabel.core.stored_checks import (
    FINITE,
    FURTHEST,
    HEAVIEST,
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
from evolabel.engine.symmetric import mirrored
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
from evolabel.stages.rules.slots import PER_SLOT
from evolabel.typing import Arrays, FloatArray, IntArray


class RuleChecks:
    """Checks of the stored arrays of a rule base.

    Parameters
    ----------
    n_features, n_labels : int
        Widths of scaled rows and of their labels.
    settings : Settings
        Parameters of the loops.
    """

    def __init__(self, n_features: int, n_labels: int, settings: Settings) -> None:
        self.n_features = n_features
        self.n_labels = n_labels
        self.settings = settings

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the arrays with an entry per slot."""
        return PER_SLOT

    @property
    def furthest(self) -> float:
        """The largest value of a sample in the space of the antecedents."""
        return FURTHEST

    def sizes(self) -> Sizes:
        """Return the sizes of the arrays without rules."""
        return rule_sizes(0, self.n_features, self.n_labels)

    def expected(self, sizes: Sizes, *, holds_weights: bool) -> dict[str, Expected]:
        """Return what arrays of these `sizes` must be by themselves; `holds_weights`: weights are stored."""
        return RULE_ARRAYS.expected(sizes, rule_switches(self.settings, holds_weights=holds_weights))

    def table(self, arrays: Arrays, seen: int) -> dict[str, Expected]:
        """Return what `arrays` with an entry per slot must be after `seen` samples.

        Ranges that do not follow from the arrays' meaning only keep squares from overflowing.
        """
        sizes = {**self.sizes(), "slot": size_of(arrays, "k")}
        expected = self.expected(sizes, holds_weights=size_of(arrays, "W", 1) > 0)
        furthest, heaviest = OUTSIDE * self.furthest, HEAVIEST * (seen + 1.0)
        table = {name: expected[name] for name in self.names}
        table["c"] = table["c"]._replace(low=-furthest, high=furthest)
        table |= {name: table[name]._replace(high=heaviest) for name in ("k", "compared") if name in table}
        table |= {name: table[name]._replace(high=sizes["block"] - 1) for name in ("n_pending", "fast_n_pending")}
        return table | {name: table[name]._replace(high=seen) for name in ("born", "last_won")}

    def check_slots(self, arrays: Arrays, seen: int, *, first: IntArray) -> None:
        """Check `arrays` with an entry per slot after `seen` samples; `first` is True for slot 0."""
        p, K = self.n_features, self.n_labels
        G, H = (arrays[name].shape[1:] for name in ("G", "H"))
        if (K, p + 1) != G or (p + 1, p + 1) != H:  # before memory is allocated by these numbers
            shapes = f"{(K, p + 1)} and {(p + 1, p + 1)}"
            raise DataError(f"arrays G and H have shapes {G} and {H} per slot, expected {shapes}")
        check_arrays(arrays, self.table(arrays, seen))
        with np.errstate(over="ignore"):
            squares = (np.abs(arrays["c"]) + self.furthest) ** 2 * arrays["inv"]
        require(squares.sum(axis=1) < FINITE, "inv", "squared distances that are finite")
        for slot in range(len(first)):
            of_slot = {name: array[slot] for name, array in arrays.items()}
            self.check_slot(of_slot, bool(first[slot]), HEAVIEST * (seen + 1.0))

    def check_slot(self, slot: Arrays, of_all: bool, heaviest: float) -> None:
        """Check the arrays of one `slot`, slot 0 if `of_all`, whose evidence is at most `heaviest`."""
        penalty = self.settings.penalty[0 if of_all else 1]
        check_consequents(slot, penalty, heaviest)
        if self.settings.memory:
            check_consequents({name: slot[own] for name, own in FAST_ARRAYS.items()}, penalty, heaviest)

    def check_weights(self, arrays: Arrays) -> None:
        """Check that weights are stored where they must be."""
        holds_weights = size_of(arrays, "W", 1) > 0
        require(holds_weights == bool(arrays["locked"].any()), "W", "weights only where a rule is locked")

    def check(self, arrays: Arrays, options: Options) -> None:
        """Check all `arrays` of a rule base of these `options`."""
        check_names(arrays, (*self.names, "counters", "winner_stats"))
        slots = {name: arrays[name] for name in self.names}
        check_counters(arrays["counters"], size_of(slots, "k"), options)
        check_arrays({"winner_stats": arrays["winner_stats"]}, {"winner_stats": floats(3, low=0.0, high=FINITE)})
        require(arrays["winner_stats"][1] <= 1.0 / SMALLEST, "winner_stats", "a mean distance whose square is finite")
        first = np.arange(len(arrays["k"])) == 0
        self.check_slots(slots, int(arrays["counters"][SEEN]), first=first)
        check_identities(arrays["identity"][1:], arrays["counters"])
        require(len(first) == 1 or arrays["k"][1:].any(), "k", "a rule that has won samples")
        require(arrays["locked"][0] == 0, "locked", "0 for the whole stream")
        self.check_weights(arrays)


def check_consequents(slot: Arrays, penalty: FloatArray, heaviest: float) -> None:
    """H, G and P of one slot: positive definite, as far as rounding lets them, and sums of labels between 0 and 1."""
    waiting = slot["n_pending"]
    H = whole_hessian(slot)
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


def whole_hessian(slot: Arrays) -> FloatArray:
    """Return H of one `slot` as a full symmetric matrix, pending rows included."""
    return mirrored(slot["H"]) + _outer(slot["pending_H"][: slot["n_pending"]])


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


def check_settings(settings: Settings) -> None:
    """Raise DataError if numbers of `settings` over- or underflow."""
    numbers = {"penalty": settings.penalty, "metric": settings.metric, "tau": np.array([settings.tau])}
    numbers["prior_count"] = np.array([settings.prior_count])
    for name, values in numbers.items():
        if not ((values >= SMALLEST) & (values <= 1.0 / SMALLEST)).all():
            raise DataError(f"the options lead to a {name} of {values}, expected {SMALLEST:g} to {1.0 / SMALLEST:g}")
