"""What the stored arrays of the last answers must be beyond their ranges."""

import numpy as np

from evolabel.core.array_checks import check_arrays, require
from evolabel.core.schema import stream_sizes
from evolabel.stages.last_answers.arrays import COUNT, LAST_ANSWER_ARRAYS, NOT_KEPT, OLDEST, POSITIVES
from evolabel.typing import Arrays


def check_last_answers(arrays: Arrays, n_features: int, n_labels: int) -> None:
    """Check the `arrays` of the last answers to `n_labels` in rows of `n_features`."""
    check_arrays(arrays, LAST_ANSWER_ARRAYS.expected(stream_sizes(n_features, n_labels)))
    at = arrays["at"]
    require(at <= arrays["row"][0], "at", "rows of the past")
    require((at == NOT_KEPT) | (at % OLDEST == np.arange(OLDEST)), "at", "each row in its place")
    require(np.isin(arrays["answers"], (0.0, 1.0)), "answers", "0 or 1")
    for name in ("counts", "shared_counts"):
        counts = arrays[name]
        require(counts[..., POSITIVES] <= counts[..., COUNT], name, "no more positives than answers")
