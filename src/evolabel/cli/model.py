"""A saved model, rows for it, and text about it in all formats."""

import sys
from collections.abc import Callable
from json import dumps
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from evolabel import EvolvingFuzzyClassifier
from evolabel.cli.output import print_or_write
from evolabel.cli.source import open_source
from evolabel.errors import DataError, ParameterError
from evolabel.streams import Dataset, dataset_names, for_model, load_dataset
from evolabel.streams.files.for_model import ModelRows, read_with_coding

if TYPE_CHECKING:
    from evolabel.explain.prediction import Explanation
    from evolabel.explain.rule_set import RuleSet
    from evolabel.explain.rules import Regions

Format = Literal["text", "markdown", "html", "json"]
ModelFile = Annotated[Path, Parameter(help="A model file, written by `evolabel run --out` or by `save`.")]
RowLabels = Annotated[
    str,
    Parameter(help="Columns of that file that are labels, separated by commas; the labels of the model if not given."),
]
OwnStages = Annotated[
    str,
    Parameter(
        help="Function that returns the stages of your own which the model has, as module:function; it is imported "
        "and run."
    ),
]
"""Options of the commands on a saved model."""


def load_model(model: Path, stages: str = "") -> EvolvingFuzzyClassifier:
    """Return the classifier in the file `model`, with the stages of a user that the function `stages` returns.

    The function is named as module:function, and imported from the installed packages or the working folder.
    """
    return EvolvingFuzzyClassifier.load(model, stages=_stages_of(stages) if stages else ())


def _stages_of(function: str) -> Any:
    """Return what the `function`, module:function, returns; ParameterError if there is no such function."""
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return resolve_name(function)()
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        needed = "a function without arguments that returns a list of stages, as module:function"
        raise ParameterError(f"--stages {function}: {error}; name {needed}") from None


def samples_for(
    classifier: EvolvingFuzzyClassifier, data: str, labels: tuple[str, ...], keep: tuple[str, ...] = ()
) -> ModelRows:
    """Return the rows of `data` with the features of `classifier`; labels are NaN where the file has none.

    `data` is a known data set (rows in the order of its file) or a file; `labels` are its label columns, those of the
    model if there are none. `keep` are columns of a file to return as texts.
    """
    coding, known = classifier.inner.columns, tuple(map(str, classifier.label_names_))
    width = classifier.inner.any_model.n_features
    if not labels and data.lower() not in dataset_names() and Path(data).is_file():
        return read_with_coding(data, width if coding is None else coding, known, keep)
    if keep:
        raise ParameterError(f"--keep {','.join(keep)} needs a file, and no --labels; leave it out")
    dataset = _read(classifier, data, labels or known)
    names = None if coding is None else coding.feature_names
    if names is not None and not set(names).isdisjoint(dataset.feature_names):
        return ModelRows(for_model(dataset, names, dataset.label_names), [], {})
    if names is not None or dataset.n_features != width:
        raise DataError(f"{data} has {dataset.n_features} features, the model has {width}; give it data of its kind")
    return ModelRows(dataset, [], {})


def _read(classifier: EvolvingFuzzyClassifier, data: str, labels: tuple[str, ...]) -> Dataset:
    if data.lower() not in dataset_names():
        return open_source(data, () if data.startswith("drift") else labels, skip_empty=False).stream(0)
    dataset = load_dataset(data, nominal="codes")
    width = classifier.inner.any_model.n_features
    return dataset if dataset.n_features == width else load_dataset(data, nominal="one-hot")


def print_formatted(document: "RuleSet | Regions | Explanation", form: Format, out: Path | None) -> None:
    """Print `document` in the format `form`, or write it to the file `out`."""
    forms: dict[str, Callable[[], str]] = {
        "text": lambda: document.text,
        "markdown": document.markdown,
        "html": document.html,
        "json": lambda: dumps(document.to_dict(), indent=1, allow_nan=False),
    }
    print_or_write(forms[form]().rstrip("\n") + "\n", out)
