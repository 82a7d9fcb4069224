"""Classifiers to file and back: the model's arrays, its parameters, its names."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import numpy as np

from evolabel._utils.text import with_article
from evolabel.classifier.inner import Classifier, ClassifierInner
from evolabel.classifier.kinds import CLASSIFIERS, kind_of
from evolabel.classifier.targets import ClassCodes, LabelMatrix, Targets
from evolabel.core.stored_checks import StoredFacts, inside, part_of, prefixed
from evolabel.errors import DataError, EvolabelError, ModelFileError, ModelWriteError
from evolabel.model.pipeline import prototypes
from evolabel.model.storage.snapshot import model_from_arrays, model_to_arrays, read_weights
from evolabel.model.stream_model import StreamModel
from evolabel.persistence.model_file import model_bytes, read_model_file, write_model_file
from evolabel.persistence.schemas import remedy
from evolabel.stages.feedback.stage import ErrorFeedback, feedback_of
from evolabel.stages.own.stage import check_given
from evolabel.stages.written_rules.edits.old_regions import write_old_regions
from evolabel.streams.tabular.column_coding import ColumnCoding
from evolabel.streams.tabular.time_columns import parse_times
from evolabel.typing import Arrays

C = TypeVar("C", bound=Classifier)

LEARNER_KIND = "ActiveLearner"
_FEEDBACK = "feedback"  # the part of the error feedback in a file
SIMPLE = (str, int, float, bool)  # classes that JSON can hold
DTYPES = re.compile("[<>|=]?[biufUO][0-9]*")  # of classes
LONGEST = 1 << 26  # bytes that classes may need

# What reading a broken file may end in: our own errors where it was foreseen, else those of Python and numpy.
BROKEN = (EvolabelError, KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, MemoryError)


def save_classifier(classifier: Classifier, path: str | os.PathLike[str]) -> None:
    """Write a trained `classifier` to `path`."""
    arrays, manifest = classifier_to_arrays(classifier)
    with refusing_to_write(path):
        stored = json.loads(json.dumps(manifest, allow_nan=False))
        classifier_from_arrays(type(classifier), arrays, stored, own_prototypes(classifier), copy=False)
    write_model_file(path, arrays, manifest)


def load_classifier(cls: type[C], path: str | os.PathLike[str], stages: Sequence[Any] = ()) -> C:
    """Return the classifier of class `cls` that `save_classifier` wrote to `path`; it has the `stages` of a user."""
    return read_classifier(cls, *read_model_file(path), path, stages)


def classifier_bytes(classifier: Classifier) -> bytes:
    """Return the contents of the file that `save_classifier` would write of `classifier`."""
    arrays, manifest = classifier_to_arrays(classifier)
    return model_bytes(arrays, manifest)


def read_classifier(
    cls: type[C],
    arrays: Arrays,
    manifest: dict[str, Any],
    path: str | os.PathLike[str],
    stages: Sequence[Any] = (),
) -> C:
    """Return the classifier of these `arrays` and `manifest`; ModelFileError, which names `path`, if it is none.

    It is a `cls`, or a PaperClassifier where the file holds one and `cls` is one of its bases; it has the `stages` of a
    user.
    """
    found = manifest.get("kind")
    if kind_of(found) is None:
        kind, advice = with_article(found), "pass a file written by save()"
        if found == LEARNER_KIND:
            advice = "load it with ActiveLearner.load and take its `classifier`"
        raise ModelFileError(f"{path} holds {kind}, not a classifier; {advice}")
    if _class_of(cls, found) is None:
        kind, own = with_article(found), with_article(cls.__name__)
        raise ModelFileError(f"{path} holds {kind}, not {own}; load it with {found}.load")
    own_stages = check_stages(path, manifest.get("model"), stages)
    with refusing_to_read(path, "a classifier", manifest):
        classifier = classifier_from_arrays(cls, arrays, manifest, own_stages)
    return classifier.set_params(stages=stages) if stages else classifier


def check_stages(path: str | os.PathLike[str], model: object, stages: Sequence[Any]) -> tuple[Any, ...]:
    """Return the prototypes of the own stages of the `model` in the file at `path`; `stages` are those of the user.

    ModelFileError if it was saved with others.
    """
    stored, own = model.get("stages", []) if isinstance(model, dict) else [], prototypes(stages)
    try:
        check_given(stored, own)
    except DataError as error:
        raise ModelFileError(f"{path} cannot be loaded: {error}") from None
    return own


def own_prototypes(classifier: Classifier) -> list[Any]:
    """Return the prototypes of the own stages of the model of `classifier`, whatever its parameters are by now."""
    return [stage.prototype for stage in classifier.inner.any_model.own_stages]


def _class_of(cls: type[C], kind: object) -> "type[C] | None":
    """Return the class of a classifier of this `kind` that is loaded as a `cls`; None if it would be no `cls`."""
    made = cls if kind == cls._options_class.classifier else kind_of(kind)
    return made if made is not None and issubclass(made, cls) else None


@contextmanager
def refusing_to_read(path: str | os.PathLike[str], what: str, manifest: dict[str, Any]) -> Iterator[None]:
    """Turn errors about the contents of the file at `path`, which should hold `what`, into ModelFileError.

    What to do about it depends on the schema in its `manifest`.
    """
    try:
        yield
    except BROKEN as error:
        why = " ".join((str(error) if isinstance(error, EvolabelError) else repr(error)).split())
        raise ModelFileError(f"{path} does not describe {what} ({why}); {remedy(manifest)}") from None


@contextmanager
def refusing_to_write(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn errors about contents that could not be read again from `path` into ModelWriteError."""
    try:
        yield
    except BROKEN as error:
        why = " ".join((str(error) if isinstance(error, EvolabelError) else repr(error)).split())
        raise ModelWriteError(f"cannot write {path}: the model is not sound ({why}); fit it anew") from None


def classifier_to_arrays(classifier: Classifier) -> tuple[Arrays, dict[str, Any]]:
    """Return the arrays of a trained `classifier`, and all else as values that JSON can hold."""
    model = classifier.inner.any_model
    arrays, facts = model_to_arrays(model)
    if model.warm_up is None:
        arrays |= prefixed(_FEEDBACK, feedback_of(model).arrays())
    return arrays, {
        "kind": model.options.classifier,
        "parameters": {name: _plain(getattr(classifier, name)) for name in stored_parameters(type(classifier))},
        "columns": _write_columns(classifier.inner.columns),
        "targets": _write_targets(classifier.inner.targets),
        "model": {**facts, "options": {name: _plain(value) for name, value in facts["options"].items()}},
    }


def stored_parameters(cls: type[C]) -> list[str]:
    """Return the names of the parameters that files hold: all but `stages`, which are code."""
    return [name for name in cls._get_param_names() if name != "stages"]


def classifier_from_arrays(
    cls: type[C], arrays: Arrays, manifest: object, stages: Sequence[Any] = (), *, copy: bool = True
) -> C:
    """Return the classifier of these `arrays` and `manifest`, as `read_classifier`; EvolabelError if they are wrong.

    `stages` are the prototypes of its own stages. Without `copy` its rules are the `arrays` themselves, which saves
    memory where the classifier is only checked.
    """
    stored = StoredFacts(manifest)
    made = _class_of(cls, stored.value("kind"))
    if made is None:
        raise stored.refuse("kind", f"one of {', '.join(CLASSIFIERS)} that is {with_article(cls.__name__)}")
    cls = made
    parameters = stored.part("parameters").only(*stored_parameters(cls))
    classifier = cls(**{**parameters, "class_weight": read_weights(parameters["class_weight"])})
    classifier.inner.options()
    model = _model_from_arrays(arrays, stored.part("model"), classifier.inner, stages, copy=copy)
    targets = _read_targets(stored.part("targets"), model.n_labels)
    named = stored.value("columns") is not None
    columns = _read_columns(stored.part("columns"), model.n_features) if named else None
    classifier.inner.begin(model, columns, targets)
    if copy and model.warm_up is None:
        write_old_regions(model, classifier.inner.feature_names, classifier.inner.label_names)
    return classifier


def _model_from_arrays(
    arrays: Arrays, stored: StoredFacts, inner: ClassifierInner, stages: Sequence[Any], *, copy: bool
) -> StreamModel:
    """Return the model for the classifier of `inner`, with these `stages` and the feedback of its initial batch."""
    build = partial(model_from_arrays, model_class=inner.model_class, options_class=inner.options_class, stages=stages)
    if "warm_up" in stored:
        return build(arrays, stored.facts, feedback=ErrorFeedback())
    own = {name: array for name, array in arrays.items() if not name.startswith(f"{_FEEDBACK}.")}
    with inside(_FEEDBACK):
        feedback = ErrorFeedback.from_arrays(part_of(arrays, _FEEDBACK), stored.whole("n_labels"), 0)
    return build(own, stored.facts, feedback=feedback, copy=copy)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):  # as pairs, because JSON has only texts as keys
        return [[_plain(name), float(number)] for name, number in value.items()]
    return value.item() if isinstance(value, np.generic) else value


def _write_columns(coding: ColumnCoding | None) -> dict[str, Any] | None:
    if coding is None:
        return None
    return {
        "names": list(coding.columns),
        "categories": list(coding.categories),
        "origins": coding.times,
        "flags": list(coding.flags),
    }


def _read_columns(stored: StoredFacts, n_features: int) -> ColumnCoding:
    """Return the coding of the columns, which must give `n_features` features, all different if there are texts."""
    stored.only("names", "categories", "origins", "flags")
    names, categories = stored.texts("names"), stored.listed("categories")
    flags = stored.texts("flags")
    origins = _read_origins(stored, names)
    sound = len(categories) == len(names) and all(texts is None or _are_texts(texts) for texts in categories)
    codes = tuple(texts and tuple(texts) for texts in categories) if sound else ()
    coding = ColumnCoding(tuple(names), codes, origins, tuple(flags)) if sound else None
    if coding is None or len(coding.feature_names) != n_features:
        raise stored.refuse("categories", f"null or different texts for each column, {n_features} features in all")
    if not {*flags} <= {name for name, texts in zip(names, categories, strict=True) if texts is None} - {*coding.times}:
        raise stored.refuse("flags", "columns that are one feature each")
    if coding.is_coded and len(set(names)) < len(names):
        raise stored.refuse("names", "different names")
    return coding


def _read_origins(stored: StoredFacts, names: list[str]) -> tuple[tuple[str, str], ...]:
    """Return the time columns, which must be among `names`, with the timestamp from which on days are counted."""
    origins = stored.part("origins").facts
    for column, origin in origins.items():
        if column not in names or not isinstance(origin, str) or not parse_times(column, [origin], str)[0]:
            raise stored.refuse("origins", "a timestamp for each time column")
    return tuple(origins.items())


def _are_texts(texts: Any) -> bool:
    """Whether `texts` are one or more texts, all different."""
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        return False
    return len(set(texts)) == len(texts)


def _write_targets(targets: Targets) -> dict[str, Any]:
    if isinstance(targets, LabelMatrix):
        return {"labels": targets.names}
    if targets.classes.dtype.kind not in "biufUO" or not all(isinstance(c, SIMPLE) for c in targets.classes.tolist()):
        raise ModelWriteError("the classes are neither text nor numbers; use such classes to save the model")
    return {"classes": targets.classes.tolist(), "dtype": targets.classes.dtype.str}


def _read_targets(stored: StoredFacts, n_labels: int) -> Targets:
    """Return the `n_labels` labels that `stored` has, or its classes, of which some may only be announced."""
    if "labels" in stored:
        return LabelMatrix(stored.texts("labels", n_labels))
    classes, dtype = stored.listed("classes"), stored.value("dtype")
    texts = all(isinstance(c, str) for c in classes)
    if len(classes) < n_labels or not (texts or all(isinstance(c, int | float) for c in classes)):
        raise stored.refuse("classes", f"{n_labels} classes or more, all of them texts or all of them numbers")
    if not isinstance(dtype, str) or not DTYPES.fullmatch(dtype) or np.dtype(dtype).itemsize * len(classes) > LONGEST:
        raise stored.refuse("dtype", "the dtype of texts or numbers")
    values = np.array(classes, dtype=np.dtype(dtype))
    if values.tolist() != classes or len(set(classes)) < len(classes):
        raise stored.refuse("classes", f"different values that {dtype} can hold")
    return ClassCodes(values)
