"""The arrays a rule base consists of, and the settings its loops read.

Slot 0 is the whole stream (the global model), slots 1..C are the rules; R is the capacity, p the number of features,
q = p + 1 the length of a regressor r = (z, 1), K the number of labels, B the length of a block. The antecedents have
d dimensions, one per feature. Arrays that are not needed have no elements. In the paper's symbols R'QR and R'QY the
rows of R are the regressors, and the diagonal of Q has their psi.

"exact" arrays do not follow from other arrays; those of them that are sums, means or scatters are pooled without loss
when rules are merged. "derived" arrays follow from exact ones. "policy" arrays are only used to decide when a step is
due. A "bound" may be too large until it is computed again.
"""

from typing import Annotated, Any, NamedTuple, get_type_hints

import numpy as np

from evolabel.core.schema import Schema, array, stream_sizes
from evolabel.core.stored_checks import FINITE
from evolabel.engine.packed_state import declare
from evolabel.typing import FloatArray, IntArray

# Index of `counters`.
RULES, SEEN, NEXT_IDENTITY = 0, 1, 2

# Sums of labels are at most so many times what labels of 0 and 1 can add up to: labels that are not annotated count by
# the output for them, which may lie outside [0, 1].
OUTSIDE = 1e4
FIRST_CAPACITY = 32  # rules that the first arrays have slots for

BLOCKS = 2  # in the memory of the sums that fade

# Reasons of `learn_rows` to stop: all rows are done; the next row is novel; a rule is inactive; a slot is due for
# upkeep (P is derived again); a label has drifted, or the members have to change. Other loops have reasons of their
# own, from `N_REASONS` on.
DONE, NOVEL, INACTIVE, DUE, CHANGED = 0, 1, 2, 3, 4
N_REASONS = 5


class RuleArrays(NamedTuple):
    """State of a rule base."""

    c: Annotated[FloatArray, array("slot", "dimension")]
    """Centre c_i: weighted mean of the samples the rule has won."""
    M: Annotated[FloatArray, array("slot", "dimension", low=0.0)]
    """Scatter: weighted sum of squared deviations from the centre."""
    n: Annotated[FloatArray, array("slot", "dimension", low=0.0)]
    """Weight of the samples in which the feature was observed."""
    k: Annotated[FloatArray, array("slot", low=0.0)]
    """Support k_i: weight of the samples the rule has won."""
    inv: Annotated[FloatArray, array("slot", "dimension", high=FINITE, positive=True, kind="derived")]
    """1 / Sigma_jj: inverse variance with its prior, times the dimension's weight."""
    H: Annotated[FloatArray, array("slot", "regressor", "regressor")]
    """R'QR: sum of psi r r', lower triangle, without `pending_H`."""
    G: Annotated[FloatArray, array("slot", "label", "regressor")]
    """(R'QY)': sum of psi y r', one row per label."""
    P: Annotated[FloatArray, array("slot", "regressor", "regressor", low=-FINITE, high=FINITE, kind="derived")]
    """P_i = (H + penalty)^-1, lower triangle, without `pending_P`."""
    pending_H: Annotated[FloatArray, array("slot", "block", "regressor")]
    """Rows h = sqrt(psi) r whose h h' is not yet added to H."""
    pending_P: Annotated[FloatArray, array("slot", "block", "regressor", kind="derived")]
    """Rows h = sqrt(psi / (1 + psi r'Pr)) P r, not yet taken off P."""
    n_pending: Annotated[IntArray, array("slot")]
    """Number of rows in `pending_H` and `pending_P`."""
    age: Annotated[IntArray, array("slot", kind="policy")]
    """Samples learned since P was last derived from H."""
    W: Annotated[FloatArray, array("slot", "label", "regressor", when="weights")]
    """Consequents W_i', one row per label; where a rule is locked."""
    identity: Annotated[IntArray, array("slot")]
    """Number of the rule; slots are used again, numbers are not."""
    born: Annotated[IntArray, array("slot")]
    """Sample at which the rule was created."""
    last_won: Annotated[IntArray, array("slot")]
    """Last sample the rule has won."""
    locked: Annotated[IntArray, array("slot", high=1)]
    """1: a person has locked the rule, it learns nothing; else 0."""
    fast_H: Annotated[FloatArray, array("slot", "regressor", "regressor", when="follows")]
    """As H, in sums of the fast member (`stages.drift`), in which old rows fade."""
    fast_G: Annotated[FloatArray, array("slot", "label", "regressor", when="follows")]
    """As G."""
    fast_P: Annotated[
        FloatArray, array("slot", "regressor", "regressor", low=-FINITE, high=FINITE, when="follows", kind="derived")
    ]
    """As P."""
    fast_pending_H: Annotated[FloatArray, array("slot", "block", "regressor", when="follows")]
    """As pending_H."""
    fast_pending_P: Annotated[FloatArray, array("slot", "block", "regressor", when="follows", kind="derived")]
    """As pending_P."""
    fast_n_pending: Annotated[IntArray, array("slot")]
    """As n_pending."""
    fast_block: Annotated[IntArray, array("slot")]
    """Block of the stream up to which these sums have faded."""
    counters: Annotated[IntArray, array(3)]
    """C, N: rules, samples seen, identity of the next rule."""
    winner_stats: Annotated[FloatArray, array(3, low=0.0, high=FINITE)]
    """Count, mean and variance of recent winner distances."""


RULE_ARRAYS = Schema(RuleArrays)


class Settings(NamedTuple):
    """Parameters that loops read.

    `penalty` has one row for the global model (lambda D) and one for the rules (gamma D), which are shrunk towards the
    global model; D is diagonal: 1 for features, `intercept_ridge` for the intercept. `metric` has one row with the
    prior variance of each dimension and one with its weight in squared distances (lambda_j, 1 on average over the
    features); the prior counts as `prior_count` samples.

    `tau` is the temperature per feature, T / p; `radius` bounds the mean squared distance of a rule base that is not
    full, and `novel_z` that of a full one; a slot learns `upkeep_every` samples between two derivations of P;
    `prune_after` 0: never; `min_activation`, `max_rules` and `min_support` are the options of these names. `memory` is
    the number of stream rows that the fast member remembers, 0 where drift is not followed; `most_count` bounds the
    samples by which a centre is held in its place.
    """

    penalty: FloatArray
    metric: FloatArray
    prior_count: float
    tau: float
    min_activation: float
    max_rules: int
    radius: float
    novel_z: float
    upkeep_every: int
    prune_after: int
    min_support: float
    memory: int
    most_count: float

    @property
    def prior(self) -> FloatArray:
        """Prior variance of each dimension."""
        return np.asarray(self.metric[0])

    @property
    def importance(self) -> FloatArray:
        """Weight of each dimension in squared distances."""
        return np.asarray(self.metric[1])


class Workspace(NamedTuple):
    """Scratch arrays of the learning loop, kept between calls: allocating them takes longer than learning a row.

    `D` are distances by slot; `psi` and `active` memberships and slots of the active rules; `r`, `u` and `own` the
    regressors of the active slots, P r and the slots' own outputs, the global model's last (`loops.consequents`);
    `confidence` has one entry per label of the row, and so has `expected`: the errors of labels without an answer that
    are expected (`stages.drift.relatives`). `v` and `t` have no fixed meaning.
    """

    D: FloatArray
    psi: FloatArray
    active: IntArray
    r: FloatArray
    u: FloatArray
    own: FloatArray
    v: FloatArray
    t: FloatArray
    confidence: FloatArray
    expected: FloatArray


class State(NamedTuple):
    """The first argument of most loops: the state of a rule base, its settings and scratch arrays."""

    rules: RuleArrays
    settings: Settings
    work: Workspace


def workspace(slots: int, n_features: int, n_labels: int) -> Workspace:
    """Return scratch arrays for `slots`, `n_features` and `n_labels`."""
    q = n_features + 1
    return Workspace(
        D=np.empty(slots),
        psi=np.empty(slots),
        active=np.empty(slots, np.int64),
        r=np.empty((slots, q)),
        u=np.empty((slots, q)),
        own=np.empty((slots, n_labels)),
        v=np.empty(q),
        t=np.empty(q),
        confidence=np.empty(n_labels),
        expected=np.zeros(n_labels),
    )


def block_length(q: int) -> int:
    """Return the number of pending rows in a block, for regressors of length `q`; they are applied eight at a time."""
    return 8 if q < 128 else 16


def rule_sizes(rules: int, n_features: int, n_labels: int) -> dict[str, int]:
    """Return the sizes of the arrays for `rules` rules, `n_features` and `n_labels`."""
    block = block_length(n_features + 1)
    return stream_sizes(n_features, n_labels, slot=rules + 1, dimension=n_features, block=block)


def rule_switches(settings: Settings, *, holds_weights: bool = False) -> set[str]:
    """Return which arrays `settings` need; `holds_weights`: weights are stored, as those of locked rules are."""
    needed = {"weights": holds_weights, "follows": settings.memory > 0}
    return {name for name, is_on in needed.items() if is_on}


def allocate(
    rules: int, n_features: int, n_labels: int, settings: Settings, *, holds_weights: bool = False
) -> RuleArrays:
    """Return zeroed arrays for `rules` rules, `n_features` and `n_labels`; those not needed have no elements.

    `settings` and `holds_weights` are those of `rule_switches`.
    """
    switches = rule_switches(settings, holds_weights=holds_weights)
    return RULE_ARRAYS.allocate(rule_sizes(rules, n_features, n_labels), switches)


def example_settings() -> Settings:
    """Return settings for one feature, all numbers 0, of which only the types matter."""
    kinds = {name: kind for name, kind in get_type_hints(Settings).items() if kind in (float, int)}
    numbers: dict[str, Any] = {name: kind() for name, kind in kinds.items()}
    return Settings(penalty=np.zeros((2, 2)), metric=np.zeros((2, 1)), **numbers)


def _declare_all() -> None:
    """Declare the tuples above to `engine.packed_state`, with the arrays of the smallest rule base as examples."""
    settings = example_settings()
    state = State(allocate(1, 1, 1, settings), settings, workspace(2, 1, 1))
    fast = tuple(name for name in RuleArrays._fields if name.startswith("fast_"))  # loops take them as RuleArrays
    declare(RuleArrays, state.rules, left_out=fast)
    declare(Settings, settings)
    declare(Workspace, state.work)
    declare(State, state)


_declare_all()
