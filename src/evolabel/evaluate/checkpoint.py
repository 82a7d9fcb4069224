"""Checkpoints: where a run stood, so that the same call can go on from there.

A checkpoint is a checksum and a pickle. The checksum tells a file that was cut or altered by accident; it is no
protection against malice, because a pickle can run any code: only open checkpoints that you have written yourself.
"""

import hashlib
import os
import pickle
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from evolabel.errors import CheckpointError
from evolabel.evaluate.source import Source
from evolabel.kernels.state import FloatArray
from evolabel.ranges import check_number
from evolabel.whole_files import write_atomically

MAGIC = b"evolabel checkpoint 1\n"
SEAL = 32  # bytes of a SHA-256
BLOCK = 1024  # rows read again at a time


def is_checkpoint(path: Path) -> bool:
    """Does the file say of itself that it is one? It is not unpickled."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


class FingerprintedSource:
    """A source that remembers what it has handed out, as a number of rows and a digest of them."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._digest = hashlib.sha256()
        self.n_rows, self.n_features, self.n_labels = source.n_rows, source.n_features, source.n_labels
        self.taken = 0

    def take(self, rows: int) -> tuple[FloatArray, FloatArray]:
        """The next rows, X and Y; fewer where the stream ends."""
        X, Y = self._source.take(rows)
        self._digest.update(np.hstack([X, Y]).tobytes())
        self.taken += len(X)
        return X, Y

    def read_again(self, rows: int) -> None:
        """Pass over the rows that were handed out before."""
        while self.taken < rows and len(self.take(min(BLOCK, rows - self.taken))[0]):
            pass

    def fingerprint(self) -> str:
        """The digest as text; it does not depend on how many rows were taken at a time."""
        return self._digest.hexdigest()


class Checkpoint:
    """A file with the state of one run between two steps.

    Parameters
    ----------
    path : path-like
    settings : dict
        What the run is about: a checkpoint is only taken up by a run with equal settings.
    every : float
        Seconds from one checkpoint to the next.
    """

    def __init__(self, path: str | os.PathLike[str], settings: dict[str, Any], every: float) -> None:
        self.path = Path(path)
        self.settings = settings
        self.every = check_number("checkpoint_every", every, 0)
        self._written = monotonic()

    def is_due(self) -> bool:
        """Has it been long enough since the last one?"""
        return monotonic() - self._written >= self.every

    def write(self, state: Any, source: FingerprintedSource) -> None:
        """Put a new state, reached with what the source has handed out, into the place of the old one, atomically."""
        try:
            content = pickle.dumps((self.settings, source.taken, source.fingerprint(), state), pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise CheckpointError(f"a learner cannot be pickled ({error}); run without a checkpoint") from error
        try:
            write_atomically(self.path, MAGIC + hashlib.sha256(content).digest() + content)
        except OSError as error:
            raise CheckpointError(f"cannot write checkpoint {self.path} ({error}); choose another path") from error
        self._written = monotonic()

    def resume(self, source: FingerprintedSource) -> Any | None:
        """The state that was written, with the source brought to where it was then; None if there is no file."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CheckpointError(f"cannot read checkpoint {self.path} ({error}); choose another path") from error
        settings, taken, fingerprint, state = self._open(data)
        self._refuse_other_settings(settings)
        source.read_again(taken)
        if source.fingerprint() != fingerprint:
            raise self._of_another_run(f"the first {taken} rows of the stream differ")
        return state

    def remove(self) -> None:
        """The run is over: there is nothing left to go on with."""
        self.path.unlink(missing_ok=True)

    def _open(self, data: bytes) -> tuple[dict[str, Any], int, str, Any]:
        seal, content = data[: len(MAGIC) + SEAL], data[len(MAGIC) + SEAL :]
        if seal != MAGIC + hashlib.sha256(content).digest():
            raise CheckpointError(f"{self.path} is no checkpoint, or was cut or altered; delete it to start anew")
        try:
            settings, taken, fingerprint, state = pickle.loads(content)
        except Exception as error:  # a class may have changed or gone since then, and raise whatever it likes
            raise CheckpointError(f"{self.path} cannot be unpickled ({error}); delete it to start anew") from error
        return settings, taken, fingerprint, state

    def _refuse_other_settings(self, then: dict[str, Any]) -> None:
        for name, now in self.settings.items():
            if then.get(name) != now:
                raise self._of_another_run(f"{name} was {then.get(name)!r} and is {now!r} now")

    def _of_another_run(self, difference: str) -> CheckpointError:
        return CheckpointError(
            f"{self.path} belongs to another run: {difference}; repeat that call, or delete the file to start anew"
        )
