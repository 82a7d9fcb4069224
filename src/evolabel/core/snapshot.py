"""A model taken apart into named arrays and plain facts, and put together again, bit for bit."""

from collections import deque
from dataclasses import asdict
from typing import Any

import numpy as np

from evolabel.core.allocation import fit_weights
from evolabel.core.echo import label_by_label
from evolabel.core.events import Event
from evolabel.core.lifecycle import PER_SLOT
from evolabel.core.model import LABEL_ARRAYS, StreamModel
from evolabel.core.options import Options
from evolabel.core.rule_base import RuleBase
from evolabel.core.rule_changes import EVENTS_KEPT
from evolabel.core.scaling import PER_FEATURE, Scaler
from evolabel.core.undo import Change, in_use
from evolabel.core.warm_up import PER_SAMPLE, WarmUp
from evolabel.core.words import Words
from evolabel.errors import DataError
from evolabel.kernels.state import RULES, AnyArray, Arrays, FloatArray

Facts = dict[str, Any]

OUTPUT_ARRAYS = ("seen", "on")
CHANGE_ARRAYS = ("slots", "tally", "after")


def take_apart(model: StreamModel) -> tuple[Arrays, Facts]:
    """All arrays by name, and all else as values that JSON can hold."""
    facts: Facts = {
        "options": asdict(model.options),
        "n_features": model.n_features,
        "n_labels": model.n_labels,
        "ridge": model.ridge.hex() if model.rules is not None else None,
        "local_ridge": model.local_ridge.hex() if model.rules is not None else None,
    }
    if model.warm_up is not None:
        buffer = model.warm_up
        facts["warm_up"] = {"filled": buffer.filled, "n_seen": buffer.n_seen, "in_order": buffer.in_order}
        return {f"warm_up.{name}": getattr(buffer, name)[: buffer.filled] for name in PER_SAMPLE}, facts
    rules, scaler = model.trained(), model.scaler
    assert scaler is not None
    used = slice(0, rules.n_rules + 1)
    arrays = {f"scaler.{name}": getattr(scaler, name) for name in PER_FEATURE}
    arrays |= {f"rules.{name}": getattr(rules.arrays, name)[used] for name in PER_SLOT}
    arrays |= {"rules.tally": rules.arrays.tally, "rules.strange": rules.arrays.strange}
    arrays |= {name: getattr(model, name) for name in LABEL_ARRAYS}
    if model.weighs_features:
        arrays["feature_weights"] = model.feature_weights
    if model.counts is not None:
        arrays |= {f"outputs.{name}": getattr(model.counts, name) for name in OUTPUT_ARRAYS}
    facts["limits"] = [float(scaler.low).hex(), float(scaler.high).hex()]
    facts["events"] = [list(event) for event in rules.events]
    facts["words"] = asdict(rules.words)
    facts["changes"] = []
    if rules.changes and rules.changes[-1].is_last(rules):  # else nothing can be undone
        for number, change in enumerate(rules.changes):
            arrays |= _change_apart(number, in_use(change), facts["changes"])
    return arrays, facts


def _change_apart(number: int, change: Change, facts: list[Facts]) -> Arrays:
    """Arrays of an act that can be undone; what else there is to it is appended to `facts`."""
    facts.append(
        {
            "words": asdict(change.words),
            "appended": change.appended,
            "dropped": [list(event) for event in change.dropped],
        }
    )
    arrays = {f"change.{number}.{name}": array for name, array in change.rows.items()}
    return arrays | {f"change.{number}.{name}": getattr(change, name) for name in CHANGE_ARRAYS}


def put_together(arrays: Arrays, facts: Facts) -> StreamModel:
    """The model that was taken apart."""
    model = StreamModel(facts["n_features"], facts["n_labels"], Options(**facts["options"]).check())
    if "warm_up" in facts:
        model.warm_up = _warm_up(model, arrays, facts["warm_up"])
        return model
    low, high = (float.fromhex(limit) for limit in facts["limits"])
    arrays.setdefault("scaler.binary", np.zeros(model.n_features, np.bool_))  # older files do not tell
    model.scaler = Scaler(**{name: arrays[f"scaler.{name}"] for name in PER_FEATURE}, low=low, high=high)
    for name in PER_FEATURE:
        array = getattr(model.scaler, name)
        _check_shape(name, array, (model.n_features, *array.shape[1:]))
    model.ridge = float.fromhex(facts["ridge"])
    stored = facts.get("local_ridge")  # older files know only the number their options give
    model.local_ridge = model.options.first_local_ridge if stored is None else float.fromhex(stored)
    model.feature_weights = np.ones(model.n_features)
    if model.weighs_features:
        model.feature_weights = arrays["feature_weights"]
        _check_shape("feature_weights", model.feature_weights, (model.n_features,))
    model.rules = _rule_base(model, arrays, facts)
    model.warm_up = None
    _restore_labels(model, arrays)
    if model.counts is not None:
        for name in OUTPUT_ARRAYS:
            room, stored = getattr(model.counts, name), arrays[f"outputs.{name}"]
            _check_shape(name, stored, room.shape)
            room[...] = stored
    return model


def _warm_up(model: StreamModel, arrays: Arrays, facts: Facts) -> WarmUp:
    buffer = WarmUp(model.n_features, model.n_labels, int(model.options.warm_up))
    buffer.filled, buffer.n_seen = facts["filled"], facts["n_seen"]
    buffer.in_order = facts.get("in_order", True)  # older files do not tell
    for name in PER_SAMPLE:
        getattr(buffer, name)[: buffer.filled] = arrays[f"warm_up.{name}"]
    return buffer


def _rule_base(model: StreamModel, arrays: Arrays, facts: Facts) -> RuleBase:
    rules = RuleBase(model.n_features, model.n_labels, model.settings())
    slots = int(arrays["rules.tally"][RULES]) + 1
    arrays.setdefault("rules.locked", np.zeros(slots, np.int64))  # files of schema 1 know no locks
    rules.reserve(slots - 1)
    rules.arrays.tally[RULES] = slots - 1
    rules.arrays.locked[:slots] = arrays["rules.locked"]
    rules.arrays = fit_weights(rules.arrays, rules.settings)
    for name in PER_SLOT:
        room, stored = getattr(rules.arrays, name)[:slots], arrays[f"rules.{name}"]
        _check_shape(name, stored, room.shape)
        room[...] = stored
    rules.arrays.tally[:] = arrays["rules.tally"]
    rules.arrays.strange[:] = arrays["rules.strange"]
    rules.events = deque((Event(*event) for event in facts["events"]), maxlen=EVENTS_KEPT)
    rules.words = _words(facts.get("words", {}))
    for number, stored in enumerate(facts.get("changes", [])):
        rules.changes.append(_change(number, stored, arrays, rules))
    return rules


def _words(stored: dict[str, dict[str, str]]) -> Words:
    """JSON has turned identities into text."""
    return Words(**{kind: {int(rule): text for rule, text in told.items()} for kind, told in stored.items()})


def _change(number: int, stored: Facts, arrays: Arrays, rules: RuleBase) -> Change:
    """An act that can be undone."""
    parts = {name: arrays[f"change.{number}.{name}"] for name in (*PER_SLOT, *CHANGE_ARRAYS)}
    slots, before = parts["slots"], int(parts["tally"][RULES])
    given_up = range(int(parts["after"][RULES]) + 1, before + 1)
    if not set(given_up) <= set(slots.tolist()) <= set(range(before + 1)):
        raise DataError(f"an act has changed slots {slots.tolist()} of {before}")
    for name in PER_SLOT:
        if name != "W":  # comes and goes with locks
            _check_shape(name, parts[name], (len(slots), *getattr(rules.arrays, name).shape[1:]))
    return Change(
        rows={name: parts[name] for name in PER_SLOT},
        slots=slots,
        tally=parts["tally"],
        after=parts["after"],
        words=_words(stored["words"]),
        appended=stored["appended"],
        dropped=[Event(*event) for event in stored["dropped"]],
    )


def _check_shape(name: str, array: AnyArray, shape: tuple[int, ...]) -> None:
    """Kernels do not look at bounds, so a file must not be able to lead them beyond."""
    if array.shape != shape:
        raise DataError(f"array {name} has shape {array.shape}, expected {shape}")


def _restore_labels(model: StreamModel, arrays: Arrays) -> None:
    """What is known of the labels besides what rules tell; older files tell less, and count all labels alike."""
    model.annotated = np.array(arrays.get("annotated", np.ones(model.n_labels)), np.float64)
    size = len(model.annotated)
    model.carried = np.array(arrays.get("carried", 0.5 * model.annotated), np.float64)
    model.echo_evidence = label_by_label(arrays.get("echo_evidence", np.zeros((2, 5, size))), size)
    model.answers = np.array(arrays["answers"], np.float64) if "answers" in arrays else _supposed_answers(model)
    _check_shape("annotated", model.annotated[: model.n_labels], model.annotated.shape)
    _check_shape("carried", model.carried, (size,))
    _check_shape("echo_evidence", model.echo_evidence, (2, 5, size))
    _check_shape("answers", model.answers, (model.n_labels,))
    for name in LABEL_ARRAYS:
        if not np.isfinite(getattr(model, name)).all():
            raise DataError(f"{name} is not finite")


def _supposed_answers(model: StreamModel) -> FloatArray:
    """Labels annotated in the initial batch are taken to be so ever since."""
    most = model.annotated.max(initial=0.0)
    since = model.annotated * (model.n_seen / most if most else 1.0)
    return np.pad(since, (0, max(model.n_labels - len(since), 0)))
