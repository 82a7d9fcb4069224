"""The order of the stages, and the two ways through them: rows are answered, or answered and then learned.

| stage           | class            | what it does with a row                                        |
|-----------------|------------------|----------------------------------------------------------------|
| sensors         | `Sensors`        | corrects readings of sensors that have moved                   |
| scaling         | `Scaler`         | scales what was read                                           |
| rules           | `RuleBase`       | answers by the rules near the row                              |
| drift           | `Drift`          | mixes the answers of members that follow the stream with it    |
| threshold_rules | `ThresholdRules` | replaces outputs by those of a tree per label                  |
| first_tree      | `FirstTree`      | mixes the answers of a small tree with them, for the first rows |
| answered_forest | `AnsweredForest` | mixes the answers of a forest with them, where answers are few |
| `FURTHER`, own  | `CheckedStage`   | change outputs: built-in stages of `FURTHER`, those of a user  |
| last_answers    | `LastAnswers`    | changes outputs of the rows right after the last learned ones  |
| written_rules   | `WrittenRules`   | replaces outputs where a rule of a person answers              |
| calibration     | `Calibration`    | makes probabilities of the outputs                             |
| decisions       | `Decisions`      | makes labels of both                                           |

A stage that is switched off is absent. The first four learn row by row in one compiled loop, `learn_rows`, which
repeats their order, as `answer_few` does; the refiners behind them learn pieces of rows from the outputs before each
row; the last two read final outputs and change none. Where drift is not followed, `stages.rules.loops.learn` has the
loop.

A row has two outputs where there is a memory of the last answers: the plain one, by which all stages learn, and the one
that follows the last answers. `Following` has a calibration and decisions of its own for the latter.

Arguments of the compiled loops, beside those of `stages.rules.loops.answer`:

| symbol | array  | meaning                                                                             |
|--------|--------|-------------------------------------------------------------------------------------|
| X      | (n, p) | raw rows                                                                            |
| read   | (n, p) | receives X with the readings of sensors that moved corrected; not without `members` |
| f      | (n, K) | receives the outputs                                                                |
| Z, fast, V |    | scratch: scaled rows, (n, p), outputs of the fast member, (n, K), and V of `answer_rows` |
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pkgutil import resolve_name
from typing import Any

import numpy as np

from evolabel._utils.rollback import arrays_behind
from evolabel.core.events import EventLog
from evolabel.core.rows import FOLLOWS_NOTHING, Batch, Rows, check_rows
from evolabel.core.stage import LearningStage, Stage, StagePart, in_use, read_only
from evolabel.engine.compile import direct, direct_by_profile, kernel
from evolabel.model.protocols import FewAnswers, Model
from evolabel.model.readers import Following
from evolabel.stages.answered_forest.stage import forest_of
from evolabel.stages.drift.arrays import BORN, FINAL, NEVER, ROW_PACE, Members
from evolabel.stages.drift.loops.follow import (
    answer_members,
    count_present_row,
    has_shifted,
    learn_members,
    learn_sensors,
    read_and_scale,
)
from evolabel.stages.drift.loops.members import mix_rows
from evolabel.stages.drift.loops.relatives import expect_errors
from evolabel.stages.drift.stage import Drift
from evolabel.stages.first_tree.stage import first_tree_of
from evolabel.stages.last_answers.stage import LastAnswers
from evolabel.stages.own.stage import checked_prototypes
from evolabel.stages.rules.arrays import CHANGED, DONE, NOVEL, RULES, SEEN, State
from evolabel.stages.rules.loops.answer import answer_rows
from evolabel.stages.rules.loops.antecedents import is_novel, nearest, reason_after, rule_memberships, update_winner
from evolabel.stages.rules.loops.consequents import confidence_of_row, fill_products, learn_consequents, project
from evolabel.stages.rules.weights import (
    MANY_ROWS,
    NO_MOMENTS,
    NO_VARIANCES,
    NO_WEIGHTS,
    Moments,
    VarianceTerms,
    weights_of_all,
)
from evolabel.stages.scaling.loops import Knots, scale_rows
from evolabel.stages.sensors.loops import correct_rows
from evolabel.stages.threshold_rules.arrays import Trees
from evolabel.stages.threshold_rules.loops.answer import refine_rows
from evolabel.stages.threshold_rules.stage import ThresholdRules
from evolabel.stages.written_rules.stage import WrittenRules
from evolabel.typing import FloatArray, IntArray

FURTHER: tuple[str, ...] = (
    # A further built-in stage, a class derived from `core.stage.OwnStage`: "evolabel.stages.FOLDER.stage:CLASS",
)

BEHIND = {
    "thresholds": "trees",
    "first_tree": "first_tree",
    "answered_forest": "forest",
    "stages": "own_stages",
    "last_answers": "memory",
    "written": "written",
    "calibration": "calibration",
    "decisions": "decisions",
    "following": "following",
}
"""Stages behind rules and drift, in their order: the prefix of their arrays in files, the attribute of a model."""

_READERS = ("calibration", "decisions", "following")  # of them, those that read final outputs, and no features

TAKEN = ("sensors", "scaling", "rules", "drift", "threshold_rules", "written_rules", "feedback", *BEHIND)
"""Names that no stage of a user can have."""


def stages_behind(model: Model) -> dict[str, Any]:
    """Return the stages of `model` behind rules and drift, in their order, by the prefix of their arrays in files."""
    stages: dict[str, Any] = {}
    for prefix, attribute in BEHIND.items():
        found = getattr(model, attribute)
        if attribute == "own_stages":
            stages |= {f"{prefix}.{stage.name}": stage for stage in found}
        elif found is not None:
            stages[prefix] = found
    return stages


def first_stages(model: Model) -> tuple[Stage, ...]:
    """Return the stages of `model` up to the outputs of rules and members, in their order."""
    assert model.scaler is not None
    return model.sensors, model.scaler, model.trained(), model.drift


def refiners(model: Model) -> list[LearningStage]:
    """Return the stages of `model` that refine these outputs, in their order."""
    trees: tuple[LearningStage | None, ...] = model.trees, model.first_tree, model.forest
    found = [each for each in trees if each is not None]
    found += model.own_stages
    if model.memory is not None:
        found.append(model.memory)
    return [*found, model.written] if _has_written(model) else found


def _has_written(model: Model) -> bool:
    """Return whether `model` has written rules."""
    return len(model.written.arrays.number) > 0


@kernel
def answer_few(
    state: State,
    members: Members | None,
    trees: Trees | None,
    knots: Knots,
    W: FloatArray,
    moments: tuple[FloatArray, FloatArray, IntArray],
    terms: tuple[FloatArray, FloatArray, FloatArray],
    scratch: tuple[FloatArray, FloatArray, FloatArray],
    X: FloatArray,
    read: FloatArray,
    f: FloatArray,
    psi: FloatArray,
    D: FloatArray,
) -> None:
    """Fill f, psi and D for few raw rows X, scaled by `knots`, and the `terms` q, s and t unless they are empty.

    `moments` are M, pending_M and n_pending, `scratch` Z, fast and V.
    """
    M, pending_M, n_pending = moments
    q, s, t = terms
    Z, fast, V = scratch
    rows = X
    if members is not None:
        correct_rows(members.sensors, X, read)
        rows = read
    scale_rows(knots, rows, Z)
    formed = W.shape[0] > 0
    if members is not None and not formed and members.arrays.clock[BORN] != NEVER:
        answer_rows(members.fast, Z, W, (M, pending_M, n_pending), (fast, psi, D), (q[:0], s, t), V)
    answer_rows(state, Z, W, (M, pending_M, n_pending), (f, psi, D), (q, s, t), V)
    if members is not None:
        mix_rows(members, rows, fast, formed, f)
    if trees is not None:
        refine_rows(trees, rows, f)


@kernel
def learn_rows(
    state: State,
    members: Members,
    X: FloatArray,
    Z: FloatArray,
    read: FloatArray,
    Y: FloatArray,
    weights: FloatArray,
    confidences: FloatArray,
    antecedent_rate: float,
    structure: bool,
    consequents: bool,
    created_first: bool,
    out: FloatArray,
) -> tuple[int, int]:
    """Learn the rows X by the rules and by the `members` beside them; return how many are done, and why it stopped.

    In a stream Z is filled from X, as sensors may be corrected; `read`, if it has rows, receives the rows with sensors
    corrected. Only a stream, where `structure` and `consequents` are learned, is watched for drift. CHANGED is returned
    after a row that has shown a drift, or after which the members have to change. All else is as in
    `stages.rules.loops.learn.learn_alone`.
    """
    rules, settings, work = state.rules, state.settings, state.work
    given = work.confidence[:0]
    p = Z.shape[1]
    for i in range(Z.shape[0]):
        created = created_first and i == 0
        weight = weights[i] if weights.shape[0] > 0 else 1.0
        if confidences.shape[0] > 0:
            given = confidences[i]
        if consequents and not created:
            if structure:
                read_and_scale(X[i], state, members, Z[i])
                for j in range(read.shape[1]):
                    read[i, j] = members.sensors.x[j]
            else:
                for j in range(p):
                    members.sensors.x[j] = X[i, j]
        share = confidence_of_row(Y[i], given, work.confidence)
        m = rule_memberships(Z[i], rules, settings, work)
        if consequents or out.shape[0] > 0:
            project(Z[i], m, rules, work)
        if consequents and created:
            fill_products(m, members.fast.rules, members.fast.work)
        elif consequents:
            answer_members(m, state, members)
            if out.shape[0] > 0:
                for b in range(out.shape[1]):
                    out[i, b] = members.F[FINAL, b]
        labelled = weight > 0.0 and share > 0.0
        C = rules.counters[RULES]
        winner = nearest(work.D, C)
        if structure and not created:
            if labelled and (winner == 0 or is_novel(work.D[winner], rules.k[winner], C, rules.winner_stats, settings)):
                return i, NOVEL
            rules.counters[SEEN] += 1
            if labelled:
                pace = members.arrays.time[ROW_PACE]
                update_winner(winner, work.D[winner], Z[i], weight * share, antecedent_rate, rules, settings, pace)
        if consequents:
            count_present_row(members)
        if consequents and labelled:
            expect_errors(Y[i], 1.0 if created else share, members)
            reason = learn_consequents(m, Z[i], Y[i], share, weight, rules, settings, work)
            raised = learn_members(m, Z[i], Y[i], share, weight, structure, members)
            trial_ended = learn_sensors(X[i], Y[i], work.confidence, structure, members)
            if has_shifted(raised, trial_ended, members):
                reason = CHANGED
            if reason != DONE:
                return i + 1, reason
        if structure:
            reason = reason_after(rules, settings)
            if reason != DONE:
                return i + 1, reason
    return Z.shape[0], DONE


_answer_few: Any = direct_by_profile(answer_few)


class FollowedDrift(Drift):
    """`Drift` whose members learn rows in one compiled loop with the stages in front of them."""

    loop = staticmethod(direct(learn_rows))


def prototypes(own: object) -> tuple[Any, ...]:
    """Return an object of each stage in `FURTHER`, and behind them the `own` ones of a user, the parameter `stages`.

    ParameterError if one of them cannot be a stage.
    """
    return checked_prototypes([resolve_name(path)() for path in FURTHER], own, TAKEN)


def start_stages(model: Model) -> None:
    """Give `model` stages behind rules and drift that have learned nothing, but for those its options leave out."""
    options, sizes, kind = model.options, (model.n_features, model.n_labels), {"exclusive": model.exclusive}
    trees = options.threshold_rules and not model.is_first
    model.trees = ThresholdRules(*sizes, **kind, counters=options.threshold_rules == "counters") if trees else None
    model.first_tree = first_tree_of(*sizes, **kind) if options.threshold_rules else None
    model.forest = None
    model.own_stages = [stage.empty_like() for stage in model.own_stages]
    model.memory = None if options.memory is None else LastAnswers(*sizes, **kind)
    model.written = WrittenRules(*sizes, **kind)
    model.following = None if model.memory is None else Following(model.calibration, model.decisions)


def start_forest(model: Model) -> None:
    """Answer by a forest of the rows that were answered, too, now or once `model` has threshold rules.

    The errors of the rows that these keep show which labels learn from the answers of others.
    """
    model.answers_are_few = True
    if model.forest is None:
        model.forest = forest_of(model.trees)
        if model.forest is not None:
            model.drift.relate(model.forest.trees.errors())


def answer_stages(model: Model, rows: Rows) -> Rows:
    """Answer `rows` by the stages of `model`, and return them; outputs of many rows by weights formed once."""
    if len(rows.X) >= MANY_ROWS and not len(rows.W) and not len(rows.terms[0]):
        rows.W = model.drift.mixed(weights_of_all)
    for stage in first_stages(model):
        stage.answer(rows)
    refine(model, rows)
    return rows


def refine(model: Model, rows: Rows, *, but: Stage | None = None) -> None:
    """Answer `rows` by the refiners of `model`, `but` not by the one that has answered them."""
    for stage in _answering(model, rows):
        if stage is not but:
            with _shielded(model, stage):
                stage.answer(rows)


def _answering(model: Model, rows: Rows) -> list[LearningStage]:
    """Return the refiners of `model` that answer `rows`: the last answers change only those that follow them."""
    return [stage for stage in refiners(model) if stage is not model.memory or len(rows.follows)]


def answer_few_rows(
    model: Model,
    X: FloatArray,
    W: FloatArray = NO_WEIGHTS,
    moments: Moments | None = None,
    follows: IntArray = FOLLOWS_NOTHING,
) -> FewAnswers:
    """Return what `model` answers to few raw rows `X`, after its warm-up, by one call of a compiled loop.

    The bits of the outputs are those of `answer_stages`, if `W` is empty or holds the weights of the model. `moments`
    are those of the quadratic forms t, by which questions are scored; None: no quadratic forms. `follows` is that of
    `Rows`.
    """
    rules, n = model.trained(), len(X)
    check_rows(X, rules.n_features)
    C, terms = rules.n_rules, NO_VARIANCES
    if moments is None:
        moments = NO_MOMENTS
    else:
        terms = VarianceTerms(np.zeros((n, C)), np.zeros((n, C)), np.zeros((n, C)))
    found = FewAnswers(np.empty((n, rules.n_labels)), np.empty((n, C)), np.empty((n, C)), terms)
    read = model.fill_few(X, W, moments, found)
    after = _refined(model, X, read, found.outputs.copy(), follows) if len(follows) else None
    plain = found.outputs
    if model.first_tree or model.forest or model.own_stages or _has_written(model):  # `fill_few` leaves them out
        plain = _refined(model, X, read, plain)
    if after is not None:
        return found._replace(outputs=after, plain=plain)
    return found if plain is found.outputs else found._replace(outputs=plain)


def _refined(
    model: Model, X: FloatArray, read: FloatArray, outputs: FloatArray, follows: IntArray = FOLLOWS_NOTHING
) -> FloatArray:
    """Return `outputs` of the raw rows `X`, which were `read`, after the stages that `fill_few` leaves out."""
    rows = Rows(X, outputs=outputs)
    rows.read, rows.follows = read, follows
    refine(model, rows, but=model.trees)
    return rows.outputs


def fill_few(model: Model, X: FloatArray, W: FloatArray, moments: Moments, found: FewAnswers) -> FloatArray:
    """Fill `found` by the stages of `model` that have compiled loops; return the rows `X` with sensors corrected."""
    assert model.scaler is not None
    f, members, trees = found.outputs, model.drift.packed, model.trees
    read = X if members is None else np.empty(X.shape)
    scratch = np.empty(X.shape), np.empty(f.shape), np.empty((len(X), X.shape[1] + 1))
    packed = model.trained().packed, members, None if trees is None else trees.packed, model.scaler.knots
    _answer_few(*packed, W, moments, found.terms, scratch, X, read, f, found.psi, found.D)
    return read


def locate(model: Model, X: FloatArray) -> Rows:
    """Return the raw rows `X`, read and scaled by `model`, with memberships and distances; they have no outputs."""
    rows = Rows(X)
    for stage in first_stages(model)[:2]:
        stage.answer(rows)
    rows.psi, rows.D = model.trained().memberships(rows.Z)
    return rows


def stage_parts(model: Model, rows: Rows) -> dict[str, StagePart]:
    """Return what each refiner of `model` that answers `rows` adds to their outputs, which change, by its name."""
    parts = {}
    for stage in _answering(model, rows):
        with _shielded(model, stage):
            parts[stage.name] = stage.explain(rows)
    return parts


def learn_initial(model: Model, batch: Batch, *, in_order: bool) -> None:
    """Learn the raw rows of the initial `batch` by the refiners of `model`; its outputs are those before each row.

    Unless they are `in_order`, they show nothing of the rows that follow an answer.
    """
    for stage in refiners(model):
        if stage is model.memory and not in_order:
            continue
        with _shielded(model, stage, learning=True):
            stage.learn(Rows(batch.X, batch.Y, batch.weights, batch.confidences, outputs=batch.outputs), None)
    drop_first_tree(model)
    if model.answers_are_few:
        start_forest(model)


def drop_first_tree(model: Model) -> None:
    """Drop the first tree of `model` if it is over: the stage is absent from then on."""
    if model.first_tree is not None and model.first_tree.is_over:
        model.first_tree = None


def change_features(model: Model, kept: IntArray, n_features: int, log: EventLog | None) -> None:
    """Keep the features in the columns `kept` in the stages of `model` behind rules and drift, and add new ones.

    There are `n_features` then. Rules that are gone are logged in `log`; None: there are none.
    """
    for name, stage in stages_behind(model).items():
        if name not in _READERS:
            stage.change_features(kept, n_features, log)


def merge_stages(model: Model, other: Model, labels: IntArray) -> None:
    """Add to the stages of `model` behind rules and members what those of `other` have learned.

    `labels` has the places of its labels. Without written rules, which take numbers from the rules. A forest of
    answered rows is fitted anew to the rows of both.
    """
    theirs = stages_behind(other)
    for name, stage in stages_behind(model).items():
        if name in theirs and stage is not model.written and stage is not model.forest:
            with _shielded(model, stage, learning=True, beside=other):
                stage.merge(theirs[name], labels)
    if model.forest is not None or other.forest is not None:
        model.forest = None
        start_forest(model)
    if other.first_tree is None:
        model.first_tree = None
    drop_first_tree(model)


def _shielded(
    model: Model, stage: Stage, *, learning: bool = False, beside: Model | None = None
) -> AbstractContextManager[None]:
    """Return a context in which `stage`, if it is a user's, can write no arrays of `model`, but its own if `learning`.

    The arrays of the model `beside` it cannot be written either. Built-in stages reach their arrays by addresses and
    replace them, so nothing is shielded while one of them runs.
    """
    return nullcontext() if stage not in model.users_stages else _shield(model, stage, learning, beside)


@contextmanager
def _shield(model: Model, stage: Stage, learning: bool, beside: Model | None) -> Iterator[None]:
    """Do as `_shielded` for a `stage` of a user, which cannot train the model either."""
    own = {id(array) for array in arrays_behind(stage)} if learning else set()
    with in_use(model), read_only(array for array in arrays_behind((model, beside)) if id(array) not in own):
        yield


def learn_stages(model: Model, batch: Batch, followed: FloatArray) -> None:
    """Learn the raw rows of `batch` by the stages of `model` up to the refiners.

    Its outputs, which must be given, receive the plain ones from before each row is learned, `followed`, of the same
    shape, those that follow the last answers where there is a memory of them, and `read`, which must be given, the rows
    with sensors corrected. All stages learn the rows up to the next turn of maintenance of one of them, so that what a
    turn finds does not depend on how a stream is cut into batches. What trees have kept of rows is corrected where a
    sensor has moved. The caller holds Ctrl-C back.
    """
    rules, drift, stages = model.trained(), model.drift, refiners(model)
    moved = drift.sensors.moved
    assert model.scaler is not None
    start, n = 0, len(batch.X)
    while start < n:
        end = n if n - start == 1 else min([n, *(start + stage.rows_at_once for stage in stages)])
        moved.clear()
        drift.excused.clear()
        rules.learn_raw(batch if end - start == n else batch.rows(slice(start, end)), model.scaler)
        for sensor in moved:
            before = (drift.n_rows or 0) - end  # rows of the stream before `batch`
            piece = slice(start, sensor.row - before)
            _learn_piece(model, stages, batch.rows(piece), followed[piece], behind=end - piece.stop)
            if model.trees is not None:
                model.trees.correct_sensor(sensor, drift.excused)
            if model.forest is not None:
                model.forest.fit_anew()
            start = piece.stop
        piece = slice(start, end)
        _learn_piece(model, stages, *((batch, followed) if end - start == n else (batch.rows(piece), followed[piece])))
        start = end
    drop_first_tree(model)


def _learn_piece(
    model: Model, stages: list[LearningStage], batch: Batch, followed: FloatArray, behind: int = 0
) -> None:
    """Learn the rows of `batch`, if there are any, by the refiners `stages` of `model`.

    `followed` receives outputs that follow the last answers. `behind`: rows that the stages in front of them have
    learned already, and that come after these. Threshold rules and own stages do not learn labels that written rules
    answer. Drifts that a stage has found are followed.
    """
    if not len(batch.X):
        return
    drift, log, users_stages = model.drift, model.trained(), model.users_stages
    rows = Rows(batch.X, batch.Y, batch.weights, batch.confidences, outputs=batch.outputs)
    rows.read, rows.n_seen, rows.episode = batch.read, log.n_seen - behind, drift.episode
    n_rows, rows.watch = drift.n_rows, drift
    rows.n_rows = None if n_rows is None else n_rows - behind
    rows.fits = batch.X.shape[1], batch.Y.shape[1]  # the rules have checked and learned the rows
    if stages and stages[-1] is model.written:
        rows.Y, rows.fits = model.written.unanswered(rows), None
    for stage in stages:
        if stage is model.memory:
            rows.followed = followed
        if stage is model.memory or stage is model.written:
            rows.Y = batch.Y
        n_events = log.n_events
        if stage in users_stages:
            with _shielded(model, stage, learning=True):
                stage.learn(rows, log)
        else:
            stage.learn(rows, log)
        if rows.drifts_ended is not None:
            new = log.n_events - n_events
            drift.hold(rows.drifts_held)
            drift.follow([*log.events][-new:] if new else [], rows.drifts_ended)
            rows.drifts_ended = None
            del rows.drifts_held  # to be read again
