"""State of the last answers. Ages are 1 to `OLDEST` rows, in `N_AGES` groups: 1, 2, and 3 or 4.

The row numbered t is kept in the place t modulo `OLDEST`, so that its age in row u is u - t. `v` is an answer, 0 or 1.
"""

from typing import Annotated, NamedTuple

import numpy as np

from evolabel.core.schema import Schema, array, stream_sizes
from evolabel.core.stored_checks import HEAVIEST, MOST, MOST_SQUARED
from evolabel.engine.packed_state import declare
from evolabel.stages.drift.arrays import LOSS_MEMORY
from evolabel.typing import FloatArray, IntArray

OLDEST = 4  # rows: older answers are not used
N_AGES = 3
N_RESIDUALS = 3  # d and its fading means E5 and E20
NOT_KEPT = -OLDEST  # of `at`: no row has this number

COUNT, POSITIVES = 0, 1  # of counts
ANSWERS_KEPT = 1000.0  # over which counts fade

PLAIN, BY_EVIDENCE, BY_COUNTS = 0, 1, 2  # the candidates of an answer
N_CANDIDATES = 3
_FIRST_LOSS = 0.1


class LastAnswerArrays(NamedTuple):
    """The quick member, the evidence of the last answers, and the losses that mix them."""

    row: Annotated[IntArray, array(1)]
    """Number of the last row of the stream."""
    W: Annotated[FloatArray, array("label", "regressor")]
    """Weights of the quick member."""
    mean: Annotated[FloatArray, array("feature")]
    """Running mean of each raw feature."""
    variance: Annotated[FloatArray, array("feature", low=0.0, high=MOST_SQUARED)]
    """Running variance of it."""
    n_read: Annotated[FloatArray, array("feature", low=0.0, high=HEAVIEST)]
    """Weight of the rows in both."""
    quick_losses: Annotated[FloatArray, array(2, "label", start=_FIRST_LOSS, low=0.0, high=1.0)]
    """Fading mean of the squared errors of the outputs, and of the quick member."""
    n_losses: Annotated[FloatArray, array("label", low=0.0, high=LOSS_MEMORY)]
    """Weight of the answers in it."""
    at: Annotated[IntArray, array("label", OLDEST, start=NOT_KEPT, low=NOT_KEPT)]
    """Rows of the answers that are kept; `NOT_KEPT`: none."""
    answers: Annotated[FloatArray, array("label", OLDEST, low=0.0, high=1.0)]
    """These answers."""
    residuals: Annotated[FloatArray, array("label", OLDEST, N_RESIDUALS, low=-1.0, high=1.0)]
    """d, E5 and E20 right after them: the answer less the output, and fading means of that."""
    evidence: Annotated[FloatArray, array("label", N_AGES, 2)]
    """What an answer v adds to the log-odds of its label."""
    shared_evidence: Annotated[FloatArray, array(N_AGES, 2)]
    """What it adds to those of every label."""
    slopes: Annotated[FloatArray, array("label", N_AGES, N_RESIDUALS)]
    """What the residuals add to the log-odds, by their sizes."""
    counts: Annotated[FloatArray, array("label", N_AGES, 2, 2, low=0.0, high=ANSWERS_KEPT)]
    """Fading counts of the answers after v, and of those of them that were 1."""
    shared_counts: Annotated[FloatArray, array(N_AGES, 2, 2, low=0.0, high=float(MOST))]
    """The same of all labels together."""
    losses: Annotated[FloatArray, array(N_AGES, N_CANDIDATES, "label", start=_FIRST_LOSS, low=0.0, high=1.0)]
    """Fading mean of the squared errors of each candidate."""
    n_evidence: Annotated[FloatArray, array(N_AGES, "label", low=0.0, high=LOSS_MEMORY)]
    """Weight of the answers in it."""


LAST_ANSWER_ARRAYS = Schema(LastAnswerArrays)


class LastAnswerState(NamedTuple):
    """The state, arrays that loops write before they read them, and whether classes are mixed by the same weights.

    `s` has the scores of a row, `quick` the outputs of the quick member, `w` the weights of both, `f` their mixture,
    `of_age` the weights of the candidates at each age, `steps` the sums of errors that change `shared_evidence`.
    """

    arrays: LastAnswerArrays
    s: FloatArray
    quick: FloatArray
    w: FloatArray
    f: FloatArray
    of_age: FloatArray
    steps: FloatArray
    is_exclusive: bool
    one_weight: bool


def allocate_last_answers(n_features: int, n_labels: int) -> LastAnswerArrays:
    """Return the state for `n_features` and `n_labels` that has learned nothing."""
    return LAST_ANSWER_ARRAYS.allocate(stream_sizes(n_features, n_labels))


def with_scratch_labels(arrays: LastAnswerArrays, *, exclusive: bool) -> LastAnswerState:
    """Return `arrays` with scratch arrays; `exclusive`: the labels are classes, three or more with the same weights."""
    K, q = arrays.W.shape
    return LastAnswerState(
        arrays,
        s=np.ones(q),
        quick=np.zeros(K),
        w=np.zeros((2, K)),
        f=np.zeros(K),
        of_age=np.zeros((N_AGES, N_CANDIDATES, K)),
        steps=np.zeros((N_AGES, 2)),
        is_exclusive=exclusive,
        one_weight=exclusive and K > 2,
    )


def _declare() -> None:
    """Declare the tuples of this module to `engine.packed_state`, with the smallest arrays as an example."""
    example = with_scratch_labels(allocate_last_answers(1, 1), exclusive=False)
    declare(LastAnswerArrays, example.arrays)
    declare(LastAnswerState, example)


_declare()
