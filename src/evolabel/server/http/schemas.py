"""Bodies that the routes take. Numbers are numbers: true, NaN and texts are refused."""

from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr, WithJsonSchema, model_validator

from evolabel.streams.files.own_file import Use

ROWS_PER_REQUEST = 1000  # of one request
LONGEST_ID = 200  # characters
MOST_NUMBER = 2**53  # of a sample
_NUMBERS = {float, int, type(None)}  # types of values without any text

_VALUE = {"type": ["number", "string", "null"]}
Values = Annotated[
    Any,
    WithJsonSchema({"oneOf": [{"type": "object", "additionalProperties": _VALUE}, {"type": "array", "items": _VALUE}]}),
]
"""Values of a sample, by name or in the order of the features; the project checks them, and names what is wrong."""
Identifier = Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_ID)]
Name = Annotated[StrictStr, Field(min_length=1, max_length=200)]
Answer = StrictBool | None
Number = Annotated[int, Path(ge=1, le=MOST_NUMBER)]
RuleNumber = Annotated[int, Path(ge=0, le=MOST_NUMBER)]
After = Annotated[int, Query(ge=0, le=MOST_NUMBER, description="what is behind this number is returned")]
Limit = Annotated[int, Query(ge=1, le=1000, description="most rows of the answer")]
"""Parameters of routes."""


class Part(BaseModel):
    """Base of objects inside a body: unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Body(Part):
    """Base of all bodies: texts that a database cannot store are errors, at any depth."""

    @model_validator(mode="before")
    @classmethod
    def _check_texts(cls, data: Any) -> Any:
        check_texts(data)
        return data


def check_texts(data: Any) -> None:
    """Raise ValueError if a text in `data`, at any depth, has a character that cannot be stored."""
    if isinstance(data, dict):
        for name, value in data.items():
            check_texts(name)
            if type(value) is not float:  # most values are
                check_texts(value)
    elif isinstance(data, list):
        if not _NUMBERS.issuperset(map(type, data)):
            for value in data:
                check_texts(value)
    elif isinstance(data, str) and ("\0" in data or not (data.isascii() or _is_encodable(data))):
        raise ValueError(f"the text {data[:50]!r} has a character that cannot be stored; leave it out")


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class SampleIn(Part):
    """A sample: its values by name or in the order of the features, and what else is known of it."""

    x: Values
    id: Identifier | None = None
    at: StrictStr | None = Field(None, max_length=40)
    source: Identifier | None = None
    y: dict[str, Answer] | None = None


class SamplesIn(Body):
    """Samples in the order in which they are counted."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"samples": [{"id": "gw1-88121", "x": {"pressure": 4.92, "flow": 3.41, "current": None}}]}]
        },
    )
    samples: Annotated[list[SampleIn], Field(min_length=1, max_length=ROWS_PER_REQUEST)]


class PredictionIn(Part):
    """A sample whose prediction is needed; it is not counted."""

    x: Values


class PredictionsIn(Body):
    """Samples whose predictions are needed."""

    samples: Annotated[list[PredictionIn], Field(min_length=1, max_length=ROWS_PER_REQUEST)]


class CorrectionIn(Body):
    """Other labels of a sample, or null to take them back."""

    answers: Annotated[dict[str, Answer], Field(min_length=1)] | None


class HistoryRow(Part):
    """A row from before the project, with its labels."""

    x: Values
    y: Annotated[dict[str, Answer], Field(min_length=1)]


class HistoryIn(Body):
    """Rows with labels, for a fit."""

    rows: Annotated[list[HistoryRow], Field(min_length=1, max_length=ROWS_PER_REQUEST)]


class RebuildIn(Body):
    """Why the model is made anew, and people and labels whose answers do not count."""

    cause: StrictStr = Field(min_length=1, max_length=2000)
    people: Annotated[list[Name], Field(max_length=1000)] = []
    labels: Annotated[list[Name], Field(max_length=500)] = []


class LabelsIn(Body):
    """Labels of a sample that became known later."""

    y: Annotated[dict[str, Answer], Field(min_length=1)]


class AnswerIn(Body):
    """A person's answer: true, false, or null for unsure, by label."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"answers": {"leak": True}, "took_ms": 3120}]})
    answers: Annotated[dict[str, Answer], Field(min_length=1)]
    took_ms: Annotated[int, Field(ge=0, le=10**9)] | None = None
    note: StrictStr | None = Field(None, max_length=2000)


class DecisionIn(Body):
    """An expert's decision: true or false, by label."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"answers": {"leak": True}}]})
    answers: Annotated[dict[str, StrictBool], Field(min_length=1)]
    note: StrictStr | None = Field(None, max_length=2000)


class DraftIn(Body):
    """What a person has chosen so far; labels that are open yet are left out."""

    answers: dict[str, Answer]


class RefusalIn(Body):
    """A person cannot answer; optionally why."""

    reason: StrictStr | None = Field(None, max_length=2000)


class NextIn(Body):
    """Questions to leave for later."""

    skip: Annotated[list[Annotated[int, Field(ge=1, le=MOST_NUMBER)]], Field(max_length=1000)] = []


class FeatureIn(Part):
    """A feature of a project: a number, or a text with its choices."""

    name: Name
    kind: StrictStr = "number"
    choices: Annotated[list[Name], Field(max_length=1000)] = []
    title: StrictStr = Field("", max_length=200)
    unit: StrictStr = Field("", max_length=40)


class LabelIn(Body):
    """A label of a project."""

    name: Name
    title: StrictStr = Field("", max_length=200)
    help: StrictStr = Field("", max_length=1000)


class ProjectIn(Body):
    """A new project; `settings` are budget, limits of questions and times."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "slug": "pumps",
                    "title": "Pump station",
                    "features": [{"name": "pressure", "unit": "bar"}, {"name": "flow"}, {"name": "current"}],
                    "labels": [{"name": "leak"}, {"name": "wear"}],
                    "settings": {"budget": 0.05},
                }
            ]
        },
    )
    slug: StrictStr = Field(max_length=40)
    title: StrictStr = Field("", max_length=200)
    features: Annotated[list[FeatureIn], Field(min_length=1, max_length=2000)]
    labels: Annotated[list[LabelIn], Field(min_length=1, max_length=500)]
    settings: dict[str, Any] = {}


class FileProjectIn(Body):
    """A project to make of a file: uses of its columns, labels that are not in it or need words, and settings.

    With `waits` no more rows are sent while as many questions are open as the project allows.
    """

    slug: StrictStr = Field(max_length=40)
    title: StrictStr = Field("", max_length=200)
    columns: Annotated[dict[str, Use], Field(min_length=1, max_length=2000)]
    labels: Annotated[list[LabelIn], Field(max_length=500)] = []
    settings: dict[str, Any] = {}
    waits: StrictBool = True


class SettingsIn(Body):
    """Settings to change; the others stay."""

    settings: Annotated[dict[str, Any], Field(min_length=1)]


class TokenIn(Body):
    """A token to make: whose it is, what for, which role, and when it ends."""

    person: Name
    role: StrictStr
    name: Name = "token"
    until: StrictStr | None = Field(None, max_length=40)
    per_minute: Annotated[int, Field(ge=1, le=1_000_000)] | None = None


class MemberIn(Body):
    """A person with an account, who gets a role in the project."""

    person: Name
    role: StrictStr


class InviteIn(Body):
    """A person to invite, and the role that the link gives."""

    person: Name
    role: StrictStr = "annotator"


class MemberChangeIn(Body):
    """What changes for a member; a weight of null means that it is taken from agreements."""

    role: StrictStr | None = None
    weight: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None


class UserIn(Body):
    """A person of the server who gets a link to choose a password; `admin`: an administrator."""

    name: Name
    admin: StrictBool = False


class PreferencesIn(Body):
    """Preferences of a person: colours, single keys on or off, language of the pages."""

    theme: Literal["system", "light", "dark"] = "system"
    keys: StrictBool = True
    language: Literal["en", "de"] = "en"


class RuleIn(Body):
    """A rule as a person writes it: text, or JSON with `if` and `then`."""

    form: Annotated[StrictStr, Field(min_length=1, max_length=20_000)] | dict[str, Any]


class RuleNameIn(Body):
    """The name of a rule; empty for none."""

    name: Annotated[StrictStr, Field(max_length=200)]


class MergeIn(Body):
    """Numbers of two rules."""

    one: Annotated[int, Field(ge=0, le=MOST_NUMBER)]
    other: Annotated[int, Field(ge=0, le=MOST_NUMBER)]


class WebhookIn(Body):
    """An address to which questions, final answers and events are sent."""

    url: StrictStr = Field(min_length=1, max_length=2000)
    kinds: Annotated[list[Literal["question", "answer", "event"]], Field(min_length=1, max_length=3)]


class EmptyIn(Body):
    """A body without fields."""
