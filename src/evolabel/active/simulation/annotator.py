"""`SimulatedAnnotator`: answers in an evaluation, with errors, refusals and delays."""

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.errors import ParameterError
from evolabel.typing import BoolArray, FloatArray


class SimulatedAnnotator:
    """Answers with errors, refusals and delays, the same in every run.

    Parameters
    ----------
    noise : float
        Probability that an answered label is wrong.
    refusals : float
        Probability that a question is not answered at all.
    delay : (int, int)
        Samples that come before an answer does, uniformly between these two; 0 is at once.
    seed : int
        Seed of all draws.
    """

    def __init__(
        self, noise: float = 0.0, refusals: float = 0.0, delay: tuple[int, int] = (0, 0), seed: int = 0
    ) -> None:
        check_number("noise", noise, 0, 1)
        check_number("refusals", refusals, 0, 1)
        if np.shape(delay) != (2,):
            raise ParameterError(f"delay={delay!r} is not allowed; use two numbers of samples, as (0, 10)")
        shortest, longest = delay
        check_number("delay", shortest, 0, whole=True)
        check_number("delay", longest, shortest, whole=True)
        self.noise = noise
        self.refusals = refusals
        self.delay = int(shortest), int(longest)
        self.seed = seed
        self._rng = np.random.default_rng(seed)

    def answer(self, truth: FloatArray, asked: BoolArray) -> FloatArray | None:
        """The answer where the labels `asked` are asked for and `truth` is right; None: refused."""
        refused = self._rng.random() < self.refusals
        wrong = self._rng.random(len(truth)) < self.noise
        return None if refused else np.where(asked, np.where(wrong, 1.0 - truth, truth), np.nan)

    def wait(self) -> int:
        """Number of samples before the answer arrives."""
        return int(self._rng.integers(self.delay[0], self.delay[1] + 1))

    def anew(self) -> "SimulatedAnnotator":
        """The same annotator at the beginning of the stream."""
        return SimulatedAnnotator(self.noise, self.refusals, self.delay, self.seed)

    def __repr__(self) -> str:
        return f"SimulatedAnnotator({self.noise}, {self.refusals}, {self.delay}, {self.seed})"
