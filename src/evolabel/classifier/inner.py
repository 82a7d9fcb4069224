"""`ClassifierInner`: what other rooms of the library may use of a classifier besides its public methods."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np

from evolabel import errors
from evolabel._utils.notes import note
from evolabel._utils.text import counted, first_names
from evolabel._utils.validation import whole_number
from evolabel.classifier.named_columns import check_column_names, read_mapping
from evolabel.classifier.samples import (
    as_array,
    as_matrix,
    as_one_row,
    is_checked_shape,
    keep_coding,
    known_coding,
    read_encoded,
    rows_without_features,
    usable_values,
)
from evolabel.classifier.state import ClassifierState
from evolabel.classifier.targets import LabelMatrix, Targets, read_targets, renamed_weights
from evolabel.core.events import THRESHOLD_CHANGES, Event
from evolabel.core.options import Options, option_names
from evolabel.core.rows import FOLLOWS_NOTHING, Batch
from evolabel.errors import DataError, StateError
from evolabel.model.pipeline import prototypes
from evolabel.model.protocols import Model
from evolabel.model.start.first_model import FEWEST_ROWS
from evolabel.model.stream_model import StreamModel
from evolabel.stages.feedback.stage import ErrorFeedback
from evolabel.stages.own.stage import bytes_of
from evolabel.stages.rules.memory_need import check_memory
from evolabel.stages.rules.stage import moving_antecedents_by
from evolabel.stages.scaling.stage import Scaler
from evolabel.streams.columns import ONLY_NUMBERS, ColumnKinds, FeatureNames
from evolabel.streams.tabular.column_coding import ColumnCoding, Encoded, Unseen
from evolabel.typing import BoolArray, FloatArray
from evolabel.words.text_columns import text_features

if TYPE_CHECKING:
    from evolabel.explain.explain_sample import Correct
    from evolabel.explain.prediction import Explanation


class Classifier(Protocol):
    """An estimator with a model, its parameters as attributes; `EvolvingFuzzyClassifier` is one."""

    n_features_in_: int
    class_weight: Any
    threshold: float
    _options_class: ClassVar[type[Options]]

    @property
    def stages(self) -> Sequence[Any]:
        """The stages of a user."""

    @property
    def inner(self) -> "ClassifierInner":
        """What other packages use of it."""

    @property
    def events_(self) -> list[Event]:
        """What has happened to its rules, oldest first."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return its parameters."""

    def set_params(self, **parameters: Any) -> Self:
        """Set these `parameters`, and return it."""

    @staticmethod
    def paper(**changes: Any) -> Any:
        """Return a classifier with the paper's parameters, but for those in `changes`."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Return the names of its parameters."""


class FittedModel(NamedTuple):
    """The model of a classifier at one moment, with the names of its features and labels."""

    model: Model
    n_features: int
    targets: LabelMatrix
    features: list[str] | None
    """Names of the features; None where they have none."""

    def is_still(self, model: Model, targets: object) -> bool:
        """Whether `model` and `targets` are those of this moment, with as many features."""
        return self.model is model and self.targets is targets and self.n_features == model.n_features

    def same_features(self, other: "FittedModel") -> bool:
        """Whether `other` has as many features, of the same names where both have names."""
        if self.features is None or other.features is None:
            return self.n_features == other.n_features
        return self.features == other.features

    def keeps_labels_of(self, other: "FittedModel") -> bool:
        """Whether the first labels are those of `other`; further labels may have been added."""
        return self.model is other.model or self.targets.names[: other.targets.size] == other.targets.names


class ClassifierInner:
    """The model of a classifier trained on a label matrix, checks of its rows, and training on checked rows.

    Parameters
    ----------
    classifier : Classifier
        Classifier that is read and trained in place.
    state : ClassifierState
        Its state.
    options_class, model_class : type
        The classes of its checked parameters and of its model.
    """

    def __init__(
        self,
        classifier: Classifier,
        state: ClassifierState,
        options_class: type[Options],
        model_class: type[StreamModel],
    ) -> None:
        self.classifier, self.state = classifier, state
        self.options_class, self.model_class = options_class, model_class
        self._by_order = False  # whether arrays without the classifier's feature names have come before

    @property
    def lock(self) -> Any:
        """The lock of the classifier."""
        return self.state.lock

    @property
    def model(self) -> Model:
        """The model; NotTrainedError before the first rows, StateError if the classifier was trained on classes."""
        known = self.state.__dict__
        if type(known.get("targets")) is LabelMatrix and "model" in known:
            return self.state.model
        if not self.state.is_fitted:
            raise errors.NotTrainedError(
                "the classifier has no labels yet; call its fit with an initial batch, or partial_fit with a few rows"
            )
        raise StateError("the classifier was trained on classes; train it on a label matrix (samples, labels)")

    def check_mergeable(self, other: Classifier) -> None:
        """Raise DataError unless `other` is another classifier with the same features."""
        if other is self.classifier:
            raise DataError("a classifier cannot be merged with itself; pass one that was trained on other rows")
        mine, theirs = self.feature_names, other.inner.feature_names
        if mine != theirs or self.columns != other.inner.columns:
            raise DataError(
                f"the classifiers have different features ({len(mine)}: {mine[:3]}..., {len(theirs)}: "
                f"{theirs[:3]}...); only classifiers of the same features can be merged"
            )

    @property
    def any_model(self) -> StreamModel:
        """The model, whatever the target; NotTrainedError before the first rows."""
        return self.state.fitted_model()

    @property
    def trained_model(self) -> StreamModel:
        """The model, whatever the target; StateError during its warm-up."""
        return self.state.trained_model()

    @property
    def feature_names(self) -> list[str]:
        """Names of the features; x0, x1, ... where they have none."""
        coding, width = self.columns, self.classifier.n_features_in_
        return [f"x{j}" for j in range(width)] if coding is None else copy(coding.feature_names)

    @property
    def is_fitted(self) -> bool:
        """Whether the classifier has seen any rows."""
        return self.state.is_fitted

    @property
    def targets(self) -> Targets:
        """The coding of the labels."""
        return self.state.targets

    @targets.setter
    def targets(self, targets: Targets) -> None:
        self.state.targets = targets

    @property
    def fitted(self) -> FittedModel:
        """The model as it is now, with the names of its features and labels."""
        model, targets = self.model, self.targets
        assert isinstance(targets, LabelMatrix)
        names = None if self.columns is None else self.columns.feature_names
        return FittedModel(model, model.n_features, targets, names)

    @property
    def label_names(self) -> list[str]:
        """Names in the order of the outputs: those of the columns of y, or of the classes as text."""
        return self.targets.names

    def new_model(self, n_features: int, n_labels: int, *, exclusive: bool = False) -> StreamModel:
        """An untrained model of `n_features` and `n_labels`, which are classes if `exclusive`, with the options."""
        options, stages = self.options(), prototypes(self.classifier.stages)
        self.check_memory(n_features, n_labels, options, stages)
        kind: dict[str, Any] = {"exclusive": exclusive, "stages": stages}
        return self.model_class(n_features, n_labels, options, feedback=ErrorFeedback(), **kind)

    def check_memory(
        self, n_features: int, n_labels: int, options: Options | None = None, stages: Sequence[Any] | None = None
    ) -> None:
        """Raise OutOfMemoryError if a model of `n_features`, `n_labels` and `options` does not fit into memory.

        It has these `stages`, by default those of the model, or those of the classifier where it has no model yet.
        """
        need = self.model_class.rule_kind.memory_need
        if stages is None:
            own = self.state.model.own_stages if self.is_fitted else None
            stages = prototypes(self.classifier.stages) if own is None else [stage.prototype for stage in own]
        check_memory(n_features, n_labels, options or self.options(), need, bytes_of(stages, n_features, n_labels))

    def begin(self, model: StreamModel, columns: ColumnCoding | None, targets: Targets) -> None:
        """Make `model` the model of an unfitted classifier, with these `columns`, if they have names, and `targets`."""
        self.state.replace(model, targets)
        if columns is None:
            self.classifier.n_features_in_ = model.n_features
        else:
            self.columns = columns

    def replace_model(self, model: StreamModel) -> None:
        """Make `model` the model of the classifier."""
        self.state.model = model

    def name_columns(
        self,
        features: list[str],
        labels: Targets,
        scaler: Scaler | None = None,
        kinds: ColumnKinds = ONLY_NUMBERS,
    ) -> None:
        """Set the names of the `features` and the coding of the `labels` of the classifier, which may be new.

        `kinds` are those of their columns. Other features that are only 0 or 1 by the `scaler`, and have names for it,
        stand for the texts of a column, too.
        """
        known = FeatureNames(features, kinds.texts)
        texts = known.texts if scaler is None else text_features(known, scaler.binary)
        self.columns = ColumnCoding.of_features(features, kinds._replace(texts=tuple(texts)))
        self.targets = labels

    def name_arrays(self, features: list[str], labels: list[str], kinds: ColumnKinds) -> None:
        """Name the `features` and `labels` of arrays, one name each, all different; `kinds` as in `name_columns`."""
        check_column_names("features", features, self.any_model.n_features)
        check_column_names("labels", labels, self.targets.size)
        model, known = self.any_model, self.targets.names
        if not isinstance(self.targets, LabelMatrix):
            if labels != known:
                raise DataError(f"the labels are classes and have names already ({first_names(known)}); pass these")
            self.name_columns(features, self.targets, model.scaler, kinds)
            return
        weights = renamed_weights(model.options.class_weight, known, labels)
        self.classifier.class_weight = renamed_weights(self.classifier.class_weight, known, labels)
        model.options = replace(model.options, class_weight=weights)
        self.name_columns(features, LabelMatrix(labels), model.scaler, kinds)

    @property
    def columns(self) -> ColumnCoding | None:
        """The coding of the columns of frames; None where the features have no names."""
        return known_coding(self.classifier)

    @columns.setter
    def columns(self, coding: ColumnCoding) -> None:
        keep_coding(self.classifier, coding)

    def events_since(self, n_events: int | None) -> list[Event]:
        """The events after the first `n_events`, or all that are kept (None), with names of labels and features."""
        rules, names = self.any_model.rules, (self.feature_names, self.label_names)
        if rules is None:
            return []
        kept = len(rules.events)  # older ones are dropped
        new = kept if n_events is None else max(min(rules.n_events - n_events, kept), 0)
        events: Sequence[Event] = [*islice(rules.events, kept - new, None)]
        if any(event.kind in THRESHOLD_CHANGES for event in events):
            from evolabel.stages.threshold_rules.event_words import with_rule_words
            from evolabel.stages.threshold_rules.read_trees import tree_reader

            events = with_rule_words(list(rules.events), tree_reader(self.any_model, *names), kept - new)
        return [event.named(*names) for event in events]

    def options(self) -> Options:
        """The parameters of the classifier, checked; ParameterError for the first that is not allowed."""
        values = {name: getattr(self.classifier, name) for name in option_names(self.options_class)}
        return self.options_class(**values).check()

    def validate_rows(self, X: object) -> FloatArray:
        """Rows of the table `X`, or of a list of dictionaries by feature names or of encoded rows, checked, (n, p).

        Some may have no feature at all. Where the classifier has feature names, scikit-learn's warning of an array
        without names is given once.
        """
        if isinstance(X, list) and X and isinstance(X[0], Mapping | Encoded):
            return np.vstack([self.validate_row(x).rows for x in X])
        return self._validated(X).rows

    def _validated(self, X: object) -> Encoded:
        """The rows of `validate_rows`, and the texts of `X` that no feature stands for."""
        model = vars(self.state).get("model")
        if self._by_order and type(X) is np.ndarray and model is not None:
            width = model.n_features
            array = X if is_checked_shape(X, width) else as_matrix(X, "X")
            if is_checked_shape(array, width):
                return Encoded(usable_values(array), [])
        self.model  # noqa: B018 (an error if it is not trained on a label matrix)
        read = read_encoded(self.classifier, X, reset=False)
        usable_values(read.rows)
        self._by_order = self._by_order or type(X) is np.ndarray
        return read

    def add_labels(self, names: Sequence[str]) -> None:
        """Name the labels that the next row to learn will add; a note reports them."""
        if names:
            note(f"y answers {first_names(names)}, which the model did not have; added as a label")
            self.targets = LabelMatrix([*self.label_names, *names])

    def grow_labels(self, names: Sequence[str]) -> None:
        """Add labels of these `names` to the model, of which nothing is known yet."""
        model = self.any_model
        model.grow_labels(model.n_labels + len(names), absent=False)
        self.targets = LabelMatrix([*self.label_names, *names])

    def validate_row(self, x: object) -> Encoded:
        """One checked row, (1, p), from a flat array `x`, a dictionary by feature names or a table of one row.

        Texts that no feature stands for are returned beside it, and reported by a note. A row that is `Encoded` already
        has its values in the order of the features.
        """
        if type(x) is np.ndarray and x.ndim == 1:
            return self._validated(x[None])
        if isinstance(x, Encoded):
            if len(x.rows) != 1 or not is_checked_shape(x.rows, self.model.n_features):
                raise DataError(
                    f"x is encoded as {x.rows.shape}, expected (1, {self.model.n_features}); encode it for this model"
                )
            usable_values(x.rows)
            return x
        if isinstance(x, Mapping):
            coding = self.columns
            if coding is None:
                names = tuple(f"x{j}" for j in range(self.model.n_features))
                coding = ColumnCoding(names, (None,) * len(names))
            read = read_mapping(coding, x)
            usable_values(read.rows)
            return read
        array = x if type(x) is np.ndarray or hasattr(x, "columns") else as_one_row(x)
        if not (isinstance(array, np.ndarray) or hasattr(array, "columns")):
            array = as_array(array, "x")
            if array.ndim == 0:
                raise DataError(f"x is {x!r}; pass one sample, a number per feature")
        read = self._validated(array.reshape(1, -1) if isinstance(array, np.ndarray) and array.ndim == 1 else array)
        if len(read.rows) != 1:
            raise DataError(f"query takes one sample, got {len(read.rows)} rows; use next_query for many")
        return read

    def explain(
        self, x: object, correct: "Correct | None", changes: int, *, follows: int | None = None
    ) -> "Explanation":
        """The explanation of one sample `x`, outputs corrected by `correct`, with at most `changes` changes a label.

        `follows` is as in `decision_function`.
        """
        self.model  # noqa: B018
        read = self.validate_row(x) if isinstance(x, Mapping | Encoded) else self._validated(as_one_row(x))
        return self.explain_row(read.rows, correct, tuple(read.unseen), changes, follows=follows)

    def explain_features(self, x: FloatArray, unseen: tuple[Unseen, ...]) -> "Explanation":
        """The explanation of one row of features, `x`, (p,), whose texts `unseen` no feature stands for."""
        return self.explain_row(usable_values(x[None]), unseen=unseen)

    def explain_row(
        self,
        rows: FloatArray,
        correct: "Correct | None" = None,
        unseen: tuple[Unseen, ...] = (),
        changes: int = 1,
        *,
        follows: int | None = None,
    ) -> "Explanation":
        """The explanation of one checked row, (1, n_features), its outputs corrected by `correct`.

        `unseen` are its texts that no feature stands for, `changes` the most changes that turn a label. A row without
        any feature is explained by the base rates. `follows` is as in `decision_function`.
        """
        from evolabel.explain.explain_sample import explain_empty, explain_sample
        from evolabel.explain.unfamiliar import describe_unfamiliar

        if len(rows) != 1:
            raise DataError(f"explain takes one sample, got {len(rows)} rows; pass one row at a time")
        changes, names = whole_number("changes", changes, 1), (self.feature_names, self.label_names)
        ages = FOLLOWS_NOTHING if follows is None else self.state.ages(follows)[:1]
        model = self._answering_model()
        threshold = self.classifier.threshold
        if rows_without_features(rows) is not None:
            rates = model.base_rates()[None]
            return explain_empty(model, rows[0], *names, **self.state.row_decisions(rates, threshold))
        read = rows if model.rules is None else model.sensors.corrected(rows)  # the move of a sensor is not unfamiliar
        unfamiliar = describe_unfamiliar(read[0], model.ranges, self.columns, unseen)
        plain, correction = model.outputs(rows), None if correct is None else correct(rows)
        outputs = plain if correction is None else correction.of(plain)
        if model is not self.any_model:  # that of the first rows
            ages = FOLLOWS_NOTHING
        if len(ages):
            outputs = model.answer_few(rows, follows=ages).outputs
        decided = self.state.row_decisions(outputs, threshold, plain if len(ages) else None)
        about: dict[str, Any] = {"follows": ages, "unfamiliar": unfamiliar, "changes": changes, **decided}
        why = explain_sample(model, rows, *names, correct=correct, **about)
        return replace(why, warm_up=model is not self.any_model)

    def _answering_model(self) -> Model:
        """Return the model behind the outputs; StateError before there is one."""
        fitted = self.any_model
        model, warm_up = fitted.answering(), fitted.warm_up
        if model is None and warm_up is not None and fitted.answers_early:
            raise StateError(
                f"{counted(warm_up.filled, 'annotated sample')} so far, and predictions are explained from "
                f"{FEWEST_ROWS} on; call partial_fit with more samples first"
            )
        return model or self.trained_model

    def decide(self, outputs: FloatArray, plain: FloatArray | None = None) -> BoolArray:
        """Return the labels that the classifier predicts for `outputs`, (n, K).

        `plain` are those without the last answers; None: the same.
        """
        if plain is None:
            return self.state.decide(outputs, self.classifier.threshold)
        return self.state.decide_all(outputs, plain, self.classifier.threshold)

    @property
    def silent_labels(self) -> list[str]:
        """Labels that were never predicted when they were looked for last, although many rows have them."""
        return self.state.silent.found

    def note_silent_labels(self) -> None:
        """Warn of labels that are never predicted, once for each, if enough rows have come since the last time."""
        self.state.note_silent_labels(self.classifier.threshold)

    def learn_checked(
        self,
        x: FloatArray,
        y: FloatArray,
        confidence: FloatArray | None,
        *,
        antecedent_rate: float,
        counted: BoolArray,
        late: int,
    ) -> FloatArray:
        """Outputs for the checked row `x`, (p,), from before it is learned with the checked labels `y`.

        `y` is (K,) of 0, 1 and NaN; the weights of labels that are NaN do not change, and a wider `y` adds labels.
        `confidence` of each label in [0, 1] may be None. `antecedent_rate` in [0, 1] is the factor by which the sample
        moves the rule it falls into. Only labels that are `counted`, (K,), move the thresholds of prediction sets:
        those that were not chosen because they are uncertain. `late` rows of the stream were counted after it.
        """
        state, model = self.state, self.state.model
        labels = y[None]
        if len(y) != state.targets.size:
            labels, state.targets = read_targets(labels, 1, state.targets, streaming=True)
        counted_before = int(not np.isnan(x).all())  # the row was counted when it was seen, unless it has no feature
        model.advance(-counted_before)
        rules, outputs, plain = model.rules, np.zeros(labels.shape), np.full(labels.shape, np.nan)
        batch = Batch(x[None], labels, outputs=outputs, plain=plain)
        if confidence is not None:
            batch = batch._replace(confidences=confidence[None])
        memory = model.memory
        try:
            if rules is None:
                state.learn(batch)
            else:
                when = nullcontext() if memory is None else memory.late(late)
                with moving_antecedents_by(rules, antecedent_rate), model.calibration.counting(counted), when:
                    state.learn(batch)
        except BaseException:
            model.advance(counted_before)
            raise
        return np.asarray(np.where(np.isnan(plain), outputs, plain)[0])  # there are no plain ones without a memory
