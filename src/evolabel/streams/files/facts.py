"""What a data set is besides its numbers, as text: the files of `write_dataset` carry it along."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from evolabel.errors import FileFormatError
from evolabel.streams.dataset import Dataset
from evolabel.typing import FloatArray

VERSION = 1


@dataclass(frozen=True)
class Facts:
    """Names, official split and published order; `version` is that of the form of the files."""

    name: str
    split: int | None
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]
    starts_at: int = 0
    version: int = VERSION

    @classmethod
    def of(cls, dataset: Dataset) -> Self:
        """The facts of a data set."""
        return cls(dataset.name, dataset.split, dataset.feature_names, dataset.label_names, dataset.starts_at)

    @classmethod
    def parse(cls, text: str, path: Path) -> Self:
        """Facts that a file holds as text."""
        known = json.loads(text)
        if known["version"] > VERSION:
            raise FileFormatError(
                f"{path} has version {known['version']} of its form, this evolabel reads up to {VERSION}; update it"
            )
        names = tuple(known["feature_names"]), tuple(known["label_names"])
        return cls(known["name"], known["split"], *names, known["starts_at"])

    def text(self) -> str:
        """Facts as text."""
        return json.dumps(asdict(self))

    def dataset(self, X: FloatArray, Y: FloatArray) -> Dataset:
        """The data set of which these are the facts."""
        names = self.feature_names, self.label_names
        return Dataset(X, Y, *names, self.name, split=self.split, starts_at=self.starts_at)


def broken(path: Path, error: Exception) -> FileFormatError:
    """The error of a file that does not hold what it should; one that already is such an error stays as it is."""
    if isinstance(error, FileFormatError):
        return error
    return FileFormatError(f"{path} is not a whole file of write_dataset ({error}); write it again")
