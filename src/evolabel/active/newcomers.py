"""`Newcomers`: labels that few answers are known of count as ambiguous, whatever the model says of them."""

import numpy as np

from evolabel.core.model import StreamModel
from evolabel.kernels.state import Arrays, BoolArray, FloatArray, IntArray

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
        Whose labels they are. Those annotated in its initial batch are taken to be so ever since.
    """

    def __init__(self, model: StreamModel) -> None:
        self.answers = _answers(model)
        self.silence = np.zeros(len(self.answers))
        self.at = 0
        """Number of the sample at which the silence stands."""
        self.changes = 0
        """How often doubts have changed, other than by time."""
        self.settled = bool((self.answers >= ENOUGH).all())
        """Is every label known that there was so far?"""

    def knows(self, labels: BoolArray) -> bool:
        """Do answers about these labels tell nothing new of who is new?"""
        return self.settled and len(labels) <= len(self.answers)

    def doubts(self, numbers: IntArray, n_labels: int) -> FloatArray | None:
        """Doubts of the samples of these numbers, (n, n_labels); None where every label is known."""
        missing = n_labels - len(self.answers)
        if self.settled and not missing:
            return None
        answers, silence = np.pad(self.answers, (0, missing)), np.pad(self.silence, (0, missing))
        faded = MEMORY ** np.maximum(numbers[:, None] - self.at, 0.0)
        return np.maximum(1.0 - answers / ENOUGH - silence * faded, 0.0)

    def hear(self, number: int, asked: BoolArray, told: BoolArray) -> None:
        """A question about these labels was answered as far as `told`, when the stream was at this number."""
        missing = max(len(told) - len(self.answers), 0)  # labels that have appeared
        answers, silence = np.pad(self.answers, (0, missing)), np.pad(self.silence, (0, missing))
        wanted = np.pad(asked, (0, len(told) - len(asked)))
        self.changes += bool((answers < ENOUGH)[wanted | told].any())
        silence *= MEMORY ** (number - self.at)
        self.answers, self.at = answers + told, number
        self.settled = bool((self.answers >= ENOUGH).all())
        self.silence = np.where(told, 0.0, np.minimum(silence + SILENCE * wanted, 1.0))

    def arrays(self) -> Arrays:
        """All that is remembered, by name."""
        return {"answers": self.answers, "silence": self.silence, "at": np.array([self.at], np.int64)}

    @classmethod
    def none_in(cls, model: StreamModel) -> "Newcomers":
        """All labels are known."""
        made = cls(model)
        made.answers, made.silence = np.full(model.n_labels, float(ENOUGH)), np.zeros(model.n_labels)
        made.settled = True
        return made

    @classmethod
    def from_arrays(cls, arrays: Arrays, model: StreamModel) -> "Newcomers":
        """What `arrays` gave, put together again."""
        made = cls(model)
        made.answers, made.silence = (np.array(arrays[name], np.float64) for name in ("answers", "silence"))
        made.at, made.settled = int(arrays["at"][0]), bool((made.answers >= ENOUGH).all())
        size = len(made.answers)
        if made.answers.shape != (size,) or made.silence.shape != (size,) or size > model.n_labels:
            raise ValueError(f"{size} answers do not fit the silence, or {model.n_labels} labels")
        if not np.isfinite([made.answers, made.silence]).all():
            raise ValueError("answers and silence are not finite")
        return made


def _answers(model: StreamModel) -> FloatArray:
    """Answers by label, as far as the initial batch tells."""
    most = model.annotated.max(initial=0.0)
    return model.annotated * (model.n_seen / most if most else 1.0)
