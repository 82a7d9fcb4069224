"""The learner as a whole: cold start, batch phase, incremental phase, answers.

A sample walks scaling -> memberships -> output -> structure -> consequents. Everything here works on checked float64
arrays: X with NaN for missing features, Y of 0/1 with NaN for labels nobody annotated.
"""

import copy

import numpy as np
from numpy.linalg import LinAlgError

from evolabel._utils.interrupts import deliver, held
from evolabel.core.decisions.thresholds import output_counts
from evolabel.core.initial.cold_start import WarmUp
from evolabel.core.initial.local_ridge import choose_local_ridge
from evolabel.core.initial.ridge import ridge_strength
from evolabel.core.members.feedback.error_feedback import NO_EVIDENCE, Echo, base_rates
from evolabel.core.options import Options
from evolabel.core.rules.feature_weights import EVERY, relevance_weights
from evolabel.core.rules.rule_base import NO_ROWS, NOTHING, RuleBase
from evolabel.core.rules.scaling import Scaler, fit_scaler
from evolabel.core.settings import kernel_settings
from evolabel.core.sizes import misfit
from evolabel.errors import DataError, StateError
from evolabel.kernels.answers import count_answers
from evolabel.kernels.compile import direct
from evolabel.kernels.feedback import AGAIN
from evolabel.kernels.state import SEEN, Settings
from evolabel.typing import FloatArray

# What is known of the labels besides what rules tell; labels stand last.
LABEL_ARRAYS = ("echo_evidence", "annotated", "carried", "answers")
CHUNK = 4096  # rows scaled at a time, so that a million rows need no second copy

# A row of weight w puts about w |r|^2 beside a ridge. Beyond this ratio rank-one steps leave P too few digits: such
# rows are learned with a way back, and P is derived anew.
HEAVY = 1e11

NOT_IN_FLOAT64 = (
    "the rows cannot be learned in double precision, as weights and features reach too far beyond the ridge; "
    "use a sample_weight around 1, scaled features, or a larger ridge"
)

_count_answers = direct(count_answers)


class StreamModel:
    """EFC-ML with its scaling, from the first sample on.

    Before `warm_up` samples have come there is nothing to scale by: they are kept, answers are running label priors,
    and then the batch phase runs on them. Calling `fit` skips that stage; without `warming` there is no room for it.
    """

    def __init__(self, n_features: int, n_labels: int, options: Options, *, warming: bool = True) -> None:
        self.options = options
        self.n_features = n_features
        self.n_labels = n_labels
        self.ridge = np.nan
        self.local_ridge = np.nan
        self.feature_weights = np.ones(n_features)
        self.scaler: Scaler | None = None
        self.rules: RuleBase | None = None
        self.warm_up = WarmUp(n_features, n_labels, int(options.warm_up)) if warming else None
        self.counts = output_counts(n_labels, options)
        self.is_plain = self.counts is None and not self.weighs_features  # nothing follows a row but its rules
        self.echo_evidence = np.zeros((2, 5, n_labels))  # of the initial batch, see `core.echo`
        self.annotated = np.zeros(n_labels)  # answers per label in the initial batch
        self.carried = np.zeros(n_labels)  # those of them that were 1
        self.answers = np.zeros(n_labels)  # answers per label so far, the initial batch included

    @property
    def weighs_features(self) -> bool:
        """Do distances count the features by their relevance?"""
        return self.options.feature_weights == "relevance"

    @property
    def n_seen(self) -> int:
        """Samples seen so far, the initial batch included."""
        if self.warm_up is not None:
            return self.warm_up.n_seen
        return self.trained().n_seen

    def trained(self) -> RuleBase:
        """The rule base; only to be called once the batch phase has run."""
        assert self.rules is not None, "the batch phase has not run yet"
        if self.rules.diverged:
            raise StateError("the consequents have blown up and cannot answer; call fit again with safer parameters")
        return self.rules

    def fit(self, X: FloatArray, Y: FloatArray, weights: FloatArray, confidences: FloatArray) -> None:
        """Batch phase on the initial batch: scaling, ridges, one pass for the rules, one for the consequents.

        The second pass sees the finished structure. In closed form it gives exactly the batch solution, because the
        recursions are exact; iterated consequents are minimised on its statistics (Algorithm 1).
        """
        try:
            rules = self.gather(X, Y, weights, confidences)
            if rules.settings.iterated:
                rules.minimise()
        except (LinAlgError, StateError):  # a matrix that cannot be inverted
            raise DataError(NOT_IN_FLOAT64) from None
        if not rules.is_sound():
            raise DataError(NOT_IN_FLOAT64)

    def gather(self, X: FloatArray, Y: FloatArray, weights: FloatArray, confidences: FloatArray) -> RuleBase:
        """The batch phase up to the statistics; iterated consequents stand at their start values, eq. (18)."""
        taught = ~np.isnan(Y).all(axis=1)
        if len(weights):
            taught &= weights > 0.0
        if not taught.any():
            raise DataError("every sample of the batch has zero weight or no annotated label; annotate some rows")
        self.begin(X[taught], Y[taught], weights[taught] if len(weights) else weights)
        rules, Z = self.trained(), self.scale(X)
        rules.learn(Z, Y, weights, confidences, consequents=False)
        if self.options.chooses_local_ridge:
            self._choose_local_ridge(Z[taught], Y[taught])
        out = np.zeros(Y.shape)
        if rules.settings.iterated:
            rules.accumulate(Z, Y, weights, confidences, out)
        else:
            rules.learn(Z, Y, weights, confidences, structure=False, out=out)
        if self._is_heavy(weights):
            rules.derive_inverses()
            if not rules.is_well_posed():
                raise DataError(NOT_IN_FLOAT64)
        if not np.isfinite(out).all():
            raise DataError(NOT_IN_FLOAT64)
        self._count_labels(Y[taught])
        believed = beliefs(Y, weights, confidences)
        self._listen(X[taught], out[taught], Y[taught], believed[taught])
        if self.counts is not None:
            self.counts.follow(out, Y, weights, confidences)
        if self.weighs_features:
            self.weigh_features()
        return rules

    def _count_labels(self, Y: FloatArray) -> None:
        """How often each label was answered in the initial batch, and how often by 1."""
        self.annotated = np.sum(~np.isnan(Y), axis=0, dtype=np.float64)
        self.carried, self.answers = np.nansum(Y, axis=0), self.annotated.copy()

    def _listen(self, X: FloatArray, out: FloatArray, Y: FloatArray, believed: FloatArray) -> None:
        """Do errors repeat from row to row? The second half of a batch tells; before, outputs know too little."""
        half = len(Y) // 2
        echo = Echo(X.shape[1], self.base_rates(), NO_EVIDENCE)
        echo.listen(self.standardise(X[half:]), out[half:], Y[half:], believed[half:])
        self.echo_evidence = echo.evidence

    def base_rates(self) -> FloatArray:
        """Of all labels, in the initial batch; NaN for those it did not tell of."""
        rates = base_rates(self.carried, self.annotated)
        return np.pad(rates, (0, self.n_labels - len(rates)), constant_values=np.nan)

    def new_echo(self) -> Echo:
        """An echo that knows what the initial batch has told, and nothing of the stream since."""
        return Echo(self.n_features, self.base_rates(), self.echo_evidence)

    def _choose_local_ridge(self, Z: FloatArray, Y: FloatArray) -> None:
        """The rules have their places, their consequents have learned nothing yet: they start with this ridge."""
        rules = self.trained()
        chosen = choose_local_ridge(rules, Z, Y, self.ridge)
        if chosen != self.local_ridge:
            self.local_ridge = chosen
            rules.start_consequents(self.settings())

    def begin(self, X: FloatArray, Y: FloatArray, weights: FloatArray = NOTHING) -> None:
        """Learn scaling and ridge strength from an initial batch and start an empty rule base."""
        options = self.options
        self.scaler = fit_scaler(X, options.scaling, int(options.n_knots))
        self.ridge = ridge_strength(options.ridge, self.scaler.transform(X), Y, weights)
        self.local_ridge = options.first_local_ridge
        self.feature_weights = np.ones(self.n_features)
        self.rules = RuleBase(self.n_features, self.n_labels, self.settings())
        self.warm_up = None

    def settings(self) -> Settings:
        """What the kernels read, from the options and the ridges."""
        assert self.scaler is not None
        return self.settings_for(self.scaler)

    def settings_for(self, scaler: Scaler) -> Settings:
        """The same for the features of another scaler."""
        p = len(scaler.used)
        return kernel_settings(
            self.options, p, self.n_labels, scaler.prior, self.ridge, self.local_ridge, self.feature_weights
        )

    def scale(self, X: FloatArray) -> FloatArray:
        """Scores of raw rows."""
        assert self.scaler is not None
        return self.scaler.transform(X)

    def standardise(self, X: FloatArray) -> FloatArray:
        """Scores of raw rows in units of their standard deviations, whatever the scaling."""
        assert self.scaler is not None
        return np.asarray(self.scale(X) / np.sqrt(self.scaler.prior))

    def learn(
        self,
        X: FloatArray,
        Y: FloatArray,
        weights: FloatArray = NOTHING,
        confidences: FloatArray = NO_ROWS,
        out: FloatArray = NO_ROWS,
        limits: FloatArray = NO_ROWS,
    ) -> None:
        """Incremental phase (Algorithm 2): every row is answered into `out`, if given, and then learned.

        `limits`, if given, receives the learned thresholds from before each row, except where there are none yet.
        """
        if self.counts is not None and not len(out):
            out = np.zeros(Y.shape)
        if self.warm_up is not None:
            done = self._keep(self.warm_up, X, Y, weights, confidences, out)
            if done == len(X):
                return
            X, Y, weights, confidences, out, limits = (
                part[done:] for part in (X, Y, weights, confidences, out, limits)
            )
        if len(X) > CHUNK:
            for start in range(0, len(X), CHUNK):
                chunk = slice(start, start + CHUNK)
                self.learn(*(part[chunk] for part in (X, Y, weights, confidences, out, limits)))
                deliver()
            return
        if len(weights) and self._is_heavy(weights):
            self._learn_heavy(X, Y, weights, confidences, out, limits)
        else:
            self.learn_rows(X, Y, weights, confidences, out, limits)

    def learn_rows(
        self,
        X: FloatArray,
        Y: FloatArray,
        weights: FloatArray = NOTHING,
        confidences: FloatArray = NO_ROWS,
        out: FloatArray = NO_ROWS,
        limits: FloatArray = NO_ROWS,
    ) -> None:
        """Learn at most `CHUNK` rows after the warm-up, and count them.

        Where `is_plain`, Ctrl-C at any point leaves a whole model; else the caller holds it back.
        """
        rules, answers = self.trained(), self.answers.copy()
        if len(answers) != Y.shape[1]:
            raise misfit({"Y": Y}, f"answers to {len(answers)} labels")
        assert self.scaler is not None
        _count_answers(Y, weights, answers)
        tally = rules.arrays.tally
        before = tally[SEEN]
        try:
            if not self.is_plain and self.weighs_features:
                self._learn_and_weigh(self.scale(X), Y, weights, confidences, out)
            else:
                rules.learn_raw(X, self.scaler, Y, weights, confidences, out)
            self.answers = answers
        except BaseException as error:
            with held():
                if self.answers is not answers:
                    self._count_first(int(tally[SEEN] - before), Y, weights)
            if isinstance(error, LinAlgError):
                advice = "call fit again with scaled features or a larger ridge"
                raise StateError(f"the statistics of a rule cannot be inverted any more; {advice}") from None
            raise
        if self.counts is not None:
            self.counts.follow(out, Y, weights, confidences, limits)

    def _count_first(self, rows: int, Y: FloatArray, weights: FloatArray) -> None:
        """Count the answers of the first rows, which were learned before the others could not be."""
        answers = self.answers.copy()
        _count_answers(Y[:rows], weights[:rows], answers)
        self.answers = answers

    def _is_heavy(self, weights: FloatArray) -> bool:
        """Whether a weight is so large beside the ridges that the arithmetic may fail."""
        settings = self.trained().settings
        return bool(weights.max(initial=0.0) * (1.0 + settings.prior.sum()) > HEAVY * settings.penalty.min())

    def _learn_heavy(self, X: FloatArray, Y: FloatArray, *batch: FloatArray) -> None:
        """Learn rows of huge weights: all of them, with P derived anew, or none and DataError."""
        rules = self.trained()
        before = copy.deepcopy((vars(rules), self.answers, self.counts, self.feature_weights))
        try:
            self.learn_rows(X, Y, *batch)
            rules.derive_inverses()
            if not (rules.is_sound() and rules.is_well_posed() and np.isfinite(batch[2]).all()):
                raise DataError(NOT_IN_FLOAT64)
        except BaseException as error:
            state, self.answers, self.counts, self.feature_weights = before
            vars(rules).update(state, _packed=None, _scratch=None)
            if isinstance(error, LinAlgError | StateError):
                raise DataError(NOT_IN_FLOAT64) from None
            raise

    def _keep(
        self,
        buffer: WarmUp,
        X: FloatArray,
        Y: FloatArray,
        weights: FloatArray,
        confidences: FloatArray,
        out: FloatArray,
    ) -> int:
        """Cold start: keep rows until there are enough, then run the batch phase; returns the rows taken."""
        before = buffer.filled, buffer.n_seen
        done = buffer.take(X, Y, weights, confidences, out)
        if buffer.complete:
            try:
                self._end_warm_up(buffer)
            except BaseException:
                buffer.filled, buffer.n_seen = before
                raise
        return done

    def _learn_and_weigh(
        self, Z: FloatArray, Y: FloatArray, weights: FloatArray, confidences: FloatArray, out: FloatArray
    ) -> None:
        """Learn scaled rows, and weigh the features anew at sample numbers that do not depend on how rows come in."""
        rules, done = self.trained(), 0
        while done < len(Z):
            end = done + EVERY - rules.n_seen % EVERY
            piece = slice(done, end)
            rules.learn(Z[piece], Y[piece], weights[piece], confidences[piece], out=out[piece])
            if rules.n_seen % EVERY == 0:
                self.weigh_features()
            done = end

    def weigh_features(self) -> None:
        """Let distances count the features by what the statistics tell of them now."""
        rules = self.trained()
        self.feature_weights = relevance_weights(rules)
        rules.measure_by(self.feature_weights)

    def _end_warm_up(self, buffer: WarmUp) -> None:
        """The batch phase on what was kept; this model changes only if that succeeds."""
        ready = StreamModel(self.n_features, self.n_labels, self.options)
        ready.fit(*buffer.batch())
        ready.trained().renumber(buffer.numbers[: buffer.filled], buffer.n_seen)
        if not buffer.in_order:
            ready.echo_evidence[AGAIN] = 0.0  # rows that were no neighbours cannot tell whether errors repeat
        self.scaler, self.ridge, self.local_ridge = ready.scaler, ready.ridge, ready.local_ridge
        self.feature_weights = ready.feature_weights
        self.rules, self.warm_up, self.counts = ready.rules, None, ready.counts
        for name in LABEL_ARRAYS:
            setattr(self, name, getattr(ready, name))

    def outputs(self, X: FloatArray) -> FloatArray:
        """Continuous outputs of eq. (2) for raw rows; running label priors before the batch phase."""
        if self.warm_up is not None:
            return np.tile(self.warm_up.priors(), (len(X), 1))
        if len(X) <= CHUNK:
            return self.trained().outputs(self.scale(X))
        chunks = (X[start : start + CHUNK] for start in range(0, len(X), CHUNK))
        return np.concatenate([self.trained().outputs(self.scale(chunk)) for chunk in chunks])

    def grow_labels(self, n_labels: int, *, absent: bool = False) -> None:
        """Labels appear mid-stream; `absent`: the samples so far are known not to carry them."""
        if self.warm_up is not None:
            self.warm_up.grow_labels(n_labels, absent=absent)
        else:
            self.trained().grow_labels(n_labels)
        if self.counts is not None:
            self.counts.grow_labels(n_labels)
        self.answers = np.pad(self.answers, (0, n_labels - self.n_labels))
        self.n_labels = n_labels
        if self.rules is not None:
            self.rules.settings = self.settings()  # the product space has become wider


def beliefs(Y: FloatArray, weights: FloatArray, confidences: FloatArray) -> FloatArray:
    """How far the answers Y are believed, in [0, 1]: as their annotators were sure, less for rows of small weight."""
    sure = confidences if len(confidences) else np.ones(Y.shape)
    return sure * np.minimum(weights, 1.0)[:, None] if len(weights) else sure
