"""The arrays of the members that answer beside the rules, of their mixer and of the alarms.

Three members answer every row: the slow one, whose sums H, G of the rules only grow; the fast one, whose sums of the
same rules fade (`fast_H` ... of `stages.rules.arrays`); and the linear one, logistic regression on standard scores.
q = p + 1 is the length of the scores s = ((x - mean) / deviation, 1), K the number of labels.

| array    | shape      | symbol | kind    | meaning                                                            |
|----------|------------|--------|---------|--------------------------------------------------------------------|
| clock    | (5,)       |        | exact   | rows of the stream; see the indices below                          |
| W        | (K, q)     | W      | exact   | weights of the linear member                                       |
| mean     | (p,)       |        | exact   | running mean of each raw feature                                   |
| variance | (p,)       |        | exact   | running variance of each raw feature                               |
| n_read   | (p,)       |        | exact   | weight of the rows in both, at most `SCORE_MEMORY` or that of one row |
| losses   | (3, K)     | L_m    | exact   | fading mean of each member's squared error                         |
| n_losses | (K,)       |        | exact   | weight of the answers in it, at most `LOSS_MEMORY` or that of one |
| share    | (2, K)     | pi     | exact   | share of positive answers; weight of the answers in it             |
| alarms   | (2, K, 10) |        | exact   | alarms of the slow member and of the mixture (`stages.drift.loops.alarm`) |
| episode  | (K,)       |        | exact   | row at which the label has drifted; `NEVER`: it is calm            |
| depth    | (2, K)     |        | exact   | calm error of the label, and its error when the alarm was raised   |
| reversal | (4, K)     |        | exact   | odds that the label is the opposite of what the fast and the linear |
|          |            |        |         | member answer; 1 for each of them that was reversed in its drift   |
| paired   | (3,)       |        | exact   | rows, mean and variance of the slow loss minus the fast loss       |
| views, readings, phase, trial | |  | exact   | of the features that are watched (`stages.sensors.loops.watch`)       |
| F        | (4, K)     | f_m    | scratch | outputs of the present row: of each member, and of the mixture     |
| w        | (3, K)     | w_m    | scratch | weights of the members in it                                       |
| s        | (q,)       | s      | scratch | scores of the present row                                          |
| happened | (K,)       |        | scratch | what the present row has shown of each label, else 0               |
| other    | (K,)       |        | scratch | outputs of the slow member by the other view of a sensor           |
| x        | (p,)       |        | scratch | raw features of the present row, corrected                         |
| verdict  | (p,)       |        | scratch | what a trial has shown of each feature, else 0                     |
| moved    | (6, p)     |        | scratch | its mean before and after, the difference in deviations; its       |
|          |            |        |         | variance before, and the offset and factor of its readings before  |
| due      | (3,)       |        | scratch | what is to be done with the members; see the indices below         |
| A, L, V  | (q, q)     |        | scratch | of an inverse; `column` is (q,)                                    |
"""

from typing import NamedTuple

import numpy as np

from evolabel.engine.packed_state import declare
from evolabel.stages.rules.arrays import Settings, State, allocate, workspace
from evolabel.stages.scaling.loops.scale import Knots
from evolabel.typing import FloatArray, IntArray

SLOW, FAST, LINEAR, FINAL = 0, 1, 2, 3  # the members and their mixture, as in F
N_MEMBERS = 3
N_ALARM = 10  # numbers of one alarm (`stages.drift.loops.alarm`)

# Index of `clock`: rows of the stream so far; row at which the fast member began, was last cut, and at which the slow
# one was last renewed (or the fast one began); row from which on the slow member remembers the stream.
ROWS, BORN, CUT, RENEWED, SLOW_START = 0, 1, 2, 3, 4
NEVER = -1

N_REVERSED = 2  # members that can be reversed, fast and linear: the first rows of `reversal`

CUT_DUE, RENEWAL_DUE, REVERSAL_DUE = 0, 1, 2  # index of `due`: cut fast, renew slow, reverse fast or linear member
CALM, DRIFT, RECOVERED, SETTLED = 0, 1, 2, 3  # of `happened`
NO_VERDICT, SENSOR_MOVED, INPUTS_MOVED = 0, 1, 2  # of `verdict`

# Rows of `views` and `readings`, values of `phase`, and index of `trial` (`stages.sensors.loops.watch`).
OFFSET, FACTOR, NEW_OFFSET, NEW_FACTOR = 0, 1, 2, 3
SCORE_MEAN, SCORE_VARIANCE, USUAL_MEAN, USUAL_VARIANCE = 0, 1, 2, 3
READ_MEAN, READ_VARIANCE, CALM_ROWS, NEW_ROWS, NEW_MEAN, NEW_SCATTER, CORRECTED_AT = 4, 5, 6, 7, 8, 9, 10
LOWEST_MEAN, HIGHEST_MEAN, LEAST_VARIANCE, MOST_VARIANCE, SINCE_SUSPECT = 11, 12, 13, 14, 15
N_READINGS = 19
WATCHED, COLLECTING, ON_TRIAL, UNWATCHED = 0, 1, 2, 3
IS_ON, STARTED, LOSS_AS_READ, LOSS_MOVED, ANSWERS = 0, 1, 2, 3, 4
N_TRIAL = 5

SCORE_MEMORY = 2000.0  # rows over which the linear member standardises features
LOSS_MEMORY = 200.0  # answers over which losses are averaged
START_LOSS = 0.25  # of an output of 0.5, before there is an answer


class MemberArrays(NamedTuple):
    """State of the members as plain arrays; see the table on top of this module."""

    clock: IntArray
    W: FloatArray
    mean: FloatArray
    variance: FloatArray
    n_read: FloatArray
    losses: FloatArray
    n_losses: FloatArray
    share: FloatArray
    alarms: FloatArray
    episode: IntArray
    depth: FloatArray
    reversal: FloatArray
    paired: FloatArray
    views: FloatArray
    readings: FloatArray
    phase: IntArray
    trial: FloatArray


class Members(NamedTuple):
    """`MemberArrays`, then scratch arrays, the state of the fast member, and numbers that follow from the sizes.

    `fast` is the state of the rule base with `fast_H` ... in the places of H, G and P; its regressors and memberships
    are those of the rule base. `knots` is the scaling of the features. `margin` is added to the standard errors at
    which an alarm is raised.
    """

    clock: IntArray
    W: FloatArray
    mean: FloatArray
    variance: FloatArray
    n_read: FloatArray
    losses: FloatArray
    n_losses: FloatArray
    share: FloatArray
    alarms: FloatArray
    episode: IntArray
    depth: FloatArray
    reversal: FloatArray
    paired: FloatArray
    views: FloatArray
    readings: FloatArray
    phase: IntArray
    trial: FloatArray
    F: FloatArray
    w: FloatArray
    s: FloatArray
    happened: IntArray
    other: FloatArray
    x: FloatArray
    verdict: IntArray
    moved: FloatArray
    due: IntArray
    A: FloatArray
    L: FloatArray
    V: FloatArray
    column: FloatArray
    fast: State
    fast_block: IntArray
    knots: Knots
    margin: float


def allocate_members(n_features: int, n_labels: int) -> MemberArrays:
    """Return the state of members that have learned nothing, for `n_features` and `n_labels`."""
    p, K = n_features, n_labels
    clock = np.zeros(5, np.int64)
    clock[[BORN, CUT, RENEWED]] = NEVER
    views, readings = np.zeros((4, p)), np.zeros((N_READINGS, p))
    views[[FACTOR, NEW_FACTOR]] = 1.0
    readings[[SCORE_VARIANCE, USUAL_VARIANCE, LEAST_VARIANCE, MOST_VARIANCE]] = 1.0
    return MemberArrays(
        clock=clock,
        W=np.zeros((K, p + 1)),
        mean=np.zeros(p),
        variance=np.zeros(p),
        n_read=np.zeros(p),
        losses=np.full((N_MEMBERS, K), START_LOSS),
        n_losses=np.zeros(K),
        share=np.zeros((2, K)),
        alarms=np.zeros((2, K, N_ALARM)),
        episode=np.full(K, NEVER, np.int64),
        depth=np.zeros((2, K)),
        reversal=np.zeros((4, K)),
        paired=np.zeros(3),
        views=views,
        readings=readings,
        phase=np.zeros(p, np.int64),
        trial=np.zeros(N_TRIAL),
    )


def with_scratch(arrays: MemberArrays, fast: State, fast_block: IntArray, knots: Knots) -> Members:
    """Return `arrays` with scratch arrays, the state of the `fast` member and the scaling, as kernels take them."""
    K, q = arrays.W.shape
    return Members(
        *arrays,
        F=np.zeros((N_MEMBERS + 1, K)),
        w=np.zeros((N_MEMBERS, K)),
        s=np.ones(q),
        happened=np.zeros(K, np.int64),
        other=np.zeros(K),
        x=np.zeros(q - 1),
        verdict=np.zeros(q - 1, np.int64),
        moved=np.zeros((6, q - 1)),
        due=np.zeros(3, np.int64),
        A=np.empty((q, q)),
        L=np.empty((q, q)),
        V=np.empty((q, q)),
        column=np.empty(q),
        fast=fast,
        fast_block=fast_block,
        knots=knots,
        margin=float(np.sqrt(2.0 * np.log(K + 1.0))),
    )


def _declare() -> None:
    """Declare `Members` to `engine.packed_state`, with the arrays of the smallest rule base as an example."""
    example: dict[str, object] = dict.fromkeys(Settings._fields, 0)
    example |= {"penalty": np.zeros((2, 2)), "anchor": np.zeros(2), "metric": np.zeros((2, 1))}
    settings = Settings(**example)  # type: ignore[arg-type]
    state = State(allocate(1, 1, 1, settings), settings, workspace(2, 1, 1, 1, False))
    number, whole = np.zeros(1), np.zeros(1, np.int64)
    knots = Knots(number[None], number[None], whole, whole, number, 0.0, 0.0)
    declare(Members, with_scratch(allocate_members(1, 1), state, np.zeros(2, np.int64), knots))


_declare()
