"""A saved model and rows for it, as a command line names them."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from json import dumps
from pathlib import Path
from typing import Any, Literal, Protocol

from evolabel import EvolvingFuzzyClassifier
from evolabel._utils.atomic_files import write_atomically
from evolabel.cli.ready import tell, writing
from evolabel.cli.source import open_source
from evolabel.errors import DataError
from evolabel.streams import Dataset, dataset_names, for_model, load_dataset, read_for_model
from evolabel.typing import FloatArray

Format = Literal["text", "markdown", "html", "json"]


class Told(Protocol):
    """What can be written in all formats."""

    @property
    def text(self) -> str: ...  # noqa: D102
    def markdown(self) -> str: ...  # noqa: D102
    def html(self) -> str: ...  # noqa: D102
    def to_dict(self) -> dict[str, Any]: ...  # noqa: D102


def rows_for(classifier: EvolvingFuzzyClassifier, data: str, labels: tuple[str, ...]) -> FloatArray:
    """Rows of a known data set (in the order of its file) or of a file, if the model knows their features."""
    return samples_for(classifier, data, labels).X


def samples_for(classifier: EvolvingFuzzyClassifier, data: str, labels: tuple[str, ...]) -> Dataset:
    """The same rows with their labels; NaN where the file has none."""
    names = getattr(classifier, "feature_names_in_", None)
    known = tuple(map(str, classifier.label_names_))
    if names is not None and not labels and data.lower() not in dataset_names() and Path(data).is_file():
        return read_for_model(data, tuple(names), known)
    dataset, width = _read(classifier, data, labels or known), classifier.n_features_in_
    if names is not None and not set(names).isdisjoint(dataset.feature_names):
        return for_model(dataset, tuple(names), dataset.label_names)
    if names is not None or dataset.n_features != width:
        raise DataError(f"{data} has {dataset.n_features} features, the model knows {width}; give it data of its kind")
    return dataset


def _read(classifier: EvolvingFuzzyClassifier, data: str, labels: tuple[str, ...]) -> Dataset:
    if data.lower() not in dataset_names():
        return open_source(data, () if data.startswith("drift") else labels, None, None, None).stream(0)
    dataset = load_dataset(data, nominal="codes")
    return dataset if dataset.n_features == classifier.n_features_in_ else load_dataset(data, nominal="one-hot")


@contextmanager
def names_are_checked() -> Iterator[None]:
    """Rows come as plain arrays whose names `rows_for` has compared; scikit-learn need not warn."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        yield


def write(told: Told, form: Format, out: Path | None) -> None:
    """To standard output or into a file."""
    forms: dict[str, Callable[[], str]] = {
        "text": lambda: told.text,
        "markdown": told.markdown,
        "html": told.html,
        "json": lambda: dumps(told.to_dict(), indent=1, allow_nan=False),
    }
    hand_over(forms[form]().rstrip("\n") + "\n", out)


def hand_over(content: str, out: Path | None, note: str = "") -> None:
    """Text to standard output, or into a file, which is told with a note."""
    if out is None:
        sys.stdout.write(content)
        return
    with writing(out):
        write_atomically(out, content.encode())
    tell(f"Written: {out}{note}")
