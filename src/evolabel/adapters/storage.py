"""`EvolvingFuzzyClassifier` to file and back: the model's arrays, its parameters, its names."""

import os
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from evolabel.adapters.targets import ClassCodes, LabelMatrix, Targets
from evolabel.core.snapshot import put_together, take_apart
from evolabel.errors import EvolabelError, ModelFileError, ModelWriteError
from evolabel.kernels.state import Arrays
from evolabel.persistence.model_file import read_model_file, write_model_file
from evolabel.wording import with_article

if TYPE_CHECKING:
    from evolabel.adapters.scikit_learn import EvolvingFuzzyClassifier

    C = TypeVar("C", bound=EvolvingFuzzyClassifier)

KIND = "EvolvingFuzzyClassifier"
SIMPLE = (str, int, float, bool)  # classes that JSON can hold


def save_classifier(classifier: "EvolvingFuzzyClassifier", path: str | os.PathLike[str]) -> None:
    """Write a trained classifier."""
    arrays, manifest = take_classifier_apart(classifier)
    write_model_file(path, arrays, {"kind": KIND, **manifest})


def load_classifier(cls: "type[C]", path: str | os.PathLike[str]) -> "C":
    """Read a classifier written by `save_classifier`."""
    arrays, manifest = read_model_file(path)
    if manifest.get("kind") != KIND:
        held = with_article(manifest.get("kind"))
        raise ModelFileError(f"{path} holds {held}, not a classifier; pass a file written by save()")
    try:
        return put_classifier_together(cls, arrays, manifest)
    except (KeyError, TypeError, ValueError, EvolabelError) as error:
        raise ModelFileError(f"{path} does not describe a classifier ({error!r}); restore it from a copy") from None


def take_classifier_apart(classifier: "EvolvingFuzzyClassifier") -> tuple[Arrays, dict[str, Any]]:
    """The arrays of a trained classifier, and all else as values that JSON can hold."""
    arrays, facts = take_apart(classifier._fitted_model())
    names = getattr(classifier, "feature_names_in_", None)
    return arrays, {
        "parameters": {name: _plain(value) for name, value in classifier.get_params(deep=False).items()},
        "feature_names": None if names is None else [str(name) for name in names],
        "targets": _write_targets(classifier._targets),
        "model": {**facts, "options": {name: _plain(value) for name, value in facts["options"].items()}},
    }


def put_classifier_together(cls: "type[C]", arrays: Arrays, manifest: dict[str, Any]) -> "C":
    """The classifier that was taken apart."""
    classifier = cls(**manifest["parameters"])
    classifier._model = put_together(arrays, manifest["model"])
    classifier._targets = _read_targets(manifest["targets"])
    classifier.n_features_in_ = classifier._model.n_features
    if manifest["feature_names"] is not None:
        classifier.feature_names_in_ = np.array(manifest["feature_names"], dtype=object)
    return classifier


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _write_targets(targets: Targets) -> dict[str, Any]:
    if isinstance(targets, LabelMatrix):
        return {"labels": targets.names}
    if targets.classes.dtype.kind not in "biufUO" or not all(isinstance(c, SIMPLE) for c in targets.classes.tolist()):
        raise ModelWriteError("the classes are neither text nor numbers; use such classes to save the model")
    return {"classes": targets.classes.tolist(), "dtype": targets.classes.dtype.str}


def _read_targets(stored: dict[str, Any]) -> Targets:
    if "labels" in stored:
        return LabelMatrix(stored["labels"])
    return ClassCodes(np.array(stored["classes"], dtype=np.dtype(stored["dtype"])))
