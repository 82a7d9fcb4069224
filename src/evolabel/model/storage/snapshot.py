"""A model as named arrays and plain facts for a file, and back, bit for bit."""

from collections import deque
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from evolabel.core.events import (
    RuleNames,
)
from evolabel.core.options import Options, option_names
from evolabel.core.schema import stream_sizes
from evolabel.core.stored_checks import (
    StoredFacts,
    check_arrays,
    check_names,
    inside,
    part_of,
    prefixed,
    require,
)
from evolabel.errors import DataError
from evolabel.model.pipeline import BEHIND, stages_behind, start_stages
from evolabel.model.seen_ranges import SEEN_ARRAYS
from evolabel.model.storage.read_edits import (
    CHANGE_ARRAYS,
    check_rule_numbers,
    read_edits,
    read_events,
    read_rule_names,
    rule_checks,
)
from evolabel.model.stream_model import StreamModel
from evolabel.model.warm_up import WARM_UP_ARRAYS, check_warm_up
from evolabel.stages.answered_forest.stage import forest_of
from evolabel.stages.feedback.stage import ErrorFeedback
from evolabel.stages.own.stage import check_given
from evolabel.stages.rules.file_checks import check_settings
from evolabel.stages.rules.stage import EVENTS_KEPT, RuleBase
from evolabel.stages.scaling.arrays import SCALER_ARRAYS
from evolabel.stages.scaling.stage import restored_scaler
from evolabel.stages.written_rules.edits.journal import Former, current_entries
from evolabel.typing import Arrays

Facts = dict[str, Any]

_GROUPS = ("sensors", "scaler", "rules", "members", *BEHIND, "change")
MOST_COLUMNS = 1_000_000  # features or labels of a stored model


def model_to_arrays(model: StreamModel) -> tuple[Arrays, Facts]:
    """Return all arrays of `model` by name, and all else as values that JSON can hold."""
    facts: Facts = {
        "options": asdict(model.options),
        "n_features": model.n_features,
        "n_labels": model.n_labels,
        "exclusive": model.exclusive,
        "ridge": model.ridge.hex() if model.rules is not None else None,
        "local_ridge": model.local_ridge.hex() if model.rules is not None else None,
    }
    if model.own_stages:
        facts["stages"] = [stage.facts() for stage in model.own_stages]
    if model.warm_up is not None:
        buffer = model.warm_up
        facts["warm_up"] = {name: getattr(buffer, name) for name in ("filled", "n_seen", "passed", "in_order")}
        kept = {name: array[: buffer.filled] for name, array in WARM_UP_ARRAYS.arrays_of(buffer).items()}
        return prefixed("warm_up", kept), facts
    rules, scaler = model.trained(), model.scaler
    assert scaler is not None
    used = slice(0, rules.n_rules + 1)
    arrays = prefixed("scaler", SCALER_ARRAYS.arrays_of(scaler)) | SEEN_ARRAYS.arrays_of(model)
    arrays |= {f"rules.{name}": array[used] for name, array in rules.by_slot.items()}
    arrays |= {"rules.counters": rules.arrays.counters, "rules.winner_stats": rules.arrays.winner_stats}
    arrays |= prefixed("sensors", model.sensors.stored()) | prefixed("members", model.drift.stored())
    for prefix, stage in stages_behind(model).items():
        arrays |= prefixed(prefix, stage.stored())
    facts["events"] = [list(event) for event in rules.events]
    facts["rule_names"] = _names_to_facts(rules.rule_names)
    facts["changes"] = []
    for number, entry in enumerate(current_entries(model)):
        assert entry.former is not None
        arrays |= _change_to_arrays(number, entry.former, facts["changes"])
    return arrays, facts


def _change_to_arrays(number: int, change: Former, facts: list[Facts]) -> Arrays:
    """Return the arrays of an edit that can be undone; all else about it is appended to `facts`."""
    facts.append(
        {
            "rule_names": _names_to_facts(change.rule_names),
            "appended": change.appended,
            "dropped": [list(event) for event in change.dropped],
            "written": change.written is not None,
        }
    )
    arrays = {f"change.{number}.{name}": array for name, array in change.rows.items()}
    if change.written is not None:
        arrays |= {f"change.{number}.written.{name}": array for name, array in change.written._asdict().items()}
    return arrays | {f"change.{number}.{name}": getattr(change, name) for name in CHANGE_ARRAYS}


def model_from_arrays(
    arrays: Arrays,
    facts: object,
    feedback: ErrorFeedback | None = None,
    *,
    model_class: type[StreamModel] = StreamModel,
    options_class: type[Options] = Options,
    stages: Sequence[Any] = (),
    copy: bool = True,
) -> StreamModel:
    """Return the model of these `arrays` and `facts`, with its `feedback`; DataError if they are not those of one.

    It is a `model_class` with options of `options_class` and stages of these prototypes. Without `copy` its rules are
    the `arrays` themselves, which saves memory where the model is only checked.
    """
    stored = StoredFacts(facts, "model")
    options = read_options(stored.part("options"), options_class)
    if stages or "stages" in stored:
        check_given(stored.value("stages") if "stages" in stored else [], stages)
    n_features, n_labels = stored.whole("n_features", high=MOST_COLUMNS), stored.whole("n_labels", high=MOST_COLUMNS)
    if "warm_up" in stored:
        kind: Facts = {"exclusive": stored.flag("exclusive"), "stages": stages}
        model = model_class(n_features, n_labels, options, feedback=feedback, **kind)
        _fill_buffer(model, arrays, stored.part("warm_up"))
        return model
    parts = _parts(arrays, options)
    with inside("scaler"):
        scaler = restored_scaler(parts["scaler"], n_features, options.scaling)
    check_arrays(parts["rest"], SEEN_ARRAYS.expected(stream_sizes(n_features, n_labels)))
    if n_features == 0 or n_labels == 0:
        raise DataError(f"a trained model has {n_features} features and {n_labels} labels, expected 1 or more of each")
    kind = {"warming": False, "exclusive": stored.flag("exclusive"), "stages": stages}
    model = model_class(n_features, n_labels, options, **kind, feedback=feedback)
    model.scaler = scaler
    model.ridge, model.local_ridge = stored.positive("ridge"), stored.positive("local_ridge")
    rules = _rule_base(model, parts, stored, copy=copy)
    _restore_stages(model, parts)
    check_rule_numbers(model, model.written.arrays, rules.arrays.counters)
    if model.trees is not None:
        model.drift.follow([], model.trees.drifting)
    texts = rules.rule_names.texts
    require(all(int(n) in texts for n in model.written.arrays.number), "written.number", "rules with a text")
    with inside("change"):
        model.journal.extend(read_edits(rules, parts["change"], stored, model))
    vars(model).update(SEEN_ARRAYS.copies(parts["rest"]))
    return model


def _restore_stages(model: StreamModel, parts: dict[str, Arrays]) -> None:
    """Set the stages of `model` behind rules and drift to those in `parts`.

    Without arrays there is no first tree, because it is over, and no forest of answered rows.
    """
    start_stages(model)
    if not parts["first_tree"]:
        model.first_tree = None
    if parts["answered_forest"]:
        model.answers_are_few, model.forest = True, forest_of(model.trees)
    stages = stages_behind(model)
    with inside("stages"):
        new = [each.name for each in model.own_stages if each.is_built_in and not part_of(parts["stages"], each.name)]
        own = [each for each in model.own_stages if each.name not in new]
        check_names(parts["stages"], [f"{stage.name}.{name}" for stage in own for name in stage.schema.stored])
    for prefix in BEHIND:
        if parts[prefix] and prefix != "stages" and prefix not in stages:
            raise DataError(f"arrays of {prefix.replace('_', ' ')} are not expected here")
    for prefix, stage in stages.items():
        group, _, name = prefix.partition(".")
        if name not in new:
            with inside(group):
                stage.restore(part_of(parts[group], name) if name else parts[group])
    if model.forest is not None:  # an older file has no covariances of errors
        model.drift.relate(model.forest.trees.errors())


def read_options(stored: StoredFacts, options_class: type[Options]) -> Options:
    """Return the options of a model from `stored`, as `options_class`, all of them and in range."""
    options = stored.only(*option_names(options_class))
    return options_class(**{**options, "class_weight": read_weights(options["class_weight"])}).check()


def read_weights(stored: object) -> Any:
    """Return the parameter `class_weight` from `stored`: a list of pairs of name and weight, or anything else as is."""
    return dict(stored) if isinstance(stored, list) else stored


def _parts(arrays: Arrays, options: Options) -> dict[str, Arrays]:
    """The arrays of a trained model by group; DataError for one that belongs to none."""
    groups = {name: part_of(arrays, name) for name in _GROUPS}
    rest = {name: array for name, array in arrays.items() if name.partition(".")[0] not in groups or "." not in name}
    if groups["members"] and not options.follow_drift:
        raise DataError("arrays of members are not expected here")
    return {**groups, "rest": rest}


def _fill_buffer(model: StreamModel, arrays: Arrays, stored: StoredFacts) -> None:
    """Fill the buffer of a model that still collects samples."""
    filled, n_seen = stored.whole("filled", high=int(model.options.warm_up) - 1), stored.whole("n_seen")
    kept, buffer = part_of(arrays, "warm_up"), model.warm_up
    check_names(arrays, prefixed("warm_up", kept))
    with inside("warm_up"):
        check_warm_up(kept, filled, model.n_features, model.n_labels, n_seen)
    assert buffer is not None
    buffer.filled, buffer.n_seen = filled, n_seen
    buffer.passed, buffer.in_order = stored.whole("passed"), stored.flag("in_order")
    for name, array in WARM_UP_ARRAYS.arrays_of(buffer).items():
        array[:filled] = kept[name]


def _rule_base(model: StreamModel, parts: dict[str, Arrays], stored: StoredFacts, *, copy: bool) -> RuleBase:
    settings, arrays = model.settings(), parts["rules"]
    check_settings(settings)
    with inside("rules"):
        rule_checks(model, settings).check(arrays, model.options)
    assert model.scaler is not None
    rules = model.start_rules(model.scaler, settings, None if copy else _views(arrays))
    if copy:
        rules.contents.restore(arrays)
    with inside("members"):
        model.drift.restore(parts["members"])
    with inside("sensors"):
        model.sensors.restore(parts["sensors"], model.drift.n_rows or 0)
    rules.events = deque(read_events(stored, "events", EVENTS_KEPT), maxlen=EVENTS_KEPT)
    rules.rule_names = read_rule_names(stored.part("rule_names"))
    return rules


def _views(arrays: Arrays) -> Arrays:
    """Return read-only views of `arrays`."""
    views = {name: array.view() for name, array in arrays.items()}
    for view in views.values():
        view.flags.writeable = False
    return views


def _names_to_facts(names: RuleNames) -> Facts:
    """Return `names` as a file holds them."""
    return {"names": names.names, "written": names.texts}
