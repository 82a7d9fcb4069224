"""`Controls`: what a program that runs a learner for months needs besides queries and answers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from evolabel.active.query import Query
from evolabel.active.selection import RandomSelector
from evolabel.classifier.estimator import EvolvingFuzzyClassifier
from evolabel.classifier.inner import ClassifierInner
from evolabel.classifier.safe_calls import exclusive, uninterrupted
from evolabel.classifier.targets import LabelMatrix, checked_labels
from evolabel.errors import DataError, ParameterError
from evolabel.streams.tabular.column_coding import ColumnCoding

if TYPE_CHECKING:
    from evolabel.active.answers.ledger import Ledger
    from evolabel.active.selection.token_bucket import TokenBucket
    from evolabel.active.strategy import QueryStrategy
    from evolabel.core.protocols import Model


class Controls:
    """The half of `ActiveLearner` that starts it without data, changes its budget, and stores it."""

    bucket: "TokenBucket"
    ledger: "Ledger"
    strategy: "QueryStrategy"
    antecedent_rate: float
    _inner: ClassifierInner

    @classmethod
    def start(
        cls,
        features: Sequence[str] | Mapping[str, Sequence[str] | None],
        labels: Sequence[str],
        classifier: EvolvingFuzzyClassifier | None = None,
        **settings: Any,
    ) -> Self:
        """A learner that has seen nothing: it answers with the shares of the labels, and asks as soon as it can afford.

        Parameters
        ----------
        features : list of str, or dict of str to list of str or None
            Names of the features; in a dictionary a feature of texts has the list of its texts, others have None.
        labels : list of str
            Names of the labels.
        classifier : EvolvingFuzzyClassifier, optional
            Untrained; by default one of default parameters.
        **settings
            `budget`, `per` and the other parameters of the class.
        """
        named = features if isinstance(features, Mapping) else dict.fromkeys(features)
        if not named or len(named) < len(features) or len(set(labels)) < len(labels) or not labels:
            raise DataError("features and labels need one name each, all different; pass lists of names")
        coding = ColumnCoding(tuple(named), tuple(texts and tuple(texts) for texts in named.values()))
        inner = ClassifierInner(EvolvingFuzzyClassifier() if classifier is None else classifier)
        if inner.is_fitted:
            raise ParameterError("the classifier has learned rows already; pass it to ActiveLearner itself")
        model = inner.new_model(len(coding.feature_names), len(labels))
        inner.begin(model, coding, LabelMatrix(list(labels)))
        return cls(inner.classifier, **settings)

    @uninterrupted
    def pass_by(self, query: Query, *, held: bool = False) -> None:
        """Count the sample of `query` as seen and not asked, whatever the query proposes; nothing is spent.

        `held`: a limit other than the budget stopped the question, which the ledger counts.
        """
        model = self._inner.model
        self._check_own(model, query)
        self._follow_model(model)
        passed = replace(query, labels=np.zeros_like(query.labels), reasons=(), cost=0)
        self.strategy.count(model, passed)
        query.number = passed.number
        self.ledger.questions_held += held and query.asked

    @uninterrupted
    def teach(self, x: object, y: object) -> None:
        """Learn labels `y` of a sample `x` that was counted before and not asked about; they cost nothing.

        `y` has 0, 1 or NaN for each label, as in `update`.
        """
        row = self._inner.validate_row(x)[0]
        labels = checked_labels(np.array(y, dtype=np.float64, ndmin=2))
        model = self._inner.model
        if labels.shape != (1, model.n_labels):
            raise DataError(f"y has the shape {np.shape(y)}; pass {model.n_labels} labels, NaN for unknown ones")
        if not np.isnan(labels).all():
            counted = np.ones(model.n_labels, np.bool_)
            self._inner.learn_checked(row, labels[0], None, antecedent_rate=self.antecedent_rate, counted=counted)
            self.ledger.labels_volunteered += int(np.count_nonzero(~np.isnan(labels)))

    @uninterrupted
    def set_budget(self, budget: float) -> None:
        """Change the `budget` for the samples to come; what was seen before has earned under the budget before.

        ParameterError for a learner with credit, and with selection="random", whose draws hold for one budget.
        """
        if isinstance(self.strategy.selector, RandomSelector):
            raise ParameterError('selection="random" draws its questions for one budget; make a new learner')
        self.bucket.set_budget(budget)
        self.strategy.selector.budget = self.bucket.budget

    # ------------------------------------------------------------------ bytes

    @exclusive
    def to_bytes(self) -> bytes:
        """The contents of the file that `save` writes."""
        from evolabel.active.storage import learner_bytes

        self._follow_model(self._inner.model)
        return learner_bytes(self)  # type: ignore[arg-type]

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The learner in `data`, which `to_bytes` has made; ModelFileError if they are damaged."""
        from evolabel.active.storage import learner_from_bytes

        return learner_from_bytes(cls, data)  # type: ignore[type-var]

    @exclusive
    def seal(self) -> str:
        """Checksum of the whole state: two learners with the same seal go on with the same bits."""
        from evolabel.active.storage import learner_checksum

        self._follow_model(self._inner.model)
        return learner_checksum(self)  # type: ignore[arg-type]

    def _check_own(self, model: "Model", query: Query) -> None:
        raise NotImplementedError

    def _follow_model(self, model: "Model") -> None:
        raise NotImplementedError
