"""Files of an `ActiveLearner`: the classifier, counts, state of the selector and the context, pending questions."""

import json
import os
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Protocol, TypeVar

import numpy as np

from evolabel._utils.text import with_article
from evolabel.active.answers import AnnotatorPool, Ledger
from evolabel.active.query import DRAWN_LABELS, LABEL_SCORES, PENDING_ARRAYS, SAMPLE_SCORE, Query, QueryNames
from evolabel.active.scoring.criteria import CRITERIA, Criterion
from evolabel.active.selection import SELECTORS, Selector
from evolabel.active.selection.token_bucket import TokenBucket
from evolabel.active.strategy import QueryStrategy
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.classifier.storage import (
    LEARNER_KIND,
    check_stages,
    classifier_from_arrays,
    classifier_to_arrays,
    own_prototypes,
    read_classifier,
    refusing_to_read,
    refusing_to_write,
)
from evolabel.core.schema import Sizes, stream_sizes
from evolabel.core.stored_checks import (
    Expected,
    StoredFacts,
    check_arrays,
    check_names,
    check_samples,
    inside,
    part_of,
    prefixed,
    require,
    size_of,
)
from evolabel.errors import DataError, ModelFileError, ModelWriteError
from evolabel.persistence.model_file import (
    model_bytes,
    model_checksum,
    read_model_bytes,
    read_model_file,
    write_model_file,
)
from evolabel.typing import AnyArray, Arrays

_BUCKET_PARAMETERS = ("budget", "per", "credit", "burst")
_LEARNER_PARAMETERS = ("min_labels", "max_pending", "antecedent_rate")
_PARTS = ("selector", "unlabelled", "context", "pending")


class StoredLearner(Protocol):
    """What files hold of an `ActiveLearner`, besides its parameters of `_LEARNER_PARAMETERS`."""

    bucket: TokenBucket
    ledger: Ledger
    annotators: AnnotatorPool
    strategy: QueryStrategy
    pending: dict[int, Query]
    max_pending: int

    def __init__(self, classifier: EvolvingFuzzyClassifier, **parameters: Any) -> None: ...

    @property
    def classifier(self) -> EvolvingFuzzyClassifier:
        """The classifier that it trains."""


L = TypeVar("L", bound=StoredLearner)


def save_learner(learner: StoredLearner, path: str | os.PathLike[str]) -> None:
    """Write `learner` and its classifier to the file at `path`."""
    write_model_file(path, *_checked_parts(learner, path))


def learner_bytes(learner: StoredLearner) -> bytes:
    """The contents of the file that `save_learner` would write."""
    return model_bytes(*_checked_parts(learner, "the learner"))


def learner_checksum(learner: StoredLearner) -> str:
    """The checksum of the state of `learner`, as its file has it."""
    return model_checksum(*_to_arrays(learner))


def learner_from_bytes(cls: type[L], data: bytes, stages: Sequence[Any] = ()) -> L:
    """The learner of class `cls` in `data`, which `learner_bytes` has made; its classifier has these `stages`."""
    return _read_learner(cls, *read_model_bytes(data, "the stored learner"), "the stored learner", stages)


def load_learner(cls: type[L], path: str | os.PathLike[str], stages: Sequence[Any] = ()) -> L:
    """The learner of class `cls` that `save_learner` has written to `path`; its classifier has these `stages`."""
    return _read_learner(cls, *read_model_file(path), path, stages)


def classifier_in(data: bytes, name: str) -> EvolvingFuzzyClassifier:
    """The classifier in `data`, the contents of a file of a classifier or of a learner; `name` is for messages."""
    arrays, manifest = read_model_bytes(data, name)
    if manifest.get("kind") == LEARNER_KIND:
        arrays = _without_own(arrays)
        with refusing_to_read(name, "a learner", manifest):
            manifest = {**manifest, **StoredFacts(manifest).part("classifier").facts}
    return read_classifier(EvolvingFuzzyClassifier, arrays, manifest, name)


def _without_own(arrays: Arrays) -> Arrays:
    """Those of the `arrays` of a learner that are its classifier's."""
    return {name: array for name, array in arrays.items() if not name.startswith("active.")}


def _read_learner(
    cls: type[L], arrays: Arrays, manifest: dict[str, Any], path: str | os.PathLike[str], stages: Sequence[Any] = ()
) -> L:
    """The learner of class `cls` in the file `path` with these contents; ModelFileError if it holds none."""
    if manifest.get("kind") != LEARNER_KIND:
        kind = with_article(manifest.get("kind"))
        raise ModelFileError(f"{path} holds {kind}, not an active learner; pass a file of its save()")
    classifier = manifest.get("classifier")
    own = check_stages(path, classifier.get("model") if isinstance(classifier, dict) else None, stages)
    with refusing_to_read(path, "a learner", manifest):
        learner = _from_arrays(cls, arrays, manifest, own)
    if stages:
        learner.classifier.set_params(stages=stages)
    return learner


def _checked_parts(learner: StoredLearner, path: str | os.PathLike[str]) -> tuple[Arrays, dict[str, Any]]:
    """Arrays and manifest of `learner`; ModelWriteError that names `path` if they could not be read again."""
    arrays, manifest = _to_arrays(learner)
    with refusing_to_write(path):
        stored, stages = json.loads(json.dumps(manifest, allow_nan=False)), own_prototypes(learner.classifier)
        _from_arrays(type(learner), arrays, stored, stages, copy=False)
    return arrays, manifest


def _to_arrays(learner: StoredLearner) -> tuple[Arrays, dict[str, Any]]:
    """The arrays of `learner`, and all else as values that JSON can hold."""
    arrays, classifier = classifier_to_arrays(learner.classifier)
    bucket, strategy, model = learner.bucket, learner.strategy, learner.strategy.inner.model
    manifest = {
        "kind": LEARNER_KIND,
        "classifier": classifier,
        "parameters": {
            **{name: getattr(bucket, name) for name in _BUCKET_PARAMETERS},
            **{name: getattr(learner, name) for name in _LEARNER_PARAMETERS},
            "error_feedback": strategy.context.error_feedback,
        },
        "criteria": [_describe_criterion(criterion) for criterion in strategy.criteria],
        "selection": _describe_selector(strategy.selector),
        "rows_unchanged": strategy.rows_unchanged(),
        "counts": bucket.facts(),
        "ledger": learner.ledger.facts(),
        "annotators": learner.annotators.facts(),
        "pending": [_describe_query(query) for query in learner.pending.values()],
        "retired": sorted(strategy.retired),
    }
    arrays |= prefixed("active.selector", strategy.selector.arrays())
    arrays |= prefixed("active.unlabelled", strategy.unlabelled.arrays(model.n_features))
    arrays |= prefixed("active.context", strategy.context.arrays(model))
    for number, query in learner.pending.items():
        arrays |= prefixed(f"active.pending.{number}", _query_arrays(query))
    return arrays, manifest


def _from_arrays(cls: type[L], arrays: Arrays, manifest: object, stages: Sequence[Any] = (), *, copy: bool = True) -> L:
    """The learner whose state is in `arrays` and `manifest`; EvolabelError if they are not those of one.

    Without `copy` the rules of its classifier are the `arrays` themselves.
    """
    stored = StoredFacts(manifest)
    own = part_of(arrays, "active")
    parameters = stored.part("parameters").only(*_BUCKET_PARAMETERS, *_LEARNER_PARAMETERS, "error_feedback")
    criteria = [_read_criterion(described) for described in stored.parts("criteria")]
    own_classifier = _without_own(arrays), stored.value("classifier"), stages
    learner = cls(
        classifier_from_arrays(EvolvingFuzzyClassifier, *own_classifier, copy=copy),
        criteria=criteria,
        selection=_read_selector(stored.part("selection")),
        annotators=AnnotatorPool.from_facts(stored.part("annotators")),
        **parameters,
    )
    strategy, bucket, model = learner.strategy, learner.bucket, learner.strategy.inner.model
    learner.bucket.restore(stored.part("counts"))
    learner.ledger = Ledger.from_facts(stored.part("ledger"))
    parts = {name: part_of(own, name) for name in _PARTS}
    check_names(own, [f"{part}.{name}" for part, group in parts.items() for name in group])
    with inside("active.selector"):
        strategy.selector.restore(parts["selector"], bucket.earning)
    with inside("active.unlabelled"):
        strategy.unlabelled.restore(parts["unlabelled"], model.n_features)
    strategy.restore(stored.whole("rows_unchanged", high=bucket.seen))
    with inside("active.context"):
        strategy.context.restore(parts["context"], model)
    strategy.retired = set(stored.texts("retired"))
    if not strategy.retired <= set(strategy.inner.label_names):
        raise stored.refuse("retired", "names of labels")
    with inside("active.pending"):
        learner.pending.update(_read_pending(stored, parts["pending"], learner))
    return learner


def _read_selector(described: StoredFacts) -> Selector:
    described.only("name", "parameters")
    if (name := described.value("name")) not in list(SELECTORS):
        raise described.refuse("name", f"one of {', '.join(SELECTORS)}")
    kind = SELECTORS[name]
    return kind(**described.part("parameters").only(*kind.parameters))


def _read_pending(stored: StoredFacts, arrays: Arrays, learner: StoredLearner) -> dict[int, Query]:
    """Pending questions, by number."""
    described = stored.parts("pending", learner.max_pending)
    numbers = [each.whole("number", 1, learner.bucket.seen) for each in described]
    if len(set(numbers)) < len(numbers):
        raise stored.refuse("pending", "questions of different numbers")
    parts = {number: part_of(arrays, str(number)) for number in numbers}
    check_names(arrays, [f"{number}.{name}" for number, group in parts.items() for name in group])
    return {number: _read_query(each, parts[number], learner) for number, each in zip(numbers, described, strict=True)}


def _describe_criterion(criterion: Criterion) -> dict[str, Any]:
    if CRITERIA.get(criterion.name) is not type(criterion):
        raise ModelWriteError(f"criterion {criterion.name!r} has no registered class; `register` it to save it")
    values = {item.name: getattr(criterion, item.name) for item in fields(criterion)}
    return {"name": criterion.name, "parameters": {k: v if v != np.inf else "inf" for k, v in values.items()}}


def _read_criterion(described: StoredFacts) -> Criterion:
    described.only("name", "parameters")
    if (name := described.value("name")) not in list(CRITERIA):
        raise DataError(f"criterion {name!r} is unknown here; `register` its class first")
    kind = CRITERIA[name]
    values = described.part("parameters").only(*(item.name for item in fields(kind)))
    return kind(**{name: value if value != "inf" else np.inf for name, value in values.items()})


def _describe_selector(selector: Selector) -> dict[str, Any]:
    if SELECTORS.get(selector.name) is not type(selector):
        raise ModelWriteError(f"selector {selector.name!r} has no registered class; add it to SELECTORS to save it")
    return {"name": selector.name, "parameters": {name: getattr(selector, name) for name in selector.parameters}}


def _describe_query(query: Query) -> dict[str, Any]:
    return {
        "number": query.number,
        "cost": query.cost,
        "reasons": list(query.reasons),
        "scores": list(query.scores),
        "unfamiliar": list(query.unfamiliar),
    }


def _query_arrays(query: Query) -> Arrays:
    """Arrays of a counted question; its `values` are not needed any more."""
    found = PENDING_ARRAYS.arrays_of(query) | DRAWN_LABELS.arrays_of(query)
    scores = {name: np.asarray(score) for name, score in query.scores.items()}
    return {name: array for name, array in found.items() if array is not None} | prefixed("scores", scores)


def _read_query(described: StoredFacts, arrays: Arrays, learner: StoredLearner) -> Query:
    """A pending question; DataError if its price is not that of the labels asked for."""
    described.only("number", "cost", "reasons", "scores", "unfamiliar")
    number, size, model = described.whole("number"), size_of(arrays, "labels"), learner.strategy.inner.model
    names, sizes = described.texts("scores"), stream_sizes(model.n_features, size)
    table = {f"scores.{name}": _expected_score(arrays.get(f"scores.{name}"), sizes) for name in names}
    table |= PENDING_ARRAYS.expected(sizes) | (DRAWN_LABELS.expected(sizes) if "drawn" in arrays else {})
    with inside(str(number)):
        check_arrays(arrays, table)
        check_samples("x", arrays["x"])
        require(size <= model.n_labels, "labels", f"at most {model.n_labels} labels")
    reasons = tuple(described.texts("reasons"))
    query = Query(
        arrays["x"],
        arrays["prediction"],
        arrays["labels"],
        reasons,
        {name: arrays[f"scores.{name}"] for name in names},
        described.whole("cost", 1),
        number=number,
        unfamiliar=tuple(described.texts("unfamiliar")),
        probabilities=arrays["probabilities"],
        drawn=arrays.get("drawn"),
        names=QueryNames(learner.strategy.inner.columns, learner.strategy.inner.label_names),
        label_reasons=(reasons,) * int(np.count_nonzero(arrays["labels"])),  # files do not keep which is for which
    )
    if not learner.strategy.could_have_made(model, query):
        raise described.refuse("cost", "the price of the labels that are asked for")
    return query


def _expected_score(stored: AnyArray | None, sizes: Sizes) -> Expected:
    """What the `stored` scores by one criterion must be, for these `sizes`: one score, or one per label."""
    is_single = stored is None or stored.ndim == 0
    return (SAMPLE_SCORE if is_single else LABEL_SCORES).expected(sizes)["criterion"]
