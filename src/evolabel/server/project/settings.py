"""Settings of a project, its features with their values, and its labels, as a request or a record holds them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from evolabel._utils.text import first_names
from evolabel.errors import ParameterError

MEGABYTE = 1_000_000
MEBIBYTE = 1024 * 1024


class ServiceLimits(NamedTuple):
    """Limits of all projects and requests.

    `queue`: requests of a project that wait at most; `rows`: rows of a request; `min_free`: bytes left on the disk,
    below which samples are refused, answers below a quarter; `model`: bytes of a model file; `sse`: open streams;
    `file`: bytes of a file of rows, packed or unpacked.
    """

    queue: int = 2000
    rows: int = 1000
    min_free: int = 200 * MEGABYTE
    model: int = 64 * MEBIBYTE
    sse: int = 200
    file: int = 64 * MEBIBYTE


DEFAULT_LIMITS = ServiceLimits()


class Retention(NamedTuple):
    """How many `days` payloads of samples stay in the log, and the `folder` to which older ones go."""

    days: int
    folder: Path


MOST_LABELS = 500  # of a project

_UNITS = ("labels", "samples")


@dataclass(frozen=True)
class ProjectSettings:
    """How a project asks and counts.

    Parameters
    ----------
    budget : float
        Share of the labels (or samples) that may be asked, in (0, 1].
    per : {"labels", "samples"}
        What the budget counts; fixed when the project is made.
    max_open : int
        Questions without any answer at most; while there are so many, no other is asked.
    questions_per_hour : int
        Questions asked at most within any 60 minutes; 0: no limit.
    burst : int
        Samples whose unused budget can be saved at most.
    blind : bool
        Whether annotators see a prediction only after their answer is final.
    min_answers : int
        People whose answers a question needs.
    overlap : float
        Share of the questions that need one more answer, so that people can be compared.
    lease_seconds : int
        Time for which `next` offers a question to this person alone.
    hold_seconds : float
        Time during which an answer can be taken back, before it trains the model.
    expire_after : int
        Samples after which an open question is closed unanswered; 7 days close it, too.
    snapshot_every : int
        Records after which the state of the model is stored.
    source : str
        Text feature with the source of a sample, for samples that name no source.
    criteria : str
        Names of the scores by which samples are chosen, with commas between; empty: those that were measured to help
        most. They are fixed when the project is made.
    one_of : bool
        Whether each sample has one label of several: yes to one is no to all others. Fixed when the project is made.
    """

    budget: float = 0.1
    per: str = "labels"
    max_open: int = 50
    questions_per_hour: int = 0
    burst: int = 200
    blind: bool = True
    min_answers: int = 1
    overlap: float = 0.1
    lease_seconds: int = 300
    hold_seconds: float = 20.0
    expire_after: int = 2000
    snapshot_every: int = 5000
    source: str = ""
    criteria: str = ""
    one_of: bool = False

    def __post_init__(self) -> None:
        for item in fields(self):
            value, kind = getattr(self, item.name), item.type if isinstance(item.type, str) else item.type.__name__
            if type(value) is not _KINDS[kind] and (kind != "float" or type(value) is not int):
                raise ParameterError(f"{item.name} is {value!r}; it must be {_KIND_WORDS[kind]}")
        for name, (low, high) in SETTING_RANGES.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise ParameterError(f"{name} is {value!r}; it must be from {low} to {high}")
        if not self.budget:
            raise ParameterError("budget is 0; it must be above 0, pause the project to ask nothing")
        if self.per not in _UNITS:
            raise ParameterError(f"per is {self.per!r}; it must be one of {', '.join(_UNITS)}")

    @classmethod
    def read(cls, facts: dict[str, Any], base: "ProjectSettings | None" = None) -> Self:
        """Return the settings in `facts`, the others as in `base` or by default; ParameterError for unknown ones."""
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(facts) - known):
            raise ParameterError(f"there is no setting {unknown[0]!r}; the settings are {', '.join(sorted(known))}")
        return cls(**facts) if base is None else replace(base, **facts)  # type: ignore[return-value]

    def facts(self) -> dict[str, Any]:
        """Return the settings as JSON holds them; without `one_of` where it is not set, as in states stored before."""
        return {name: value for name, value in asdict(self).items() if value or name != "one_of"}

    def criteria_names(self) -> list[str] | None:
        """Return the names of the criteria, None for the default ones."""
        return [name.strip() for name in self.criteria.split(",")] if self.criteria.strip() else None

    def check_source(self, features: "Sequence[Feature]") -> None:
        """Raise ParameterError unless the source is empty or one of the texts among `features`."""
        texts = [feature.name for feature in features if feature.choices]
        if self.source and self.source not in texts:
            known = first_names(texts) if texts else "none"
            raise ParameterError(f"source is {self.source!r}; it must be a text feature ({known}), or empty")


_KINDS = {"int": int, "float": float, "bool": bool, "str": str}
_KIND_WORDS = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "a text"}
SETTING_RANGES = {
    "budget": (0, 1),
    "max_open": (1, 10_000),
    "questions_per_hour": (0, 1_000_000),
    "burst": (1, 1_000_000),
    "min_answers": (1, 9),
    "overlap": (0, 1),
    "lease_seconds": (1, 86_400),
    "hold_seconds": (0, 3600),
    "expire_after": (1, 10_000_000),
    "snapshot_every": (10, 1_000_000),
}
"""Least and largest value of each setting that is a number."""


@dataclass(frozen=True)
class Feature:
    """A value of each sample: a number, or a text that is one of `choices`."""

    name: str
    kind: str = "number"
    choices: tuple[str, ...] = ()
    title: str = ""
    unit: str = ""

    def __post_init__(self) -> None:
        if self.kind not in ("number", "text"):
            raise ParameterError(f"the kind of feature {self.name!r} is {self.kind!r}; it must be number or text")
        if (self.kind == "text") != bool(self.choices):
            raise ParameterError(f"feature {self.name!r}: give choices for a text, and for a text only")
        if len(set(self.choices)) < len(self.choices):
            raise ParameterError(f"feature {self.name!r} has the same choice twice; give each once")

    @property
    def columns(self) -> list[str]:
        """Names of the columns of the model that stand for the feature: one, or one per choice."""
        return [f"{self.name}={choice}" for choice in self.choices] or [self.name]

    @classmethod
    def read(cls, facts: dict[str, Any]) -> "Feature":
        """Return the feature in `facts`."""
        return cls(**{**facts, "choices": tuple(facts.get("choices") or ())})

    def facts(self) -> dict[str, Any]:
        """Return the feature as JSON holds it."""
        return {**asdict(self), "choices": list(self.choices)}


@dataclass(frozen=True)
class Label:
    """A label that people are asked for; one that is `retired` is predicted and not asked for any more."""

    name: str
    title: str = ""
    help: str = ""
    retired: bool = False

    def facts(self) -> dict[str, Any]:
        """Return the label as JSON holds it."""
        return asdict(self)


def count_unseen(features: Sequence[Feature], samples: Iterable[Sequence[object]]) -> Counter[tuple[str, object]]:
    """Return how often the cells of `samples` hold texts that are none of the choices of `features`.

    The keys are the name of the feature and the text.
    """
    texts = [(place, feature) for place, feature in enumerate(features) if feature.choices]
    return Counter(
        (feature.name, cells[place])
        for cells in samples
        for place, feature in texts
        if cells[place] is not None and cells[place] not in feature.choices
    )
