"""The four routes that Label Studio calls a machine-learning backend: health, setup, predict, webhook.

Every request to them becomes requests to the labelling service, with the token that Label Studio sends as the password
of Basic authentication. The bridge stores nothing and has no token of its own.
"""

import base64
import binascii
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from evolabel._utils.json_text import parse_json
from evolabel.client import AsyncClient, ConnectionLostError, ProjectStatus, Retry, SamplePrediction, ServiceError
from evolabel.errors import DataError, ParameterError
from evolabel.label_studio.events import (
    Answers,
    ChoicesTag,
    JointEvent,
    PlacedAnnotation,
    PredictRequest,
    SetupRequest,
    SingleEvent,
    StudioFieldError,
    read_choices,
    task_values,
)

M = TypeVar("M", bound=BaseModel)
_MOST_BODY = 8 * 1024 * 1024  # bytes
_MOST_CLIENTS = 16  # one per project and token
_RETRY = Retry(seconds=5.0)  # Label Studio waits for 1 to 100 s
_DONE = {"result": {}, "status": "ok"}
_CREATED, _DELETED = ("ANNOTATION_CREATED", "ANNOTATIONS_CREATED"), "ANNOTATIONS_DELETED"
_ACTIONS: dict[str, type[SingleEvent] | type[JointEvent]] = {
    "ANNOTATION_CREATED": SingleEvent,
    "ANNOTATIONS_CREATED": JointEvent,
    "ANNOTATION_UPDATED": SingleEvent,
    _DELETED: JointEvent,
}
_NEEDS_TOKEN = "give Label Studio a valid token of the role bridge as the password of Basic authentication"


class Refusal(Exception):
    """A request that is refused; the message is the `detail` of the problem document, `errors` the places of faults."""

    def __init__(self, status: int, type: str, detail: str, errors: Sequence[dict[str, str]] = ()) -> None:
        super().__init__(detail)
        self.status = status
        self.document: dict[str, Any] = {"type": f"/problems/{type}", "title": type.replace("-", " ").capitalize()}
        self.document |= {"status": status, "detail": detail, **({"errors": list(errors)} if errors else {})}


class Clients:
    """Clients of the service at `url`, one per project and token, with the `transport` of httpx if one is given."""

    def __init__(self, url: str, transport: Any = None) -> None:
        self._url = url
        self._transport = transport
        self._open: OrderedDict[tuple[str, str], AsyncClient] = OrderedDict()

    async def of(self, request: Request) -> AsyncClient:
        """Return the client for the project and the token of `request`; Refusal without a token."""
        key = request.path_params["project"], _token(request)
        client = self._open.pop(key, None)
        if client is None:
            try:
                client = AsyncClient(self._url, key[1], key[0], retry=_RETRY, transport=self._transport)
            except ParameterError:
                raise Refusal(401, "unauthorised", _NEEDS_TOKEN) from None
        self._open[key] = client
        while len(self._open) > _MOST_CLIENTS:
            await self._open.popitem(last=False)[1].close()
        return client

    async def close(self) -> None:
        """Close the connections to the service and to Label Studio."""
        for client in self._open.values():
            await client.close()


def make_bridge(url: str, *, transport: Any = None) -> Starlette:
    """Return the application that connects Label Studio with the service at `url`; `transport` is one of httpx.

    The routes of a project are below /PROJECT, its name in addresses of the service.
    """
    clients = Clients(url, transport)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await clients.close()

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "UP", "model_class": "evolabel"})

    async def setup(request: Request) -> Response:
        client, body = await clients.of(request), await _read(request, SetupRequest)
        project = await client.project()
        read_choices(body.schema_, _labels(project))
        return JSONResponse({"model_version": _version(project)})

    async def predict(request: Request) -> Response:
        client, body = await clients.of(request), await _read(request, PredictRequest)
        project = await client.project()
        tag = read_choices(body.label_config, _labels(project))
        found = await client.predict([task_values(project.features, task.data) for task in body.tasks])
        return JSONResponse({"results": [_shown(tag, one, _version(project)) for one in found]})

    async def webhook(request: Request) -> Response:
        client, document = await clients.of(request), await _json(request)
        action = document.get("action")
        if action == "START_TRAINING":
            detail = "every answer trains the model at once; there is nothing to start"
            return JSONResponse({**_DONE, "detail": detail}, 201)
        if not isinstance(action, str) or action not in _ACTIONS:
            return JSONResponse({"status": "Unknown event"})
        await _learn(client, action, _validated(document, _ACTIONS[action]))
        return JSONResponse(_DONE, 201)

    routes = [
        Route("/{project}/", health),
        Route("/{project}/health", health),
        *(Route(f"/{{project}}/{call.__name__}", call, methods=["POST"]) for call in (setup, predict, webhook)),
    ]
    handlers: Any = dict.fromkeys((Refusal, ServiceError, ConnectionLostError, DataError), _refuse)
    return Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)


async def _learn(client: AsyncClient, action: str, event: SingleEvent | JointEvent) -> None:
    """Send the labels of the annotations of `event` by `client`; all are checked before the first is sent.

    A new annotation is a sample with labels, or the answer to the question that its task is. One that is changed or
    deleted is a correction.
    """
    placed, project = event.placed(), await client.project()
    if action in _CREATED and any(item.data is None for item in placed):
        raise StudioFieldError("/task", "the event has no task; let the webhook send its payload (Send payload)")
    names, config = _labels(project), event.project.label_config
    tag = ChoicesTag("", "", names) if config is None else read_choices(config, names)
    changes = [(item, None if action == _DELETED else item.answers(tag)) for item in placed]
    for item, answers in changes:
        if item.number is not None:
            await _check_question(client, item.number)
        elif item.data and answers is not None:
            await client.predict([task_values(project.features, item.data)])  # counts nothing, refuses what it is not
    samples = []
    for item, answers in changes:
        if item.number is not None:
            await _answer(client, item, item.number, answers)
        elif (answers is not None or action not in _CREATED) and not await _correct(client, item, answers):
            if answers is not None and item.data:
                values = task_values(project.features, item.data)
                samples.append({"id": item.annotation.sample_id, "x": values, "y": answers})
            elif action != _DELETED and answers is not None:
                what = f"there is no annotation {item.annotation.sample_id!r}"
                raise Refusal(404, "not-found", f"{what}; let the webhook send its task as well")
    if samples:
        await client.send({sample["id"]: sample for sample in samples}.values())


async def _check_question(client: AsyncClient, number: int) -> None:
    if not (await client.sample(number)).asked:
        raise Refusal(404, "not-found", f"there is no question {number}; questions have the numbers of their samples")


async def _answer(client: AsyncClient, item: PlacedAnnotation, number: int, answers: Answers | None) -> None:
    """Answer question `number` by `answers`, or refuse it if there are none."""
    if answers is None:
        await client.refuse(number)
        return
    took = item.annotation.lead_time
    await client.answer(number, answers, took_ms=None if took is None else round(1000 * took))


async def _correct(client: AsyncClient, item: PlacedAnnotation, answers: Answers | None) -> bool:
    """Keep `answers` as a correction of the sample of an annotation, and return whether the sample is known."""
    try:
        await client.correct(item.annotation.sample_id, answers)
    except ServiceError as error:
        if error.status != 404:
            raise
        return False
    return True


def _shown(tag: ChoicesTag, found: SamplePrediction, version: str) -> dict[str, Any]:
    """Return the prediction that was `found` as Label Studio reads it."""
    chosen = [name for name in found.labels if name in tag.choices]
    part = {"from_name": tag.name, "to_name": tag.to_name, "type": "choices", "value": {"choices": chosen}}
    sure = min((abs(2.0 * found.prediction[name] - 1.0) for name in tag.choices), default=0.0)
    return {"result": [part] if chosen else [], "score": sure, "model_version": version}


def _labels(project: ProjectStatus) -> list[str]:
    return [label["name"] for label in project.labels]


def _version(project: ProjectStatus) -> str:
    return f"evolabel-{project.seq}"


def _token(request: Request) -> str:
    """Return the password of Basic authentication in `request`; Refusal without one."""
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    with suppress(binascii.Error, ValueError):
        if scheme.lower() == "basic" and (token := base64.b64decode(value.strip(), validate=True).decode()):
            return token.partition(":")[2]
    raise Refusal(401, "unauthorised", _NEEDS_TOKEN)


async def _json(request: Request) -> dict[str, Any]:
    """Return the JSON object that is the body of `request`; Refusal for anything else."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > _MOST_BODY:
            raise Refusal(413, "too-large", f"the body may have {_MOST_BODY} bytes; send less at once")
    try:
        found = parse_json(bytes(body))
        json.dumps(found, ensure_ascii=False).encode()  # ValueError for texts that no response can hold
    except ValueError:
        raise Refusal(400, "bad-json", "the body is not JSON; send UTF-8 JSON") from None
    if not isinstance(found, dict):
        raise Refusal(422, "invalid", "the body must be a JSON object, as Label Studio sends it")
    return found


async def _read(request: Request, model: type[M]) -> M:
    return _validated(await _json(request), model)


def _validated(document: dict[str, Any], model: type[M]) -> M:
    """Return the `document` as a `model`; Refusal names the fields that are wrong."""
    try:
        return model.model_validate(document)
    except ValidationError as error:
        faults = [
            {"pointer": "/" + "/".join(map(str, fault["loc"])), "detail": fault["msg"]}
            for fault in error.errors(include_input=False)[:20]
        ]
        raise Refusal(422, "invalid", f"{faults[0]['pointer']}: {faults[0]['detail']}", faults) from None


async def _refuse(request: Request, error: Exception) -> Response:
    """Return the problem document for `error`; the message of the service is passed on."""
    if isinstance(error, ServiceError):
        refusal = Refusal(error.status, error.type or "refused", str(error))
        refusal.document |= error.document
    elif isinstance(error, Refusal):
        refusal = error
    elif isinstance(error, ConnectionLostError):
        refusal = Refusal(503, "busy", f"{error}; check the address of the service")
    else:
        places = [{"pointer": error.pointer, "detail": str(error)}] if isinstance(error, StudioFieldError) else []
        refusal = Refusal(422, "invalid", str(error), places)
    headers = {"WWW-Authenticate": "Basic"} if refusal.status == 401 else None
    return JSONResponse(refusal.document, refusal.status, headers, media_type="application/problem+json")
