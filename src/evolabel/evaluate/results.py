"""`Results` of an evaluation: summaries, trend and settings, as data frames and as files."""

import os
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, Self
from zipfile import BadZipFile
from zlib import error as ZlibError

import numpy as np

from evolabel._utils.files import as_path, write_atomically
from evolabel.errors import FileFormatError
from evolabel.evaluate.formats import RESULT_FORMATS, Backend, Document, nan_to_none, none_to_nan, to_frame
from evolabel.evaluate.label_statistics import LabelScores, LabelStatistics
from evolabel.evaluate.learner import Learner
from evolabel.evaluate.shifts import event_from_values
from evolabel.evaluate.trend import Point, Questions, Summary
from evolabel.typing import FloatArray

_ERRORS_OF_DAMAGED_FILES = (ValueError, KeyError, TypeError, AttributeError, EOFError, BadZipFile, ZlibError)
_RESULTS_NAME, _SCORES_FILE = "results", "scores.npz"  # in a folder; the first without its ending


@dataclass(frozen=True, eq=False)
class Results:
    """Results of `prequential`.

    Parameters
    ----------
    summary : dict of str to Summary
        Metrics and costs over the whole stream, by the names of the learners.
    trend : tuple of Point
        All trends in long format, one value per point.
    settings : dict
        Parameters of the run, in plain values as they are written to files.
    scores : dict of str to ndarray of shape (n_samples, n_labels)
        Scores by the names of the learners; empty unless `prequential` was called with `keep_scores=True`.
    learners : dict of str to Learner
        The trained learners; empty in results read from a file.
    label_counts : dict of str to LabelStatistics
        Curves of the labels by the names of the learners; empty in results read from a file.

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
    label_counts: dict[str, LabelStatistics] = field(default_factory=dict, repr=False)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return the trend as a data frame, one row per value.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Library of the frame.

        Raises
        ------
        MissingDependencyError
            If `backend` is not installed.
        """
        columns = zip(*self.trend, strict=True) if self.trend else ((),) * len(Point._fields)
        return to_frame({name: list(values) for name, values in zip(Point._fields, columns, strict=True)}, backend)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the results to a file or a folder.

        Parameters
        ----------
        path : str or path
            A file that ends in .json, .jsonl or .parquet; any other path is a folder. A folder receives `results` in
            all three formats (Parquet if pyarrow is installed) and the scores, if they were kept, as `scores.npz`.
        """
        target = as_path(path)
        if target.suffix in RESULT_FORMATS:
            write_atomically(target, RESULT_FORMATS[target.suffix].write(self._document()))
            return
        target.mkdir(parents=True, exist_ok=True)
        for ending in RESULT_FORMATS:
            if ending != ".parquet" or find_spec("pyarrow"):
                self.write(target / f"{_RESULTS_NAME}{ending}")
        _write_scores(target / _SCORES_FILE, self.scores)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Return the results that `write` has written.

        Parameters
        ----------
        path : str or path
            A file or a folder.

        Raises
        ------
        FileFormatError
            If there are no results at `path`, or they are damaged.
        """
        target = as_path(path)
        file = target / f"{_RESULTS_NAME}.json" if target.is_dir() else target
        if file.suffix not in RESULT_FORMATS:
            raise FileFormatError(f"{file} is of an unknown format; results end in {', '.join(RESULT_FORMATS)}")
        try:
            document = RESULT_FORMATS[file.suffix].read(file.read_bytes())
            return cls._from_document(document, _read_scores(target / _SCORES_FILE))
        except FileNotFoundError:
            raise FileFormatError(f"there are no results at {file}; check the path") from None
        except _ERRORS_OF_DAMAGED_FILES as error:
            raise FileFormatError(f"{file} does not hold complete results ({error!r}); write them again") from None

    def _document(self) -> Document:
        return {
            "settings": self.settings,
            "summary": [summary.document() for summary in self.summary.values()],
            "trend": [nan_to_none(point._asdict()) for point in self.trend],
        }

    @classmethod
    def _from_document(cls, document: Document, scores: dict[str, FloatArray]) -> Self:
        summary = {entry["learner"]: _summary(entry) for entry in document["summary"]}
        if list(summary) != list(document["settings"]["learners"]):
            raise ValueError("the summary of a learner is missing")
        trend = tuple(Point(**{**point, "value": none_to_nan(point["value"])}) for point in document["trend"])
        return cls(summary, trend, document["settings"], scores)


def remove_results(folder: Path) -> None:
    """Remove the files that `Results.write` has written into `folder`, and the folder if it is empty then."""
    for name in (*(f"{_RESULTS_NAME}{ending}" for ending in RESULT_FORMATS), _SCORES_FILE):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def _summary(entry: dict[str, Any]) -> Summary:
    reported = entry.get("events")
    changed = {
        "metrics": _with_nan(entry["metrics"]),
        "rules": none_to_nan(entry["rules"]),
        "questions": Questions.from_dict(entry.get("questions")),
        "events": None if reported is None else tuple(event_from_values(values) for values in reported),
        "labels": tuple(LabelScores(**_with_nan(values)) for values in entry.get("labels", ())),
    }
    return Summary(**{**entry, **changed})


def _with_nan(values: dict[str, Any]) -> dict[str, Any]:
    return {name: none_to_nan(value) for name, value in values.items()}


def _write_scores(target: Path, scores: dict[str, FloatArray]) -> None:
    """Write one array for all learners; without scores, remove those of an earlier run."""
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
