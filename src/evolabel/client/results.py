"""What the service returns, with names and types. Fields that are not known are left out."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from types import NoneType
from typing import Any, Self, get_args

Facts = Mapping[str, Any]


class Result:
    """Base of the results: dataclasses that are read from the JSON of the service by the names of their fields."""

    @classmethod
    def read(cls, facts: Facts) -> Self:
        """Return the result in `facts`; what may be None may be missing there, and texts of times become times."""
        return cls(**{field.name: _value(facts, field.name, field.type) for field in fields(cls)})  # type: ignore[arg-type]


@dataclass(frozen=True)
class SamplePrediction(Result):
    """Probability of each label, the labels that are predicted, and warnings on the values."""

    prediction: dict[str, float]
    labels: list[str]
    warnings: list[str]

    @classmethod
    def read(cls, facts: Facts) -> Self:
        """Return the prediction in `facts`."""
        return super().read({"warnings": [], **facts})


@dataclass(frozen=True)
class SampleResult(SamplePrediction):
    """A sample that was counted: its number, and the labels that are asked, with the reasons for each.

    `held` is the limit that has stopped a question.
    """

    number: int
    id: str | None
    asked: list[str]
    reasons: dict[str, list[str]]
    held: str | None

    @classmethod
    def read(cls, facts: Facts) -> Self:
        """Return the result in `facts`."""
        asked = facts.get("question") or {}
        return super().read({**facts, "asked": asked.get("labels", []), "reasons": asked.get("reasons", {})})


@dataclass(frozen=True)
class StoredSample(Result):
    """A sample as it was stored; `prediction` and `labels` are None while `hidden` from the reader."""

    number: int
    at: datetime
    x: dict[str, Any]
    id: str | None
    source: str | None
    asked: list[str]
    hidden: bool
    prediction: dict[str, float] | None
    labels: list[str] | None

    @classmethod
    def read(cls, facts: Facts) -> Self:
        """Return the sample in `facts`."""
        return super().read({**facts, "asked": (facts.get("question") or {}).get("labels", [])})


@dataclass(frozen=True)
class OfferedQuestion(Result):
    """A question that is kept for one person until `lease_until`: its sample, the labels asked and the reasons."""

    number: int
    labels: list[str]
    reasons: dict[str, list[str]]
    x: dict[str, Any]
    id: str | None
    source: str | None
    asked_at: datetime
    lease_until: datetime
    waiting: int

    @classmethod
    def read(cls, facts: Facts) -> Self:
        """Return the question in `facts`."""
        return super().read({**facts, **facts["question"]})


@dataclass(frozen=True)
class WaitingQuestion(Result):
    """An open question: labels, time, how many people it needs, and whether the reader has answered it."""

    number: int
    labels: list[str]
    at: datetime
    needed: int
    answered: bool


@dataclass(frozen=True)
class AnswerReceipt(Result):
    """What became of an answer: its status, whether it came after the question was closed, when it is final."""

    status: str
    late: bool
    final_at: datetime | None


@dataclass(frozen=True)
class ModelRule(Result):
    """A rule of the model: its number, kind (written, threshold or learned), text, and the labels that it claims."""

    rule: int
    kind: str
    text: str
    name: str
    locked: bool
    labels: list[dict[str, Any]]
    support: float


@dataclass(frozen=True)
class ProjectEvent(Result):
    """Something that happened: number of its record, kind, time, person, and what belongs to its kind."""

    seq: int
    kind: str
    at: datetime
    person: str | None
    args: dict[str, Any]


@dataclass(frozen=True)
class ProjectStatus(Result):
    """A project: its features, labels and settings as the service has them, and what was counted.

    `asked` are questions, `cost` is what they cost of the budget: labels or samples, by the setting `per`.
    """

    slug: str
    title: str
    features: list[dict[str, Any]]
    labels: list[dict[str, Any]]
    settings: dict[str, Any]
    paused: bool
    seq: int
    samples: int
    asked: int
    cost: int
    share_asked: float
    open: int


def _value(facts: Facts, name: str, kind: Any) -> Any:
    """Return the value called `name` in `facts` as one of this `kind`; KeyError if it must be there and is not."""
    kinds = get_args(kind) or (kind,)
    value = facts.get(name) if NoneType in kinds else facts[name]
    return datetime.fromisoformat(value) if datetime in kinds and value is not None else value
