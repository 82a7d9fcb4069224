"""`ActiveLearner` to file and back: the classifier, what is counted, what filters remember, questions on their way."""

import json
import os
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from evolabel._utils.text import with_article
from evolabel.active.answers.annotators import AnnotatorPool
from evolabel.active.answers.ledger import Ledger
from evolabel.active.query import Arrival, Query
from evolabel.active.scoring.criteria import CRITERIA, Criterion
from evolabel.active.selection import FILTERS, Filter
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.classifier.storage import (
    put_classifier_together,
    refusing_to_read,
    refusing_to_write,
    take_classifier_apart,
)
from evolabel.core.stored.array_checks import (
    check_arrays,
    check_names,
    check_samples,
    flags,
    floats,
    inside,
    require,
    size_of,
)
from evolabel.core.stored.fact_checks import StoredFacts
from evolabel.core.stored.named_arrays import part_of, prefixed
from evolabel.errors import DataError, ModelFileError, ModelWriteError
from evolabel.persistence.model_file import read_model_file, write_model_file
from evolabel.typing import Arrays

if TYPE_CHECKING:
    from evolabel.active.learner import ActiveLearner

    L = TypeVar("L", bound=ActiveLearner)

KIND = "ActiveLearner"
PARAMETERS = ("budget", "per", "credit", "burst", "min_labels", "max_pending", "mobility", "recent", "refine", "echo")


def save_learner(learner: "ActiveLearner", path: str | os.PathLike[str]) -> None:
    """Write a learner and its classifier."""
    arrays, classifier = take_classifier_apart(learner.classifier)
    bucket, scout = learner.bucket, learner._scout
    manifest = {
        "kind": KIND,
        "classifier": classifier,
        "parameters": {
            "budget": bucket.budget,
            "per": bucket.per,
            "credit": bucket.credit,
            "burst": bucket.burst,
            "min_labels": learner.min_labels,
            "max_pending": learner.max_pending,
            "mobility": learner._pupil.mobility,
            "recent": scout.recent.size if scout.recent is not None else 0,
            "refine": scout.unlabelled.refine,
            "echo": scout.experience.echoes,
        },
        "criteria": [_describe_criterion(criterion) for criterion in scout.criteria],
        "selection": _describe_filter(scout.chooser),
        "rows_standing": scout.rows_standing(),
        "counts": bucket.facts(),
        "ledger": learner.ledger.facts(),
        "annotators": learner.annotators.facts(),
        "pending": [_describe_query(query) for query in learner.pending.values()],
    }
    arrays |= prefixed("active.filter", scout.chooser.arrays())
    arrays |= prefixed("active.unlabelled", scout.unlabelled.arrays(learner.classifier.n_features_in_))
    arrays |= prefixed("active.experience", scout.experience.arrays())
    if scout.recent is not None:
        arrays |= prefixed("active.recent", scout.recent.arrays(learner.classifier.n_features_in_))
    for number, query in learner.pending.items():
        arrays |= prefixed(f"active.pending.{number}", _query_arrays(query))
    with refusing_to_write(path):
        _put_together(type(learner), arrays, json.loads(json.dumps(manifest, allow_nan=False)))
    write_model_file(path, arrays, manifest)


def load_learner(cls: "type[L]", path: str | os.PathLike[str]) -> "L":
    """Read a learner written by `save_learner`."""
    arrays, manifest = read_model_file(path)
    if manifest.get("kind") != KIND:
        held = with_article(manifest.get("kind"))
        raise ModelFileError(f"{path} holds {held}, not an active learner; pass a file of its save()")
    with refusing_to_read(path, "a learner"):
        return _put_together(cls, arrays, manifest)


def _put_together(cls: "type[L]", arrays: Arrays, manifest: object) -> "L":
    """The learner that was taken apart; EvolabelError if arrays or facts are not those of one."""
    stored = StoredFacts(manifest)
    own = part_of(arrays, "active")
    taught = {name: array for name, array in arrays.items() if not name.startswith("active.")}
    parameters, selection = stored.part("parameters").only(*PARAMETERS), stored.part("selection")
    criteria = [_read_criterion(described) for described in stored.parts("criteria")]
    learner = cls(
        put_classifier_together(EvolvingFuzzyClassifier, taught, stored.value("classifier")),
        criteria=criteria,
        selection=None if parameters["recent"] else _read_filter(selection),
        annotators=AnnotatorPool.from_facts(stored.part("annotators")),
        **parameters,
    )
    model = learner._pupil.model
    learner.bucket.restore(stored.part("counts"))
    learner.ledger = Ledger.from_facts(stored.part("ledger"))
    parts = {name: part_of(own, name) for name in ("filter", "unlabelled", "experience", "recent", "pending")}
    check_names(own, [f"{part}.{name}" for part, held in parts.items() for name in held])
    scout, bucket = learner._scout, learner.bucket
    with inside("active.filter"):
        scout.chooser.restore(parts["filter"], bucket.earning)
    with inside("active.unlabelled"):
        scout.unlabelled.restore(parts["unlabelled"], model.n_features)
    scout.resume(stored.whole("rows_standing", high=bucket.seen))
    with inside("active.experience"):
        scout.experience.restore(parts["experience"])
    with inside("active.recent"):
        if scout.recent is None:
            check_names(parts["recent"], ())
        else:
            scout.recent.restore(parts["recent"], model.n_features, bucket.seen)
    with inside("active.pending"):
        learner.pending = _read_pending(stored, parts["pending"], learner)
    return learner


def _read_filter(described: StoredFacts) -> Filter:
    described.only("name", "parameters")
    if (name := described.value("name")) not in list(FILTERS):
        raise described.refuse("name", f"one of {', '.join(FILTERS)}")
    kind = FILTERS[name]
    return kind(**described.part("parameters").only(*kind.parameters))


def _read_pending(stored: StoredFacts, arrays: Arrays, learner: "ActiveLearner") -> dict[int, Query]:
    """Questions on their way, by number."""
    described = stored.parts("pending", learner.max_pending)
    numbers = [each.whole("number", 1, learner.bucket.seen) for each in described]
    if len(set(numbers)) < len(numbers):
        raise stored.refuse("pending", "questions of different numbers")
    parts = {number: part_of(arrays, str(number)) for number in numbers}
    check_names(arrays, [f"{number}.{name}" for number, held in parts.items() for name in held])
    return {number: _read_query(each, parts[number], learner) for number, each in zip(numbers, described, strict=True)}


def _describe_criterion(criterion: Criterion) -> dict[str, Any]:
    if CRITERIA.get(criterion.name) is not type(criterion):
        raise ModelWriteError(f"criterion {criterion.name!r} is not known by name; `register` its class to save it")
    values = {item.name: getattr(criterion, item.name) for item in fields(criterion)}
    return {"name": criterion.name, "parameters": {k: v if v != np.inf else "inf" for k, v in values.items()}}


def _read_criterion(described: StoredFacts) -> Criterion:
    described.only("name", "parameters")
    if (name := described.value("name")) not in list(CRITERIA):
        raise DataError(f"criterion {name!r} is unknown here; `register` its class first")
    kind = CRITERIA[name]
    values = described.part("parameters").only(*(item.name for item in fields(kind)))
    return kind(**{name: value if value != "inf" else np.inf for name, value in values.items()})


def _describe_filter(chooser: Filter) -> dict[str, Any]:
    if FILTERS.get(chooser.name) is not type(chooser):
        raise ModelWriteError(f"filter {chooser.name!r} is not known by name; add its class to FILTERS to save it")
    return {"name": chooser.name, "parameters": {name: getattr(chooser, name) for name in chooser.parameters}}


def _describe_query(query: Query) -> dict[str, Any]:
    return {
        "number": query.number,
        "cost": query.cost,
        "about": query.about,
        "reasons": list(query.reasons),
        "scores": list(query.scores),
    }


def _query_arrays(query: Query) -> Arrays:
    """A question that is counted needs nothing of its arrival any more."""
    scores = {f"scores.{name}": np.asarray(score) for name, score in query.scores.items()}
    return {"x": query.x, "prediction": query.prediction, "labels": query.labels, **scores}


def _read_query(described: StoredFacts, arrays: Arrays, learner: "ActiveLearner") -> Query:
    """A question on its way: its price must be that of the labels asked for."""
    described.only("number", "cost", "about", "reasons", "scores")
    number, size, model = described.whole("number"), size_of(arrays, "labels"), learner._pupil.model
    names = described.texts("scores")
    table = {f"scores.{name}": floats(*_score_shape(arrays, name), low=0.0, high=np.inf) for name in names}
    table |= {"x": floats(model.n_features, missing=True), "prediction": floats(size), "labels": flags(size)}
    with inside(str(number)):
        check_arrays(arrays, table)
        check_samples("x", arrays["x"])
        require(size <= model.n_labels, "labels", f"at most {model.n_labels} labels")
    query = Query(
        arrays["x"],
        arrays["prediction"],
        arrays["labels"],
        tuple(described.texts("reasons")),
        {name: arrays[f"scores.{name}"] for name in names},
        described.whole("cost", 1),
        Arrival(arrays["x"], arrays["prediction"]),
        None if described.value("about") is None else described.whole("about", 1, number - 1),
        number,
    )
    if not learner._scout.could_have_made(query):
        raise described.refuse("cost", "the price of the labels that are asked for")
    return query


def _score_shape(arrays: Arrays, name: str) -> tuple[int, ...]:
    """One score, or one per label."""
    held = arrays.get(f"scores.{name}")
    return () if held is None or held.ndim == 0 else (size_of(arrays, "labels"),)
