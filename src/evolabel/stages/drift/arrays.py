"""The arrays of the members that answer beside the rules, of their mixer and of the alarms.

Three members answer every row: the slow one, whose sums H, G of the rules only grow; the fast one, whose sums of the
same rules fade (`fast_H` ... of `stages.rules.arrays`); and the linear one, logistic regression on standard scores.
q = p + 1 is the length of the scores s = ((x - mean) / deviation, 1), K the number of labels.

`MemberArrays` explains what is stored; what one row needs is in `Members`:

| array    | shape      | symbol | meaning                                                            |
|----------|------------|--------|--------------------------------------------------------------------|
| F        | (4, K)     | f_m    | outputs of the present row: of each member, and of the mixture     |
| w        | (3, K)     | w_m    | weights of the members in it                                       |
| s        | (q,)       | s      | scores of the present row                                          |
| happened | (K,)       |        | what the present row has shown of each label, else 0               |
| other    | (K,)       |        | outputs of the slow member by the other view of a sensor           |
| due      | (3,)       |        | what is to be done with the members; see the indices below         |
| A, L, V  | (q, q)     |        | of an inverse; `column` is (q,)                                    |
| root     | (K, K)     |        | Cholesky factor of the `relatives` that have answers               |
| answered | (K,)       |        | labels that have answers                                           |
"""

from typing import Annotated, NamedTuple

import numpy as np

from evolabel.core.pace import PERSISTENCE
from evolabel.core.schema import Schema, Sizes, array, stream_sizes
from evolabel.core.stored_checks import HEAVIEST, MOST, MOST_SQUARED
from evolabel.engine.packed_state import declare
from evolabel.stages.rules.arrays import State, allocate, example_settings, workspace
from evolabel.stages.scaling.loops import Knots
from evolabel.stages.sensors.arrays import SensorState, allocate_sensors, sensor_state
from evolabel.typing import FloatArray, IntArray

SLOW, FAST, LINEAR, FINAL = 0, 1, 2, 3  # the members and their mixture, as in F
N_MEMBERS = 3
N_ALARM = 10  # numbers of one alarm (`stages.drift.loops.alarm`)
N_POSITIVES = 9  # numbers of one alarm on positives (`stages.drift.loops.alarm`)

# Index of `clock`: rows of the stream so far; time at which the fast member began, was last cut, and at which the slow
# one was last renewed (or the fast one began); time from which on the slow member remembers the stream.
ROWS, BORN, CUT, RENEWED, SLOW_START = 0, 1, 2, 3, 4
NEVER = -1

# Index of `time`: rows of the stream minus the time that has passed with them (`core.pace`); time that passes
# with a row, and independent answers that it counts for, by the last answered row.
LAG, ROW_PACE, ROW_INDEPENDENT = 0, 1, 2

# Index of `paired`: rows that were compared; mean and variance of the slow loss minus the fast loss; independent
# answers among these rows.
ROWS_COMPARED, MEAN_GAIN, GAIN_VARIANCE, COMPARED_INDEPENDENT = 0, 1, 2, 3

N_REVERSED = 2  # members that can be reversed, fast and linear: the first rows of `reversal`

CUT_DUE, RENEWAL_DUE, REVERSAL_DUE = 0, 1, 2  # index of `due`: cut fast, renew slow, reverse fast or linear member
CALM, DRIFT, RECOVERED, SETTLED, LOST = 0, 1, 2, 3, 4  # of `happened`; lost: a drift, shown by the positives

SCORE_MEMORY = 2000.0  # rows over which the linear member standardises features
LOSS_MEMORY = 200.0  # answers over which losses are averaged
SHARE_MEMORY = 1000.0  # answers over which the share of a label is averaged
MOST_REVERSAL = 1e12  # odds, so that their product stays finite
START_LOSS = 0.25  # of an output of 0.5, before there is an answer

_FIRST_CLOCK = np.array([0, NEVER, NEVER, NEVER, 0])
_FIRST_TIME = np.array([0.0, 1.0, 1.0])


def _unrelated(sizes: Sizes) -> FloatArray:
    """Return the covariances of labels, of these `sizes`, whose errors show nothing of each other."""
    return START_LOSS * np.eye(sizes["label"])


class MemberArrays(NamedTuple):
    """What the members have learned beside the sums of the rules: losses, clocks, alarms, the linear member."""

    clock: Annotated[IntArray, array(5, start=_FIRST_CLOCK, low=-MOST)]
    """Rows and times of the stream; see the indices above."""
    time: Annotated[FloatArray, array(3, start=_FIRST_TIME, low=0.0, high=float(MOST))]
    """By how much time is behind the rows; see the indices above."""
    persistence: Annotated[FloatArray, PERSISTENCE]
    """Changes between neighbouring answers of each label, and those expected at random."""
    W: Annotated[FloatArray, array("label", "regressor")]
    """Weights of the linear member."""
    mean: Annotated[FloatArray, array("feature")]
    """Running mean of each raw feature."""
    variance: Annotated[FloatArray, array("feature", low=0.0, high=MOST_SQUARED)]
    """Running variance of it."""
    n_read: Annotated[FloatArray, array("feature", low=0.0, high=HEAVIEST)]
    """Weight of the rows in both, at most `SCORE_MEMORY` or that of one."""
    losses: Annotated[FloatArray, array(N_MEMBERS, "label", start=START_LOSS, low=0.0, high=1.0)]
    """Fading mean of each member's squared error."""
    n_losses: Annotated[FloatArray, array("label", low=0.0, high=HEAVIEST)]
    """Weight of the answers in it, at most `LOSS_MEMORY` or that of one."""
    share: Annotated[FloatArray, array(2, "label", low=0.0, high=SHARE_MEMORY)]
    """Share of positive answers; weight of the answers in it."""
    alarms: Annotated[FloatArray, array(2, "label", N_ALARM, low=0.0, high=float(MOST))]
    """Alarms of the slow member and of the mixture."""
    positives: Annotated[FloatArray, array("label", N_POSITIVES, low=0.0, high=float(MOST))]
    """Alarm of the mixture on the rows that are positive or were predicted to be."""
    episode: Annotated[IntArray, array("label", start=NEVER, low=NEVER)]
    """Row at which the label has drifted; `NEVER`: it is calm."""
    held: Annotated[IntArray, array("label", high=LOST)]
    """Drift or lost positives that are no event yet, because a sensor may be the cause; 0: nothing."""
    depth: Annotated[FloatArray, array(2, "label", low=0.0, high=1.0)]
    """Calm error of the label, and its error when the alarm was raised."""
    reversal: Annotated[FloatArray, array(4, "label", low=0.0, high=MOST_REVERSAL)]
    """Odds that the label is the opposite of what the fast and the linear member answer; 1 for each of them that was
    reversed in its drift."""
    relatives: Annotated[FloatArray, array("label", "label", start=_unrelated, when="asked", low=-1.0, high=2.0)]
    """Covariances of the errors of labels (`stages.drift.relatives`); none where no one is asked for single labels."""
    paired: Annotated[FloatArray, array(4)]
    """Comparison of the slow and the fast member; see the indices above."""


MEMBER_ARRAYS = Schema(MemberArrays)


class Members(NamedTuple):
    """State of the members, scratch arrays, the state of the fast member, and numbers that follow from the sizes.

    `fast` is the state of the rule base with `fast_H` ... in the places of H, G and P; its regressors and memberships
    are those of the rule base. `knots` is the scaling of the features, `sensors` what is read of them.
    `margin` is added to the standard errors at which an alarm is raised. `one_weight`: all labels are mixed by the same
    weights.
    """

    arrays: MemberArrays
    F: FloatArray
    w: FloatArray
    s: FloatArray
    happened: IntArray
    other: FloatArray
    due: IntArray
    A: FloatArray
    L: FloatArray
    V: FloatArray
    column: FloatArray
    root: FloatArray
    answered: IntArray
    fast: State
    fast_block: IntArray
    knots: Knots
    sensors: SensorState
    margin: float
    one_weight: bool


def allocate_members(n_features: int, n_labels: int) -> MemberArrays:
    """Return the state of members that have learned nothing, for `n_features` and `n_labels`."""
    return MEMBER_ARRAYS.allocate(stream_sizes(n_features, n_labels))


def with_scratch(
    arrays: MemberArrays,
    fast: State,
    fast_block: IntArray,
    knots: Knots,
    sensors: SensorState,
    *,
    exclusive: bool = False,
) -> Members:
    """Return `arrays` with scratch arrays, the `fast` member, the scaling and the `sensors`, as loops take them.

    `exclusive`: the labels are classes. Three or more of them are mixed by the same weights: were they mixed one by
    one, sharp and flat outputs would spoil the choice of the largest.
    """
    K, q = arrays.W.shape
    return Members(
        arrays,
        F=np.zeros((N_MEMBERS + 1, K)),
        w=np.zeros((N_MEMBERS, K)),
        s=np.ones(q),
        happened=np.zeros(K, np.int64),
        other=np.zeros(K),
        due=np.zeros(3, np.int64),
        A=np.empty((q, q)),
        L=np.empty((q, q)),
        V=np.empty((q, q)),
        column=np.empty(q),
        root=np.zeros(arrays.relatives.shape),
        answered=np.zeros(K, np.int64),
        fast=fast,
        fast_block=fast_block,
        knots=knots,
        sensors=sensors,
        margin=float(np.sqrt(2.0 * np.log(K + 1.0))),
        one_weight=exclusive and K > 2,
    )


def _declare() -> None:
    """Declare both tuples to `engine.packed_state`, with the arrays of the smallest rule base as an example."""
    settings = example_settings()
    state = State(allocate(1, 1, 1, settings), settings, workspace(2, 1, 1))
    number, whole = np.zeros(1), np.zeros(1, np.int64)
    knots = Knots(number[None], number[None], whole, whole, number, 0.0, 0.0)
    sensors = sensor_state(allocate_sensors(1))
    members = with_scratch(allocate_members(1, 1), state, np.zeros(2, np.int64), knots, sensors)
    declare(MemberArrays, members.arrays)
    declare(Members, members)


_declare()
