"""The four routes that Label Studio calls a machine-learning backend: health, setup, predict, webhook.

Their requests carry secrets of Label Studio (`access_token`, `params.login`, `params.password`). Only the fields that
are named here are read; nothing else is kept or logged.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any, NamedTuple, TypeVar

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import AliasChoices, BaseModel, Field, ValidationError

from evolabel._utils.json_text import parse_json
from evolabel.server.http.access import access_of, carry_out, origin_of, read
from evolabel.server.http.label_config import ChoicesTag, read_choices
from evolabel.server.http.problems import ProblemError
from evolabel.server.http.schemas import ROWS_PER_REQUEST, check_texts
from evolabel.server.project.batch import Desk
from evolabel.server.project.bridging import (
    Annotation,
    add_annotation,
    check_annotation,
    correct_annotation,
    delete_annotation,
    predict_tasks,
)
from evolabel.server.project.operations import PlacedError

router = APIRouter(prefix="/ls/{slug}", tags=["Label Studio"])
M = TypeVar("M", bound=BaseModel)
Fields = dict[str, Any]
_DONE = {"result": {}, "status": "ok"}


class SetupIn(BaseModel):
    """What is read of a set-up request."""

    schema_: str = Field(alias="schema")


class TaskIn(BaseModel):
    """A task: its fields."""

    data: Fields


class PredictIn(BaseModel):
    """What is read of a request for predictions."""

    tasks: Annotated[list[TaskIn], Field(max_length=ROWS_PER_REQUEST)]
    label_config: str


class ResultIn(BaseModel):
    """One part of an annotation."""

    type: str = ""
    from_name: str = ""
    value: Fields = {}


class AnnotationIn(BaseModel):
    """What is read of an annotation."""

    id: Annotated[int, Field(strict=True, ge=0, lt=2**63)]
    result: list[ResultIn] = []
    was_cancelled: bool = False
    lead_time: Annotated[float, Field(ge=0, le=10**6, allow_inf_nan=False)] | None = None


class LabelProjectIn(BaseModel):
    """What is read of a project of Label Studio."""

    label_config: str | None = None


class WebhookIn(BaseModel):
    """What is read of an event on one annotation."""

    annotation: AnnotationIn
    task: TaskIn | None = None
    project: LabelProjectIn = LabelProjectIn()

    def placed(self) -> list["PlacedAnnotation"]:
        """Return the annotation, its task and its place."""
        return [PlacedAnnotation("/annotation", self.annotation, self.task)]


class WebhooksIn(BaseModel):
    """What is read of an event on several annotations; their tasks, if sent, are in the same order."""

    annotations: Annotated[
        list[AnnotationIn],
        Field(max_length=ROWS_PER_REQUEST, validation_alias=AliasChoices("annotations", "annotation")),
    ]
    task: list[TaskIn] = []
    project: LabelProjectIn = LabelProjectIn()

    def placed(self) -> list["PlacedAnnotation"]:
        """Return each annotation, its task and its place; PlacedError if only some have tasks."""
        n = len(self.annotations)
        tasks: Sequence[TaskIn | None] = self.task or [None] * n
        if len(tasks) != n:
            raise PlacedError("/task", f"the event has {n} annotations and {len(tasks)} tasks; send one task for each")
        both = zip(self.annotations, tasks, strict=True)
        return [PlacedAnnotation(f"/annotations/{i}", annotation, task) for i, (annotation, task) in enumerate(both)]


class PlacedAnnotation(NamedTuple):
    """An annotation of an event, with the JSON pointer of its place, and its task if that was sent."""

    pointer: str
    annotation: AnnotationIn
    task: TaskIn | None

    def read(self, desk: Desk, config: str | None, *, is_gone: bool) -> Annotation:
        """Return what it says to the project on the `desk` by the labelling `config`; no answers if it `is_gone`."""
        took, is_gone = self.annotation.lead_time, is_gone or self.annotation.was_cancelled
        answers = None if is_gone else _answers(self, _tag(config, desk))
        data = {} if self.task is None else self.task.data
        return Annotation(f"ls-{self.annotation.id}", data, answers, None if took is None else round(1000 * took))


@router.get("/")
@router.get("/health")
async def get_label_health(slug: str) -> dict[str, str]:
    """Return that the service is up; Label Studio waits a second for it."""
    return {"status": "UP", "model_class": "evolabel"}


@router.post("/setup")
async def post_setup(slug: str, request: Request) -> dict[str, str]:
    """Return the version of the model, if the labelling configuration fits the project."""
    worker, _ = access_of(request).enter(request, slug)
    body = await _read(request, SetupIn)

    def verb(desk: Desk) -> int:
        read_choices(body.schema_, desk.state.label_names)
        return desk.seq

    return {"model_version": _version(await carry_out(worker, verb))}


@router.post("/predict")
async def post_predict(slug: str, request: Request) -> dict[str, Any]:
    """Return predictions for tasks; nothing is counted. The score is low where a label is near 0.5."""
    worker, _ = access_of(request).enter(request, slug)
    body = await _read(request, PredictIn)

    def verb(desk: Desk) -> dict[str, Any]:
        tag = read_choices(body.label_config, desk.state.label_names)
        seq, said = predict_tasks(desk, [task.data for task in body.tasks])
        return {"results": [_shown(tag, answer, _version(seq)) for answer in said]}

    return dict(await carry_out(worker, verb, len(body.tasks)))


@router.post("/webhook", status_code=201, responses={200: {"description": "Nothing to do"}})
async def post_webhook(slug: str, request: Request, response: Response) -> dict[str, Any]:
    """Learn from new annotations; keep changed or deleted ones as corrections."""
    worker, identity = access_of(request).enter(request, slug)
    action = (await _json(request)).get("action")
    if action == "START_TRAINING":
        return {**_DONE, "detail": "every answer trains the model at once; there is nothing to start"}
    if not isinstance(action, str) or action not in _ACTIONS:
        response.status_code = 200
        return {"status": "Unknown event"}
    model, handler = _ACTIONS[action]
    body, origin = await _read(request, model), await origin_of(request, identity)
    placed = body.placed()
    if handler is add_annotation and any(item.task is None for item in placed):
        raise PlacedError("/task", "the event has no task; let the webhook send its payload (Send payload)")

    def checked(desk: Desk) -> list[Annotation]:
        config, is_gone = body.project.label_config, handler is delete_annotation
        found = [item.read(desk, config, is_gone=is_gone) for item in placed]
        if handler is add_annotation:
            for annotation in found:
                check_annotation(desk, annotation)
        return found

    for annotation in await read(worker, checked):  # all are checked before the first is recorded
        await carry_out(worker, partial(handler, annotation=annotation, origin=origin), 1, origin)
    return dict(_DONE)


_ACTIONS: dict[str, tuple[type[WebhookIn] | type[WebhooksIn], Callable[..., Any]]] = {
    "ANNOTATION_CREATED": (WebhookIn, add_annotation),
    "ANNOTATIONS_CREATED": (WebhooksIn, add_annotation),
    "ANNOTATION_UPDATED": (WebhookIn, correct_annotation),
    "ANNOTATIONS_DELETED": (WebhooksIn, delete_annotation),
}


def _tag(config: str | None, desk: Desk) -> ChoicesTag:
    """Return the tag of `config`; without one any tag, with all labels of the project on the `desk`."""
    names = desk.state.label_names
    return ChoicesTag("", "", names) if config is None else read_choices(config, names)


def _answers(placed: PlacedAnnotation, tag: ChoicesTag) -> dict[str, int | None]:
    """Return what the annotation `placed` says: 1 for its choices, 0 for the other labels of `tag`.

    PlacedError for a choice that is no label.
    """
    chosen = set[str]()
    for place, part in enumerate(placed.annotation.result):
        if part.type == "choices" and tag.name in ("", part.from_name):
            choices = part.value.get("choices")
            pointer = f"{placed.pointer}/result/{place}/value/choices"
            if not isinstance(choices, list) or not all(isinstance(choice, str) for choice in choices):
                raise PlacedError(pointer, "choices must be a list of texts")
            if unknown := [choice for choice in choices if choice not in tag.choices]:
                raise PlacedError(pointer, f"{unknown[0][:50]!r} is no label of the project; add it, or rename it")
            chosen |= set(choices)
    return {name: int(name in chosen) for name in tag.choices}


def _shown(tag: ChoicesTag, answer: dict[str, Any], version: str) -> dict[str, Any]:
    """Return the prediction `answer` as Label Studio reads it."""
    chosen = [name for name in answer["labels"] if name in tag.choices]
    part = {"from_name": tag.name, "to_name": tag.to_name, "type": "choices", "value": {"choices": chosen}}
    sure = min((abs(2.0 * answer["prediction"][name] - 1.0) for name in tag.choices), default=0.0)
    return {"result": [part] if chosen else [], "score": sure, "model_version": version}


def _version(seq: int) -> str:
    return f"evolabel-{seq}"


async def _json(request: Request) -> dict[str, Any]:
    try:
        found = parse_json(await request.body())
    except ValueError:
        raise ProblemError(400, "bad-json", "the body is not JSON; send UTF-8 JSON") from None
    if not isinstance(found, dict):
        raise ProblemError(422, "invalid", "the body must be a JSON object, as Label Studio sends it")
    return found


async def _read(request: Request, model: type[M]) -> M:
    """Return the body of `request` as a `model`; RequestValidationError names the fields that are wrong."""
    document = await _json(request)
    try:
        read = model.model_validate(document)
        check_texts(read.model_dump())
    except ValidationError as error:
        faults = [{**fault, "loc": ("body", *fault["loc"])} for fault in error.errors(include_input=False)]
        raise RequestValidationError(faults) from None
    except ValueError as error:
        raise ProblemError(422, "invalid", str(error)[:200]) from None
    return read
