"""`Newcomers`: labels that few answers are known of count as ambiguous, whatever the model says of them."""

import numpy as np

from evolabel.core.model import StreamModel
from evolabel.core.stored.array_checks import check_arrays, floats, require, size_of, whole
from evolabel.typing import AnyArray, Arrays, BoolArray, FloatArray, IntArray

# Three drifting streams whose labels appear one by one (seeds 10-12), labels-based at 10 %, share of the gap, PA / AP:
# .31 / .49 with 100, .22 / .28 with 30, .18 / .06 without any doubts. Larger initial batches leave nothing to doubt.
ENOUGH = 100  # answers after which a label is no newcomer any more
SILENCE = 0.5  # doubt that a question without an answer takes away for a while
MEMORY = 0.98  # what is left of that one sample later


class Newcomers:
    """How much each label is to be doubted: 1 if nothing is known of it, 0 from `ENOUGH` answers on.

    A model that has never seen a label answers 0 and is sure of it, so nobody would ever be asked. Where questions stay
    without an answer, because the label does not exist yet, they become rare.

    Parameters
    ----------
    model : StreamModel
        Whose labels they are; it counts the answers, whoever has taught it.
    """

    def __init__(self, model: StreamModel) -> None:
        self.model = model
        self.silence = np.zeros(model.n_labels)
        self.at = 0
        """Number of the sample at which the silence stands."""
        self.changes = 0
        """How often doubts have changed, other than by time and by what the model has learned."""
        self._n_known = 0
        self._settle()

    @property
    def settled(self) -> bool:
        """Was every label known when a question was last answered, and has none appeared since?"""
        return self._n_known == self.model.n_labels

    def doubts(self, numbers: IntArray) -> FloatArray | None:
        """Doubts of the samples of these numbers, (n, K); None where every label is known."""
        if self.settled:
            return None
        faded = MEMORY ** np.maximum(numbers[:, None] - self.at, 0.0)
        return np.maximum(1.0 - self.model.n_answers / ENOUGH - self._of_all(self.silence) * faded, 0.0)

    def hear(self, number: int, asked: BoolArray, told: BoolArray) -> None:
        """A question about these labels is answered as far as `told`, when the stream is at this number."""
        wanted, known = self._of_all(asked), told[: self.model.n_labels]  # labels that appear now are not silent
        self.changes += bool((self.model.n_answers < ENOUGH)[wanted | known].any())
        silence = self._of_all(self.silence) * MEMORY ** (number - self.at)
        self.silence, self.at = np.where(known, 0.0, np.minimum(silence + SILENCE * wanted, 1.0)), number
        self._settle()

    def _of_all(self, part: AnyArray) -> AnyArray:
        """0 for labels that have appeared since."""
        return np.pad(part, (0, self.model.n_labels - len(part)))

    def _settle(self) -> None:
        if (self.model.n_answers >= ENOUGH).all():
            self._n_known = self.model.n_labels

    def arrays(self) -> Arrays:
        """All that is remembered, by name."""
        return {"silence": self.silence, "at": np.array([self.at], np.int64)}

    @classmethod
    def from_arrays(cls, arrays: Arrays, model: StreamModel, seen: int) -> "Newcomers":
        """What `arrays` gave, put together again; `seen`: samples counted so far."""
        size = size_of(arrays, "silence")
        check_arrays(arrays, {"silence": floats(size, low=0.0, high=1.0), "at": whole(1, high=seen)})
        require(size <= model.n_labels, "silence", f"at most {model.n_labels} labels")
        made = cls(model)
        made.silence, made.at = arrays["silence"].copy(), int(arrays["at"][0])
        return made
