"""The learner as a whole: warm-up, batch phase, incremental phase, answers.

`model.pipeline` has the stages that a row passes. Everything works on checked float64 arrays: X with NaN for missing
features, Y of 0/1 with NaN for labels that were not annotated.
"""

import copy
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.linalg import LinAlgError

from evolabel._utils.interrupts import deliver, held
from evolabel.core.options import Options
from evolabel.core.rows import NOT_GIVEN, Batch, Rows, check_batch, misfit
from evolabel.core.schema import new_entries, stream_sizes
from evolabel.engine.compile import direct
from evolabel.engine.values import count_seen, first_bad_sample
from evolabel.errors import DataError, StateError
from evolabel.model import pipeline
from evolabel.model.empty_rows import answer_by_base_rates
from evolabel.model.protocols import Model
from evolabel.model.readers import Following
from evolabel.model.seen_ranges import SEEN_ARRAYS, SeenArrays
from evolabel.model.start import batch_phase
from evolabel.model.start.batch_phase import NOT_IN_FLOAT64, is_heavy
from evolabel.model.start.first_model import FEWEST_ROWS, FirstModel
from evolabel.model.warm_up import WarmUp, renumber
from evolabel.stages.answered_forest.stage import AnsweredForest
from evolabel.stages.calibration.stage import Calibration
from evolabel.stages.decisions.stage import PlainOutputs, new_decisions
from evolabel.stages.drift.stage import NoDrift
from evolabel.stages.feedback.stage import ErrorFeedback
from evolabel.stages.first_tree.stage import FirstTree
from evolabel.stages.last_answers.stage import LastAnswers
from evolabel.stages.own.stage import CheckedStage, naming_rows
from evolabel.stages.rules.arrays import Settings
from evolabel.stages.rules.kind import RuleKind
from evolabel.stages.rules.rule_state import derive_inverses, is_sound, is_well_posed, label_shares
from evolabel.stages.rules.stage import RuleBase
from evolabel.stages.rules.weights import MANY_ROWS
from evolabel.stages.scaling.stage import Scaler
from evolabel.stages.sensors.stage import Sensors
from evolabel.stages.threshold_rules.stage import ThresholdRules
from evolabel.stages.written_rules.edits.journal import ENTRIES_KEPT, EditEntry
from evolabel.stages.written_rules.stage import WrittenRules
from evolabel.typing import Arrays, BoolArray, FloatArray

CHUNK = 4096  # rows scaled at a time, so that a million rows need no second copy

_count_seen, _first_bad_sample = direct(count_seen), direct(first_bad_sample)


class StreamModel(SeenArrays):
    """EFC-ML with its scaling, from the first sample on; a `model.protocols.Model`.

    The first samples, as many as the option `warm_up`, are kept for the batch phase. Until it has run, outputs are
    running label frequencies, and from the tenth sample on those of a `FirstModel`. `fit` skips that stage.

    Parameters
    ----------
    n_features, n_labels : int
        Columns of X and Y.
    options : Options
        Checked parameters.
    warming : bool
        Whether there is a buffer for the warm-up; without one the caller sets `scaler` and calls `start_rules`.
    exclusive : bool
        Whether the labels are classes, of which one is true.
    feedback : ErrorFeedback, optional
        Learns from the batch phase only; its users copy it (`feedback_of`).
    stages : sequence of OwnStage
        Prototypes of the stages of a user, by `pipeline.prototypes`.
    """

    rule_kind: ClassVar[RuleKind] = RuleKind()
    fill_few = pipeline.fill_few
    answer_few = pipeline.answer_few_rows

    def __init__(
        self,
        n_features: int,
        n_labels: int,
        options: Options,
        *,
        warming: bool = True,
        exclusive: bool = False,
        feedback: ErrorFeedback | None = None,
        stages: Sequence[Any] = (),
    ) -> None:
        self.options = options
        self.n_features = n_features
        self.n_labels = n_labels
        self.ridge = np.nan
        self.local_ridge = np.nan
        self.scaler: Scaler | None = None
        self.rules: RuleBase | None = None
        self._drift: NoDrift | None = None
        self.trees: ThresholdRules | None = None
        self.first_tree: FirstTree | None = None
        self.forest: AnsweredForest | None = None
        self.answers_are_few = False  # rows are learned because a person was asked about them
        self.memory: LastAnswers | None = None
        self.following: Following | None = None
        self.own_stages = [CheckedStage(stage, n_features, n_labels, exclusive=exclusive) for stage in stages]
        self.written = WrittenRules(n_features, n_labels, exclusive=exclusive)
        self.exclusive = exclusive
        self.calibration = Calibration(n_labels, exclusive=exclusive)
        self.warm_up = WarmUp(n_features, n_labels, int(options.warm_up)) if warming else None
        self.decisions = new_decisions(n_labels, options, exclusive=exclusive)
        cuts = self.decisions is None and not exclusive
        self.plain_outputs = PlainOutputs(n_labels) if cuts else None
        self.feedback = feedback
        vars(self).update(SEEN_ARRAYS.new(stream_sizes(n_features, n_labels)))
        self.journal: deque[EditEntry] = deque(maxlen=ENTRIES_KEPT)  # edits that can be undone
        self._first = FirstModel()  # answers during the warm-up
        self.is_first = False  # whether it is itself the model of such a `FirstModel`

    @property
    def users_stages(self) -> list[CheckedStage]:
        """Those of its own stages that a user wrote: any error of theirs leaves the model as it was."""
        return [stage for stage in self.own_stages if not stage.is_built_in]

    @property
    def n_seen(self) -> int:
        """Samples seen so far, the initial batch included."""
        return self.trained().n_seen if self.warm_up is None else self.warm_up.n_seen

    @property
    def drifting(self) -> BoolArray:
        """Whether each label has changed its meaning, as its members or its threshold rules show, and not recovered."""
        found = self.drift.drifting
        return found if self.trees is None else found | self.trees.drifting

    @property
    def n_events(self) -> int:
        """Events logged so far; 0 while there are no rules."""
        return 0 if self.rules is None else self.rules.n_events

    @property
    def drift(self) -> NoDrift:
        """What follows drift beside the rules; only to be called once the batch phase has run."""
        assert self._drift is not None, "the batch phase has not run yet"
        return self._drift

    @property
    def sensors(self) -> Sensors:
        """Corrections of sensors that moved; only to be called once the batch phase has run."""
        return self.drift.sensors

    def trained(self) -> RuleBase:
        """Return the rule base; only to be called once the batch phase has run."""
        assert self.rules is not None, "the batch phase has not run yet"
        return self.rules

    def settings(self) -> Settings:
        """Return the settings of the loops, from the options and the ridges."""
        assert self.scaler is not None
        return self.settings_for(self.scaler)

    def settings_for(self, scaler: Scaler) -> Settings:
        """Return the settings of the loops for the features of another `scaler`."""
        sizes, ridges = (len(scaler.used), self.n_labels), (self.ridge, self.local_ridge)
        return self.rule_kind.settings(self.options, *sizes, scaler.prior, ridges)

    def start_rules(self, scaler: Scaler, settings: Settings, stored: Arrays | None = None) -> RuleBase:
        """Set the rules to `stored` arrays (None: no rules), for rows that `scaler` scales, and return them.

        The members that follow drift beside them, if `settings` ask for any, have learned nothing.
        """
        self.scaler = scaler
        sizes = len(scaler.used), self.n_labels
        self.rules = rules = self.rule_kind.rules(self.options, *sizes, settings, stored)
        follows = settings.memory > 0
        self._drift = pipeline.FollowedDrift(rules, scaler, exclusive=self.exclusive) if follows else NoDrift(rules)
        return rules

    # ------------------------------------------------------------------ stages of an output

    def scale(self, X: FloatArray) -> FloatArray:
        """Return the raw rows `X` scaled, after the correction of sensors that moved."""
        assert self.scaler is not None
        return self.scaler.transform(X if self.rules is None else self.sensors.corrected(X))

    def standardise(self, X: FloatArray) -> FloatArray:
        """Return the raw rows `X` scaled, in units of their standard deviations whatever the scaling."""
        assert self.scaler is not None
        return np.asarray(self.scale(X) / np.sqrt(self.scaler.prior))

    def outputs(self, X: FloatArray) -> FloatArray:
        """Return the outputs of eq. (2) for raw rows `X`; before the batch phase those of the rows so far."""
        if self.warm_up is not None:
            return self._first_outputs(self.warm_up, X)
        if len(X) < MANY_ROWS:
            return self.answer_few(X).outputs
        if len(X) <= CHUNK:
            return pipeline.answer_stages(self, Rows(X)).outputs
        chunks = (X[start : start + CHUNK] for start in range(0, len(X), CHUNK))
        return np.concatenate([pipeline.answer_stages(self, Rows(chunk)).outputs for chunk in chunks])

    def answer(self, rows: Rows) -> Rows:
        """Answer `rows` by all stages that make outputs, and return them; only once the batch phase has run."""
        return pipeline.answer_stages(self, rows)

    def calibrator(self) -> Calibration:
        """Return the calibration of the outputs: this model's, or during the warm-up that of the first rows."""
        answering = self.answering()
        return self.calibration if answering is None else answering.calibration

    # ------------------------------------------------------------------ learning

    def fit(self, batch: Batch) -> None:
        """Run the batch phase on the initial `batch` (`model.start.batch_phase`)."""
        batch_phase.fit(self, batch)

    def learn(self, batch: Batch) -> None:
        """Learn the rows of `batch` one after the other (Algorithm 2).

        Its arrays of answers, if given, receive those from before each row was learned. A row without any feature is
        not learned; its output is the base rates.
        """
        start = 0
        while (empty := _first_bad_sample(batch.X[start:])[0]) >= 0:
            if empty > 0:
                self._learn_filled(batch.rows(slice(start, start + empty)))
            start += empty + 1
            answer_by_base_rates(self, batch, start - 1)
        if start < len(batch.X):
            self._learn_filled(batch.rows(slice(start, None)) if start else batch)

    def base_rates(self) -> FloatArray:
        """Return the share of each label among the samples so far, (n_labels,): all that is known without features."""
        return self.warm_up.priors() if self.warm_up is not None else label_shares(self.trained())[0]

    def _learn_filled(self, batch: Batch) -> None:
        """Learn the rows of `batch`, all of which have features."""
        if self.warm_up is not None:
            done = self._buffer(self.warm_up, batch)
            if done == len(batch.X):
                return
            batch = batch.rows(slice(done, None))
        if len(batch.X) > CHUNK:
            for start in range(0, len(batch.X), CHUNK):
                self._learn_filled(batch.rows(slice(start, start + CHUNK)))
                deliver()
            return
        if len(batch.weights) and is_heavy(self.trained(), batch.weights):
            self._learn_heavy(batch)
        else:
            self.learn_rows(batch)

    def learn_rows(self, batch: Batch) -> None:
        """Learn at most `CHUNK` rows, `batch`, after the warm-up, and count them; Ctrl-C waits until this is done."""
        rules = self.trained()
        X, Y, weights, confidences, followed, decisions, raw, _, P, coverages, limits, plain = batch
        check_batch(batch, rules.n_features, rules.n_labels)
        if len(self.n_answers) != Y.shape[1]:
            raise misfit({"Y": Y}, f"answers to {len(self.n_answers)} labels")
        if not len(followed):
            followed = np.empty(Y.shape)
        if self.memory is None:
            plain = followed
        else:
            followed.fill(np.nan)  # where the memory has not learned a row
            if not len(plain):
                plain = np.empty(Y.shape)
        if self.decisions is not None and not len(P):
            P = np.empty(Y.shape)
        learned = Batch(X, Y, weights, confidences, plain, decisions, raw, np.empty(X.shape), P, coverages, limits)
        before = rules.n_seen
        with held():
            try:
                pipeline.learn_stages(self, learned, followed)
            except BaseException as error:
                done = slice(0, rules.n_seen - before)
                followed[done] = np.where(np.isnan(followed[done]), plain[done], followed[done])
                self._learn_answers(learned.rows(done), followed[done])
                if isinstance(error, LinAlgError):
                    advice = "call fit again with scaled features or a larger ridge"
                    raise StateError(f"the statistics of a rule cannot be inverted any more; {advice}") from None
                raise
            self._learn_answers(learned, followed)

    def _learn_answers(self, batch: Batch, followed: FloatArray) -> None:
        """Learn calibration and decisions from the plain outputs of `batch`, made before each row, and count its rows.

        `followed` are the outputs that follow the last answers, where there is a memory of them.
        """
        self.calibration.learn_checked(batch)
        if self.decisions is not None:
            self.decisions.update(batch)
        elif self.plain_outputs is not None:
            self.plain_outputs.count(batch)
        if self.following is not None:
            self.following.learn(batch, followed)
        n_answers = self.n_answers.copy()
        _count_seen(batch.X, batch.Y, batch.weights, n_answers, self.ranges)
        self.n_answers = n_answers

    def _learn_heavy(self, batch: Batch) -> None:
        """Learn rows of huge weights: all of them, with P derived again, or none and DataError."""
        before = copy.deepcopy(vars(self))
        try:
            self.learn_rows(batch)
            derive_inverses(self.drift.with_sums)
            rules = self.trained()
            if not (is_sound(rules) and is_well_posed(rules) and np.isfinite(batch.outputs).all()):
                raise DataError(NOT_IN_FLOAT64)
        except BaseException as error:
            vars(self).update(before)
            if isinstance(error, LinAlgError | StateError):
                raise DataError(NOT_IN_FLOAT64) from None
            raise

    def advance(self, rows: int) -> None:
        """Count `rows` of the stream that have no answer; below 0: rows that have one now."""
        if self.warm_up is not None:
            self.warm_up.passed = max(self.warm_up.passed + rows, 0)
        elif self.rules is not None:
            self.drift.advance(rows)
            if self.memory is not None:
                self.memory.advance(rows)

    # ------------------------------------------------------------------ warm-up, new labels

    def _buffer(self, buffer: WarmUp, batch: Batch) -> int:
        """Keep rows until there are enough, then run the batch phase; return the number of rows taken."""
        if len(batch.probabilities):
            return self._buffer_calibrated(buffer, batch)
        before = buffer.filled, buffer.n_seen
        done = buffer.take(batch, lambda row: self._first_outputs(buffer, row))
        if buffer.complete:
            try:
                self._end_warm_up(buffer)
            except BaseException:
                buffer.filled, buffer.n_seen = before
                raise
        return done

    def _buffer_calibrated(self, buffer: WarmUp, batch: Batch) -> int:
        """Do as `_buffer`, row by row; probabilities, set limits and decisions receive those before each row."""
        plain = batch._replace(probabilities=NOT_GIVEN, set_limits=NOT_GIVEN)
        for i in range(len(batch.X)):
            if self.warm_up is not buffer:
                return i
            row = slice(i, i + 1)
            calibrator, outputs = self.calibrator(), self._first_outputs(buffer, batch.X[row])
            batch.probabilities[row] = calibrator.probabilities(outputs)
            batch.set_limits[row] = calibrator.limits(float(batch.coverages[i]))
            if self.decisions is not None:
                batch.decisions[row] = self.decisions.decide(outputs, calibrator)
            self._buffer(buffer, plain.rows(row))
        return len(batch.X)

    def _first_outputs(self, buffer: WarmUp, X: FloatArray) -> FloatArray:
        """Return outputs of the raw rows `X` during the warm-up: label shares, then those of a `FirstModel`."""
        return self._first.outputs(buffer, X, self._untrained)

    def _untrained(self) -> Self:
        """Return a model of the same options that has learned nothing; few rows need no threshold rules, no memory."""
        options = self.options if self.options.memory is None else replace(self.options, memory=None)
        model = type(self)(self.n_features, self.n_labels, options, exclusive=self.exclusive)
        model.is_first = True
        return model

    def answering(self) -> Model | None:
        """Return the model behind the outputs: this one, or that of the first rows; None while these are shares."""
        if self.warm_up is None:
            return self
        return self._first.model_of(self.warm_up, self._untrained)

    @property
    def answers_early(self) -> bool:
        """Whether a model of the first rows answers during the warm-up, once there are enough."""
        return True

    def end_warm_up(self) -> None:
        """Run the batch phase on the rows kept so far, if the warm-up lasts; StateError if they are too few."""
        buffer = self.warm_up
        if buffer is None:
            return
        needed = min(FEWEST_ROWS, len(buffer.X))
        if buffer.filled < needed:
            raise StateError(
                f"the warm-up has {buffer.filled} annotated samples, and rules can be edited from {needed} on; "
                "call fit, or partial_fit with more samples, or answer more questions of the learner first"
            )
        self._end_warm_up(buffer)

    def _end_warm_up(self, buffer: WarmUp) -> None:
        """Run the batch phase on the rows kept; this model changes only if that succeeds."""
        sizes, feedback = (self.n_features, self.n_labels), copy.deepcopy(self.feedback)
        kind: dict[str, Any] = {"exclusive": self.exclusive, "stages": [each.prototype for each in self.own_stages]}
        ready = type(self)(*sizes, self.options, feedback=feedback, **kind)
        ready.answers_are_few = self.answers_are_few
        with naming_rows("sample {}", lambda: buffer.numbers):
            batch_phase.fit(ready, buffer.batch(), in_order=buffer.in_order)
        renumber(ready.trained(), ready.drift, buffer)
        if ready.memory is not None:
            ready.memory.advance(buffer.rows_behind)
        vars(self).update(vars(ready))

    def grow_labels(self, n_labels: int, *, absent: bool = False) -> None:
        """Add labels mid-stream, up to `n_labels`; `absent`: the samples so far are known not to carry them."""
        if self.warm_up is not None:
            self.warm_up.grow_labels(n_labels, absent=absent)
        else:
            self.trained().grow_labels(n_labels)
            self.drift.grow_labels(self.n_labels, n_labels)
        for stage in pipeline.stages_behind(self).values():
            stage.grow_labels(n_labels)
        if self.plain_outputs is not None:
            self.plain_outputs.grow_labels(n_labels)
        vars(self).update(SEEN_ARRAYS.moved(self, {"label": new_entries(self.n_labels, n_labels)}))
        self.n_labels = n_labels
