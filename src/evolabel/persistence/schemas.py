"""The schemas of model files: what each number stands for, and how a file of an older one is brought to the present.

The number rises whenever the names, the shapes or the meaning of arrays or facts change; `tests/persistence/files`
lists those of the present one and keeps files of each. Steps never call code that may change, so their numbers are
written out.

| schema | arrays and facts                                                                                           |
|--------|------------------------------------------------------------------------------------------------------------|
| 1      | development versions of 0.1.0; arrays were added while the number stayed                                   |
| 2      | with `members.reversal`, `thresholds.against`, 19 rows of `members.readings`, 10 numbers of every alarm    |
| 3      | two kinds of classifiers: parameters and arrays of the paper's formulas are `PaperClassifier`'s alone      |
| 4      | with `members.time`, `members.persistence`, `thresholds.persistence`, 4 numbers of `members.paired`, 11 of |
|        | `members.trial`                                                                                            |
| 5      | views, readings, phase and trial are arrays of `sensors`, not of `members`; with the parameter `memory`,   |
|        | `last_answers`, `following`, `members.positives`, `members.held`, `thresholds.positives`,                  |
|        | `thresholds.before`, and 14 numbers of `sensors.trial`                                                     |
| 6      | with `answered_forest.news`                                                                                |
"""

import re
from collections.abc import Callable
from pkgutil import resolve_name
from typing import Any, NamedTuple

import numpy as np

from evolabel import __version__
from evolabel.errors import ModelFileError
from evolabel.typing import Arrays, FloatArray

SCHEMA = 6

_VERSION = re.compile(r"\d[\w.+-]{0,40}", re.ASCII)
_CHECKOUTS = "0.1.0"  # what every checkout before 0.2.0 called itself
_USUAL_MEAN, _USUAL_VARIANCE = 2, 3  # rows of `members.readings` in schema 1


class Step(NamedTuple):
    """`upgrade` changes arrays and manifest of one schema to those of the next; `last_reader` reads the others."""

    upgrade: Callable[[Arrays, dict[str, Any]], None]
    last_reader: str


def bring_to_present(arrays: Arrays, manifest: dict[str, Any]) -> None:
    """Change `arrays` and `manifest` of an older schema to those of the present one; what they lack starts anew."""
    for schema in range(manifest["schema"], SCHEMA):
        STEPS[schema].upgrade(arrays, manifest)


def check_schema(manifest: dict[str, Any], name: object) -> None:
    """Raise ModelFileError, which has the `name` of the file, if no step leads from the schema of `manifest`."""
    schema = manifest["schema"]
    if schema > SCHEMA:
        raise ModelFileError(
            f"{name} has schema {schema}, and evolabel {__version__} reads schemas up to {SCHEMA}; "
            f"upgrade to {_writer(manifest) or 'the version that wrote it'}"
        )
    if schema != SCHEMA and schema not in STEPS:
        raise ModelFileError(f"{name} has schema {schema}, expected 1 to {SCHEMA}; restore it from a copy")


def remedy(manifest: dict[str, Any]) -> str:
    """Return what to do with a file of this `manifest` whose contents cannot be used."""
    schema = manifest["schema"]
    if schema == SCHEMA:
        return "restore it from a copy"
    reader = _writer(manifest) or STEPS[schema].last_reader
    return f"it has schema {schema}, this version writes schema {SCHEMA}; load it with {reader}, or fit the model anew"


def _writer(manifest: dict[str, Any]) -> str | None:
    """Return the version that wrote `manifest`, in words; None if its number names no other release."""
    version = manifest.get("evolabel")
    known = isinstance(version, str) and version not in (__version__, _CHECKOUTS) and _VERSION.fullmatch(version)
    return f"evolabel {version}" if known else None


def _to_second(arrays: Arrays, manifest: dict[str, Any]) -> None:
    """Add what development versions did not have yet: evidence of reversed labels, and ranges of usual places."""
    if "members.W" in arrays:
        K = len(arrays["members.W"])
        arrays["members.reversal"] = _padded(arrays.get("members.reversal", np.zeros((0, K))), 0, 4)
        arrays["members.readings"] = _with_usual_range(arrays["members.readings"])
        arrays["members.alarms"] = _padded(arrays["members.alarms"], 2, 10)
    if "thresholds.gate" in arrays:
        arrays.setdefault("thresholds.against", np.zeros(len(arrays["thresholds.gate"])))
        arrays["thresholds.alarms"] = _padded(arrays["thresholds.alarms"], 1, 10)
    if manifest.get("kind") == "ActiveLearner":
        manifest.setdefault("retired", [])
        manifest = manifest["classifier"]
    if manifest.get("columns") is not None:  # there were no columns of timestamps and flags
        manifest["columns"] = {"origins": {}, "flags": [], **manifest["columns"]}
    if "warm_up" in manifest["model"]:
        manifest["model"]["warm_up"].setdefault("passed", 0)


def _to_third(arrays: Arrays, manifest: dict[str, Any]) -> None:
    """Give each classifier the kind that has its parameters; that of `PaperClassifier` is with its package."""
    resolve_name("evolabel.paper.old_files:to_third")(arrays, manifest)


def _to_fourth(arrays: Arrays, _: dict[str, Any]) -> None:
    """Add the counts of changes between answers, of which none has been seen: an answer counts for one."""
    if "members.W" in arrays:
        arrays.setdefault("members.time", np.array([0.0, 1.0, 1.0]))
        arrays.setdefault("members.persistence", np.zeros((len(arrays["members.W"]), 5)))
        if len(arrays["members.paired"]) == 3:
            arrays["members.paired"] = np.append(arrays["members.paired"], arrays["members.paired"][0])
        arrays["members.trial"] = _padded(arrays["members.trial"], 0, 11)
    if "thresholds.gate" in arrays:
        arrays.setdefault("thresholds.persistence", np.zeros((len(arrays["thresholds.gate"]), 5)))


def _to_fifth(arrays: Arrays, manifest: dict[str, Any]) -> None:
    """Give the sensors arrays of their own, and add last answers and alarms on positives that have seen nothing."""
    for name in ("views", "readings", "phase", "trial"):
        if f"members.{name}" in arrays:
            arrays[f"sensors.{name}"] = arrays.pop(f"members.{name}")
    if "sensors.trial" in arrays:
        arrays["sensors.trial"] = _padded(arrays["sensors.trial"], 0, 14)
    for name, like in (("members.held", "members.n_losses"), ("thresholds.before", "thresholds.since")):
        if like in arrays:
            arrays.setdefault(name, np.zeros(len(arrays[like]), np.int64))
    for part, labelled in (("members", "n_losses"), ("thresholds", "against")):
        if f"{part}.{labelled}" in arrays:
            arrays.setdefault(f"{part}.positives", np.zeros((len(arrays[f"{part}.{labelled}"]), 9)))
        if f"{part}.persistence" in arrays:
            arrays[f"{part}.persistence"] = _padded(arrays[f"{part}.persistence"], 1, 8)
    classifier = manifest["classifier"] if manifest.get("kind") == "ActiveLearner" else manifest
    if classifier.get("kind") != "EvolvingFuzzyClassifier":
        return
    for each in (classifier["parameters"], classifier["model"]["options"]):
        each.setdefault("memory", "answers")
    for name in [name for name in arrays if name.startswith(("calibration.", "decisions."))]:
        arrays.setdefault(f"following.{name}", arrays[name])
    if {"n_answers", "ranges"} <= set(arrays):
        for name, array in _no_last_answers(len(arrays["n_answers"]), arrays["ranges"].shape[2]).items():
            arrays.setdefault(name, array)


def _to_sixth(arrays: Arrays, _: dict[str, Any]) -> None:
    """Add the errors of answers since a forest was fitted, of which none has been counted."""
    if "answered_forest.clock" in arrays:
        arrays.setdefault("answered_forest.news", np.zeros(len(arrays["answered_forest.clock"])))


def _no_last_answers(K: int, p: int) -> Arrays:
    """Return the arrays of last answers to K labels in rows of p features, of which none has come yet."""
    return {
        "last_answers.row": np.zeros(1, np.int64),
        "last_answers.W": np.zeros((K, p + 1)),
        "last_answers.mean": np.zeros(p),
        "last_answers.variance": np.zeros(p),
        "last_answers.n_read": np.zeros(p),
        "last_answers.quick_losses": np.full((2, K), 0.1),
        "last_answers.n_losses": np.zeros(K),
        "last_answers.at": np.full((K, 4), -4),
        "last_answers.answers": np.zeros((K, 4)),
        "last_answers.residuals": np.zeros((K, 4, 3)),
        "last_answers.evidence": np.zeros((K, 3, 2)),
        "last_answers.shared_evidence": np.zeros((3, 2)),
        "last_answers.slopes": np.zeros((K, 3, 3)),
        "last_answers.counts": np.zeros((K, 3, 2, 2)),
        "last_answers.shared_counts": np.zeros((3, 2, 2)),
        "last_answers.losses": np.full((3, 3, K), 0.1),
        "last_answers.n_evidence": np.zeros((3, K)),
    }


def _padded(array: FloatArray, axis: int, size: int) -> FloatArray:
    """Return `array` with zeros behind it along `axis`, up to `size` entries."""
    widths = [(0, 0)] * array.ndim
    widths[axis] = 0, max(0, size - array.shape[axis])
    return np.pad(array, widths)


def _with_usual_range(readings: FloatArray) -> FloatArray:
    """Return `readings` with the range of usual places: the first one, mean 0 and variance 1, and the last one.

    The range since a feature was suspect is that of its present place.
    """
    if len(readings) != 11:
        return readings
    mean, variance, usual, spread = readings[0], readings[1], readings[_USUAL_MEAN], readings[_USUAL_VARIANCE]
    means = [np.minimum(usual, 0.0), np.maximum(usual, 0.0)]
    variances = [np.minimum(spread, 1.0), np.maximum(spread, 1.0)]
    return np.vstack([readings, *means, *variances, mean, mean, variance, variance])


STEPS = {
    1: Step(_to_second, "the development version of 17 November 2026 or before that wrote it"),
    2: Step(_to_third, "the development version of 19 November 2026 or before that wrote it"),
    3: Step(_to_fourth, "the development version of 19 November 2026 or before that wrote it"),
    4: Step(_to_fifth, "the development version of 19 November 2026 or before that wrote it"),
    5: Step(_to_sixth, "the development version of 19 November 2026 or before that wrote it"),
}
"""By the number of an older schema: the step to the next one."""
