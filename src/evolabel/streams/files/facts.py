"""Names, split and order of a data set as JSON text, stored in the files of `write_dataset`."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from evolabel.errors import FileFormatError
from evolabel.streams.dataset import Dataset
from evolabel.typing import FloatArray

_VERSION = 1  # of the format of the files


@dataclass(frozen=True)
class Facts:
    """What a file stores about a data set besides its numbers; the fields are those of `Dataset`."""

    name: str
    split: int | None
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]
    starts_at: int = 0
    version: int = _VERSION

    @classmethod
    def of(cls, dataset: Dataset) -> Self:
        """Return the facts about `dataset`."""
        return cls(dataset.name, dataset.split, dataset.feature_names, dataset.label_names, dataset.starts_at)

    @classmethod
    def parse(cls, text: str, path: Path) -> Self:
        """Return the facts in the JSON `text` of the file `path`."""
        stored = json.loads(text)
        if stored["version"] > _VERSION:
            raise FileFormatError(
                f"{path} has format version {stored['version']}, this evolabel reads up to {_VERSION}; update evolabel"
            )
        names = tuple(stored["feature_names"]), tuple(stored["label_names"])
        return cls(stored["name"], stored["split"], *names, stored["starts_at"])

    def text(self) -> str:
        """Return the facts as JSON text."""
        return json.dumps(asdict(self))

    def dataset(self, X: FloatArray, Y: FloatArray) -> Dataset:
        """Return the data set of features `X` and labels `Y` with these facts."""
        names = self.feature_names, self.label_names
        return Dataset(X, Y, *names, self.name, split=self.split, starts_at=self.starts_at)


def damaged_file(path: Path, error: Exception) -> FileFormatError:
    """Return `error` if it is a FileFormatError, else one that names the damaged file `path` and the `error`."""
    if isinstance(error, FileFormatError):
        return error
    return FileFormatError(f"{path} is not a complete file of write_dataset ({error}); write it again")
