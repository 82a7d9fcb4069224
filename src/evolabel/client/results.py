"""What the service returns, with names and types. Fields that are not known are left out."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class SamplePrediction:
    """Probability of each label, the labels that are predicted, and warnings on the values."""

    prediction: dict[str, float]
    labels: list[str]
    warnings: list[str]

    @classmethod
    def read(cls, facts: Facts) -> "SamplePrediction":
        """Return the prediction in `facts`."""
        return cls(facts["prediction"], facts["labels"], facts.get("warnings", []))


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
    def read(cls, facts: Facts) -> "SampleResult":
        """Return the result in `facts`."""
        prediction = SamplePrediction.read(facts)
        asked = facts.get("question") or {}
        return cls(
            **vars(prediction),
            number=facts["number"],
            id=facts.get("id"),
            asked=asked.get("labels", []),
            reasons=asked.get("reasons", {}),
            held=facts.get("held"),
        )


@dataclass(frozen=True)
class StoredSample:
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
    def read(cls, facts: Facts) -> "StoredSample":
        """Return the sample in `facts`."""
        return cls(
            facts["number"],
            read_time(facts["at"]),
            facts["x"],
            facts.get("id"),
            facts.get("source"),
            (facts.get("question") or {}).get("labels", []),
            facts["hidden"],
            facts.get("prediction"),
            facts.get("labels"),
        )


@dataclass(frozen=True)
class OfferedQuestion:
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
    def read(cls, facts: Facts) -> "OfferedQuestion":
        """Return the question in `facts`."""
        return cls(
            facts["number"],
            facts["question"]["labels"],
            facts["question"]["reasons"],
            facts["x"],
            facts.get("id"),
            facts.get("source"),
            read_time(facts["asked_at"]),
            read_time(facts["lease_until"]),
            facts["waiting"],
        )


@dataclass(frozen=True)
class WaitingQuestion:
    """An open question: labels, time, how many people it needs, and whether the reader has answered it."""

    number: int
    labels: list[str]
    at: datetime
    needed: int
    answered: bool

    @classmethod
    def read(cls, facts: Facts) -> "WaitingQuestion":
        """Return the question in `facts`."""
        return cls(facts["number"], facts["labels"], read_time(facts["at"]), facts["needed"], facts["answered"])


@dataclass(frozen=True)
class AnswerReceipt:
    """What became of an answer: its status, whether it came after the question was closed, when it is final."""

    status: str
    late: bool
    final_at: datetime | None

    @classmethod
    def read(cls, facts: Facts) -> "AnswerReceipt":
        """Return the receipt in `facts`."""
        final = facts.get("final_at")
        return cls(facts["status"], facts["late"], None if final is None else read_time(final))


@dataclass(frozen=True)
class ProjectStatus:
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

    @classmethod
    def read(cls, facts: Facts) -> "ProjectStatus":
        """Return the project in `facts`."""
        return cls(**{name: facts[name] for name in cls.__dataclass_fields__})


def read_time(text: str) -> datetime:
    """Return the time in `text`, such as 2026-11-16T14:02:59Z."""
    return datetime.fromisoformat(text)
