"""The four routes that Label Studio calls a machine-learning backend: health, setup, predict, webhook.

Their requests carry secrets of Label Studio (`access_token`, `params.login`, `params.password`). Only the fields that
are named here are read; nothing else is kept or logged.
"""

import json
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, ValidationError

from evolabel.server.api.access import access_of, carry_out, origin_of
from evolabel.server.api.label_config import ChoicesTag, read_choices
from evolabel.server.api.schemas import ROWS_PER_REQUEST, check_texts
from evolabel.server.contexts.bridging import Annotation, add_annotation, correct_annotation, predict_tasks
from evolabel.server.contexts.desk import Desk
from evolabel.server.contexts.verbs import PlacedError
from evolabel.server.problems import ProblemError

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


@router.post("/webhook", status_code=201)
async def post_webhook(slug: str, request: Request, response: Response) -> dict[str, Any]:
    """Learn from a new annotation; keep a changed or deleted one as a correction."""
    worker, identity = access_of(request).enter(request, slug)
    action = (await _json(request)).get("action")
    if action == "START_TRAINING":
        return {**_DONE, "detail": "every answer trains the model at once; there is nothing to start"}
    handler = _ACTIONS.get(action) if isinstance(action, str) else None
    if handler is None:
        response.status_code = 200
        return {"status": "Unknown event"}
    body, origin = await _read(request, WebhookIn), await origin_of(request, identity)
    if action == "ANNOTATION_CREATED" and body.task is None:
        raise PlacedError("/task", "the event has no task; let the webhook send its payload (Send payload)")

    def verb(desk: Desk) -> None:
        tag = _tag(body.project.label_config, desk)
        gone = action == "ANNOTATION_DELETED" or body.annotation.was_cancelled
        answers = None if gone else _answers(body.annotation, tag)
        took = body.annotation.lead_time
        data = {} if body.task is None else body.task.data
        name, took_ms = f"ls-{body.annotation.id}", None if took is None else round(1000 * took)
        handler(desk, Annotation(name, data, answers, took_ms), origin)

    await carry_out(worker, verb, 1, origin)
    return dict(_DONE)


_ACTIONS: dict[str, Callable[..., Any]] = {
    "ANNOTATION_CREATED": add_annotation,
    "ANNOTATION_UPDATED": correct_annotation,
    "ANNOTATION_DELETED": correct_annotation,
}


def _tag(config: str | None, desk: Desk) -> ChoicesTag:
    """Return the tag of `config`; without one any tag, with all labels of the project on the `desk`."""
    names = desk.state.label_names
    return ChoicesTag("", "", names) if config is None else read_choices(config, names)


def _answers(annotation: AnnotationIn, tag: ChoicesTag) -> dict[str, int | None]:
    """Return 1 for the chosen labels of `tag` and 0 for its others; PlacedError for a choice that is none of them."""
    chosen = set[str]()
    for place, part in enumerate(annotation.result):
        if part.type == "choices" and tag.name in ("", part.from_name):
            choices = part.value.get("choices")
            pointer = f"/annotation/result/{place}/value/choices"
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
        found = json.loads(await request.body())
    except (ValueError, RecursionError):
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
    except (ValueError, RecursionError) as error:
        raise ProblemError(422, "invalid", str(error)[:200]) from None
    return read
