"""What is read of requests of Label Studio and of its labelling configuration, and the labels that annotations give.

The requests carry secrets (`access_token`, `params.login`, `params.password`). Only the fields that are named here are
read; nothing else is kept or logged.
"""

import math
from collections.abc import Collection, Sequence
from typing import Annotated, Any, NamedTuple
from xml.etree import ElementTree

from pydantic import AliasChoices, BaseModel, Field

from evolabel._utils.text import first_names
from evolabel.errors import DataError

QUESTION_FIELD = "evolabel_number"
"""Field of a task that is a question of the project: its number."""
MOST_TASKS = 1000  # of a request
Fields = dict[str, Any]
Answers = dict[str, bool | None]


_LONGEST_CONFIG = 100_000  # characters


class ChoicesTag(NamedTuple):
    """The tag `Choices`: its name, the tag it belongs to, and its choices."""

    name: str
    to_name: str
    choices: list[str]


def read_choices(config: object, labels: Collection[str]) -> ChoicesTag:
    """Return the tag `Choices` of a `config`; DataError unless there is one, and its choices are among `labels`."""
    if not isinstance(config, str) or not 0 < len(config) <= _LONGEST_CONFIG:
        raise DataError("the request has no labelling configuration as text; send label_config")
    if "<!" in config.replace("<!--", ""):
        raise DataError("the labelling configuration has declarations such as <!ENTITY>; leave them out")
    try:
        root = ElementTree.fromstring(config)
    except ElementTree.ParseError as error:
        raise DataError(f"the labelling configuration is no XML: {error}") from None
    found = list(root.iter("Choices"))
    if len(found) != 1:
        raise DataError(f"the labelling configuration has {len(found)} tags Choices; it must have one")
    tag = found[0]
    choices = [choice.get("alias") or choice.get("value") or "" for choice in tag.iter("Choice")]
    if unknown := [choice for choice in choices if choice not in labels]:
        raise DataError(f"{unknown[0]!r} is no label of the project; the labels are {first_names(list(labels))}")
    return ChoicesTag(tag.get("name") or "", (tag.get("toName") or "").split(",")[0], choices)


class StudioFieldError(DataError):
    """A field that cannot be used, with the JSON pointer of its place."""

    def __init__(self, pointer: str, message: str) -> None:
        super().__init__(message)
        self.pointer = pointer


class SetupRequest(BaseModel):
    """What is read of a set-up request."""

    schema_: str = Field(alias="schema")


class LabelTask(BaseModel):
    """The fields of a task that the bridge reads."""

    data: Fields


class PredictRequest(BaseModel):
    """What is read of a request for predictions."""

    tasks: Annotated[list[LabelTask], Field(min_length=1, max_length=MOST_TASKS)]
    label_config: str


class AnnotationPart(BaseModel):
    """One result of an annotation: the values given with the tag `from_name`."""

    type: str = ""
    from_name: str = ""
    value: Fields = {}


class LabelAnnotation(BaseModel):
    """What is read of an annotation."""

    id: Annotated[int, Field(strict=True, ge=0, lt=2**63)]
    result: list[AnnotationPart] = []
    was_cancelled: bool = False
    lead_time: Annotated[float, Field(ge=0, le=10**6, allow_inf_nan=False)] | None = None

    @property
    def sample_id(self) -> str:
        """Id of the sample that the annotation is."""
        return f"ls-{self.id}"


class ProjectOfStudio(BaseModel):
    """What is read of a project of Label Studio."""

    label_config: str | None = None


class SingleEvent(BaseModel):
    """What is read of an event on one annotation."""

    annotation: LabelAnnotation
    task: LabelTask | None = None
    project: ProjectOfStudio = ProjectOfStudio()

    def placed(self) -> list["PlacedAnnotation"]:
        """Return the annotation, the data of its task, and its place."""
        return [PlacedAnnotation("/annotation", self.annotation, None if self.task is None else self.task.data)]


class JointEvent(BaseModel):
    """What is read of an event on several annotations; their tasks, if sent, are in the same order."""

    annotations: Annotated[
        list[LabelAnnotation], Field(max_length=MOST_TASKS, validation_alias=AliasChoices("annotations", "annotation"))
    ]
    task: list[LabelTask] = []
    project: ProjectOfStudio = ProjectOfStudio()

    def placed(self) -> list["PlacedAnnotation"]:
        """Return each annotation, the data of its task, and its place; StudioFieldError if only some have tasks."""
        n = len(self.annotations)
        tasks: Sequence[LabelTask | None] = self.task or [None] * n
        if len(tasks) != n:
            raise StudioFieldError(
                "/task", f"the event has {n} annotations and {len(tasks)} tasks; send one task for each"
            )
        both = enumerate(zip(self.annotations, tasks, strict=True))
        return [
            PlacedAnnotation(f"/annotations/{i}", one, None if task is None else task.data) for i, (one, task) in both
        ]


class PlacedAnnotation(NamedTuple):
    """An annotation of an event, with the JSON pointer of its place, and the data of its task if they were sent."""

    pointer: str
    annotation: LabelAnnotation
    data: Fields | None

    @property
    def number(self) -> int | None:
        """Number of the question that the task is, None if it is none; DataError if it is no number."""
        number = (self.data or {}).get(QUESTION_FIELD)
        if number is None or (isinstance(number, int) and not isinstance(number, bool) and 0 < number < 2**53):
            return number
        raise DataError(f"{QUESTION_FIELD} is {number!r}; it must be the number of a question")

    def answers(self, tag: ChoicesTag) -> Answers | None:
        """Return the labels of the annotation: True for its choices, False for the other labels of `tag`.

        None if it was cancelled; StudioFieldError for a choice that is no label.
        """
        if self.annotation.was_cancelled:
            return None
        chosen = set[str]()
        for place, part in enumerate(self.annotation.result):
            if part.type == "choices" and tag.name in ("", part.from_name):
                choices, pointer = part.value.get("choices"), f"{self.pointer}/result/{place}/value/choices"
                if not isinstance(choices, list) or not all(isinstance(choice, str) for choice in choices):
                    raise StudioFieldError(pointer, "choices must be a list of texts")
                if unknown := [choice for choice in choices if choice not in tag.choices]:
                    raise StudioFieldError(
                        pointer, f"{unknown[0][:50]!r} is no label of the project; add it, or rename it"
                    )
                chosen |= set(choices)
        return {name: name in chosen for name in tag.choices}


def task_values(features: Sequence[Fields], data: Fields) -> Fields:
    """Return the values of `features` in the `data` of a task; DataError if there are none.

    Other fields are ignored, and numbers may be texts.
    """
    values = {
        feature["name"]: _value(feature, data[feature["name"]]) for feature in features if feature["name"] in data
    }
    if not values:
        names = [feature["name"] for feature in features]
        raise DataError(f"the data of the task has none of the features {names[:5]}; name its fields as the features")
    return values


def _value(feature: Fields, value: Any) -> Any:
    if feature["kind"] == "text" or not isinstance(value, str):
        return value if value is None or feature["kind"] == "number" or isinstance(value, str) else str(value)
    if not value.strip():
        return None
    try:
        number = float(value)
    except ValueError:
        raise DataError(f"{feature['name']!r} is {value[:50]!r}; it must be a number") from None
    return None if math.isnan(number) else number
