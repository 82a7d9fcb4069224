"""What an evaluation leaves behind: summaries, trend lines, settings; as frames and as files."""

import os
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, Self
from zipfile import BadZipFile
from zlib import error as ZlibError

import numpy as np

from evolabel._utils.atomic_files import write_atomically
from evolabel.errors import FileFormatError
from evolabel.evaluate.formats import READERS, WRITERS, Document, with_nan, without_nan
from evolabel.evaluate.frames import Backend, frame_of
from evolabel.evaluate.learner import Learner
from evolabel.evaluate.questions import Questions
from evolabel.evaluate.trend import Point, Summary
from evolabel.typing import FloatArray

DAMAGE = (ValueError, KeyError, TypeError, AttributeError, EOFError, BadZipFile, ZlibError)
RESULTS, SCORES = "results", "scores.npz"  # files in a folder; of the first there are several kinds


@dataclass(frozen=True, eq=False)
class Results:
    """Outcome of `prequential`.

    Parameters
    ----------
    summary : dict of str to Summary
        By the names of the learners.
    trend : tuple of Point
        All trend lines, tidy: one value each.
    settings : dict
        What was run: plain values, as they are written to files.
    scores : dict of str to ndarray of shape (n_samples, n_labels)
        By the names of the learners; empty unless they were to be kept.
    learners : dict of str to Learner
        The trained learners; empty in results read from a file.

    Examples
    --------
    >>> lines = (Point("prior", 100, "pa", "cumulative", 0.75), Point("prior", 200, "pa", "cumulative", 0.8))
    >>> print(Results(summary={}, trend=lines, settings={}).to_frame()[["sample", "value"]])
       sample  value
    0     100   0.75
    1     200   0.80
    """

    summary: dict[str, Summary]
    trend: tuple[Point, ...] = field(repr=False)
    settings: dict[str, Any]
    scores: dict[str, FloatArray] = field(default_factory=dict, repr=False)
    learners: dict[str, Learner] = field(default_factory=dict, repr=False)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """The trend as a frame of `backend` ("pandas", "polars" or "pyarrow"), one row per value."""
        columns = zip(*self.trend, strict=True) if self.trend else ((),) * len(Point._fields)
        data = {name: list(values) for name, values in zip(Point._fields, columns, strict=True)}
        return frame_of(data, backend)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a file, its kind by its ending: .json, .jsonl or .parquet; any other path is a folder.

        A folder receives `results` in all three kinds (Parquet where pyarrow is installed) and, where they were kept,
        the scores as `scores.npz`.
        """
        target = Path(path)
        if target.suffix in WRITERS:
            write_atomically(target, WRITERS[target.suffix](self._document()))
            return
        target.mkdir(parents=True, exist_ok=True)
        for kind in WRITERS:
            if kind != ".parquet" or find_spec("pyarrow"):
                self.write(target / f"{RESULTS}{kind}")
        _write_scores(target / SCORES, self.scores)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `write` has written, a file or a folder."""
        target = Path(path)
        file = target / f"{RESULTS}.json" if target.is_dir() else target
        if file.suffix not in READERS:
            raise FileFormatError(f"{file} is of an unknown kind; results end in {', '.join(READERS)}")
        try:
            return cls._from_document(READERS[file.suffix](file.read_bytes()), _read_scores(target / SCORES))
        except FileNotFoundError:
            raise FileFormatError(f"there are no results at {file}; check the path") from None
        except DAMAGE as error:
            raise FileFormatError(f"{file} does not hold complete results ({error!r}); write them again") from None

    def _document(self) -> Document:
        return {
            "settings": self.settings,
            "summary": [without_nan(asdict(summary)) for summary in self.summary.values()],
            "trend": [without_nan(point._asdict()) for point in self.trend],
        }

    @classmethod
    def _from_document(cls, document: Document, scores: dict[str, FloatArray]) -> Self:
        summary = {entry["learner"]: _summary(entry) for entry in document["summary"]}
        if list(summary) != list(document["settings"]["learners"]):
            raise ValueError("the summary of a learner is missing")
        trend = tuple(Point(**{**point, "value": with_nan(point["value"])}) for point in document["trend"])
        return cls(summary, trend, document["settings"], scores)


def remove_results(folder: Path) -> None:
    """Remove what `write` has left in a folder, and the folder itself unless something else is in it."""
    for name in (*(f"{RESULTS}{kind}" for kind in WRITERS), SCORES):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def _summary(entry: dict[str, Any]) -> Summary:
    metrics = {name: with_nan(value) for name, value in entry["metrics"].items()}
    questions = Questions.read(entry.get("questions"))
    return Summary(**{**entry, "metrics": metrics, "rules": with_nan(entry["rules"]), "questions": questions})


def _write_scores(target: Path, scores: dict[str, FloatArray]) -> None:
    """One array for all learners; without scores, those of an earlier run must not stay."""
    if not scores:
        target.unlink(missing_ok=True)
        return
    file = BytesIO()
    np.savez_compressed(file, learners=list(scores), scores=np.stack(list(scores.values())))
    write_atomically(target, file.getvalue())


def _read_scores(source: Path) -> dict[str, FloatArray]:
    if not source.is_file():
        return {}
    with np.load(source, allow_pickle=False) as arrays:
        return dict(zip(arrays["learners"].tolist(), arrays["scores"], strict=True))
