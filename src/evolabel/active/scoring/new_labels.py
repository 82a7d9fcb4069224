"""`NewLabelExploration`: labels with few answers count as ambiguous, whatever the model predicts."""

import numpy as np

from evolabel.core.array_checks import check_arrays, floats, require, size_of, whole
from evolabel.stages.protocols import Model
from evolabel.typing import AnyArray, Arrays, BoolArray, FloatArray, IntArray

# Three drifting streams whose labels appear one by one (seeds 10-12), labels-based at 10 %, share of the gap, PA / AP:
# .31 / .49 with 100, .22 / .28 with 30, .18 / .06 without exploration. After larger initial batches nothing is left to
# explore.
_ENOUGH_ANSWERS = 100  # answers after which a label is not explored any more
_NO_ANSWER_PENALTY = 0.5  # exploration that a question without an answer takes away for a while
_PENALTY_KEPT = 0.98  # share of that penalty that is left one sample later


class NewLabelExploration:
    """Exploration weight of each label: 1 without any answer, 0 from 100 answers on.

    A model that has never seen a label outputs 0 for it without any ambiguity, so no criterion would ever ask for it.
    Where questions stay without an answer, because the label does not exist yet, they become rare.

    Parameters
    ----------
    model : Model
        Model that counts the answers to each label.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.penalty = np.zeros(model.n_labels)
        """Penalty of each label after questions without an answer, as of sample `at`."""
        self.at = 0
        """Number of the sample at which `penalty` was last changed."""
        self.changes = 0
        """How often the weights have changed other than with time and with what the model has learned."""

    @property
    def finished(self) -> bool:
        """Whether every label has enough answers; it depends on the model alone, so that a file gives the same."""
        return bool((self.model.n_answers >= _ENOUGH_ANSWERS).all())

    def weights(self, numbers: IntArray) -> FloatArray | None:
        """Exploration weights of the samples of these `numbers`, (n, K); None where every label is known."""
        if self.finished:
            return None
        kept = _PENALTY_KEPT ** np.maximum(numbers[:, None] - self.at, 0.0)
        return np.maximum(1.0 - self.model.n_answers / _ENOUGH_ANSWERS - self._padded(self.penalty) * kept, 0.0)

    def record_answer(self, number: int, asked: BoolArray, answered: BoolArray) -> None:
        """Update the penalties after a question.

        `number` samples have been counted; labels `asked` for, (at most K,), and those `answered`, (at least K,).
        """
        questioned, known = self._padded(asked), answered[: self.model.n_labels]  # new labels get no penalty
        self.changes += bool((self.model.n_answers < _ENOUGH_ANSWERS)[questioned | known].any())
        penalty = self._padded(self.penalty) * _PENALTY_KEPT ** (number - self.at)
        self.penalty = np.where(known, 0.0, np.minimum(penalty + _NO_ANSWER_PENALTY * questioned, 1.0))
        self.at = number

    def _padded(self, part: AnyArray) -> AnyArray:
        """`part` with zeros for labels that have appeared since."""
        return np.pad(part, (0, self.model.n_labels - len(part)))

    def arrays(self) -> Arrays:
        """The state, by name."""
        return {"penalty": self.penalty, "at": np.array([self.at], np.int64)}

    @classmethod
    def from_arrays(cls, arrays: Arrays, model: Model, seen: int) -> "NewLabelExploration":
        """The object whose state is in `arrays`, for `model`, after `seen` counted samples."""
        size = size_of(arrays, "penalty")
        check_arrays(arrays, {"penalty": floats(size, low=0.0, high=1.0), "at": whole(1, high=seen)})
        require(size <= model.n_labels, "penalty", f"at most {model.n_labels} labels")
        made = cls(model)
        made.penalty, made.at = arrays["penalty"].copy(), int(arrays["at"][0])
        return made
