"""`ActiveLearner` to file and back: the classifier, what is counted, what filters remember, questions on their way."""

import os
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from evolabel.active.annotators import AnnotatorPool
from evolabel.active.criteria import CRITERIA, Criterion
from evolabel.active.filters import FILTERS, Filter
from evolabel.active.ledger import Ledger
from evolabel.active.named_arrays import part_of, prefixed
from evolabel.active.query import Arrival, Query
from evolabel.adapters.scikit_learn import EvolvingFuzzyClassifier
from evolabel.adapters.storage import put_classifier_together, take_classifier_apart
from evolabel.errors import EvolabelError, ModelFileError, ModelWriteError
from evolabel.kernels.state import Arrays
from evolabel.persistence.model_file import read_model_file, write_model_file
from evolabel.wording import with_article

if TYPE_CHECKING:
    from evolabel.active.learner import ActiveLearner

    L = TypeVar("L", bound=ActiveLearner)

KIND = "ActiveLearner"
COUNTS = ("seen", "asked", "earning")


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
        "counts": {name: getattr(bucket, name) for name in COUNTS},
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
    write_model_file(path, arrays, manifest)


def load_learner(cls: "type[L]", path: str | os.PathLike[str]) -> "L":
    """Read a learner written by `save_learner`."""
    arrays, manifest = read_model_file(path)
    if manifest.get("kind") != KIND:
        held = with_article(manifest.get("kind"))
        raise ModelFileError(f"{path} holds {held}, not an active learner; pass a file of its save()")
    unknown = [c["name"] for c in manifest.get("criteria", ()) if c["name"] not in CRITERIA]
    if unknown:
        raise ModelFileError(f"{path} uses criteria unknown here: {', '.join(unknown)}; `register` their classes first")
    try:
        return _put_together(cls, arrays, manifest)
    except (KeyError, TypeError, ValueError, EvolabelError) as error:
        raise ModelFileError(f"{path} does not describe a learner ({error!r}); restore it from a copy") from None


def _put_together(cls: "type[L]", arrays: Arrays, manifest: dict[str, Any]) -> "L":
    selection = manifest["selection"]
    learner = cls(
        put_classifier_together(EvolvingFuzzyClassifier, arrays, manifest["classifier"]),
        criteria=[_read_criterion(described) for described in manifest["criteria"]],
        selection=None if manifest["parameters"]["recent"] else FILTERS[selection["name"]](**selection["parameters"]),
        annotators=AnnotatorPool.from_facts(manifest["annotators"]),
        **{"echo": False, **manifest["parameters"]},  # older files know of none
    )
    for name in COUNTS:
        setattr(learner.bucket, name, int(manifest["counts"][name]))
    learner.ledger = Ledger.from_facts(manifest["ledger"])
    scout = learner._scout
    scout.chooser.restore(part_of(arrays, "active.filter"))
    scout.unlabelled.restore(part_of(arrays, "active.unlabelled"))
    scout.resume(int(manifest["rows_standing"]))
    scout.experience.restore(part_of(arrays, "active.experience"))
    if scout.recent is not None:
        scout.recent.restore(part_of(arrays, "active.recent"))
    for described in manifest["pending"]:
        number = described["number"]
        learner.pending[number] = _read_query(described, part_of(arrays, f"active.pending.{number}"))
    return learner


def _describe_criterion(criterion: Criterion) -> dict[str, Any]:
    if CRITERIA.get(criterion.name) is not type(criterion):
        raise ModelWriteError(f"criterion {criterion.name!r} is not known by name; `register` its class to save it")
    values = {item.name: getattr(criterion, item.name) for item in fields(criterion)}
    return {"name": criterion.name, "parameters": {k: v if v != np.inf else "inf" for k, v in values.items()}}


def _read_criterion(described: dict[str, Any]) -> Criterion:
    values = {name: value if value != "inf" else np.inf for name, value in described["parameters"].items()}
    return CRITERIA[described["name"]](**values)


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


def _read_query(described: dict[str, Any], arrays: Arrays) -> Query:
    return Query(
        arrays["x"],
        arrays["prediction"],
        arrays["labels"],
        tuple(described["reasons"]),
        {name: arrays[f"scores.{name}"] for name in described["scores"]},
        described["cost"],
        Arrival(arrays["x"], arrays["prediction"]),
        described["about"],
        described["number"],
    )
