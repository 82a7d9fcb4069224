"""Every request of both clients: method, path, body, and how its response is read."""

import inspect
import json
import math
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar, get_args
from urllib.parse import quote

from evolabel._utils.optional import load
from evolabel.client.connection import Retry, ServiceError, document_of
from evolabel.client.results import (
    AnswerReceipt,
    OfferedQuestion,
    ProjectStatus,
    SamplePrediction,
    SampleResult,
    StoredSample,
    WaitingQuestion,
)
from evolabel.errors import DataError, ParameterError

T = TypeVar("T")
Values = Mapping[str, Any] | Sequence[Any]
"""Values of a sample, by name or in the order of the features; None and NaN are missing."""
Answers = Mapping[str, bool | None]
"""True, False, or None for unsure, by label."""


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request by `method` to `path`, behind the address of the service, and what its response means.

    `read` returns the result for the JSON of the response, `content` is the body, `key` the idempotency key. One that
    is `repeatable` can come twice and is carried out once.
    """

    method: str
    path: str
    read: Callable[[Any], T]
    content: bytes | None = None
    key: str | None = None
    repeatable: bool = True

    def result(self, response: Any) -> T:
        """Return what a `response` of httpx results in; ServiceError if it is a refusal, or of another service."""
        document = document_of(response)
        try:
            return self.read(document)
        except (KeyError, TypeError, ValueError, AttributeError):
            detail = f"{response.url} has answered with JSON that is none of this service; check the address"
            raise ServiceError(response.status_code, {"detail": detail}) from None

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `httpx.Client.request`."""
        headers = {} if self.content is None else {"Content-Type": "application/json"}
        if self.key is not None:
            headers["Idempotency-Key"] = self.key
        return {"method": self.method, "url": self.path, "content": self.content, "headers": headers}


class ProjectCalls:
    """Requests to project `slug`. Both clients have the same methods; theirs send the request and return its result."""

    def __init__(self, slug: str) -> None:
        self._slug = slug
        self._path = f"/api/v1/projects/{quote(slug, safe='')}"

    def send(self, samples: Iterable[Mapping[str, Any]], *, key: str | None = None) -> Call[list[SampleResult]]:
        """Count `samples`, and return the prediction and the question, if any, of each, in their order.

        A sample is a dictionary: `x`, its values by name or in the order of the features; `id`, `at`, `source` and `y`
        are optional. At most 1000 are sent at once, all or none of them are counted. Samples without an id are sent
        under a new idempotency `key`, unless one is given, so that a retry does not count them again.
        """
        rows = [{**sample, "x": _values(sample)} for sample in samples]
        if key is None and any(row.get("id") is None for row in rows):
            key = str(uuid.uuid4())
        return self.call("POST", "/samples", lambda d: list_of(SampleResult.read, d["results"]), {"samples": rows}, key)

    def predict(self, rows: Iterable[Values]) -> Call[list[SamplePrediction]]:
        """Return the prediction for each of `rows`, the values of a sample; nothing is counted."""
        body = {"samples": [{"x": _values({"x": row})} for row in rows]}
        return self.call("POST", "/predictions", lambda d: list_of(SamplePrediction.read, d["results"]), body)

    def sample(self, sample: int | str) -> Call[StoredSample]:
        """Return a stored `sample`, by its number or by its id."""
        return self.call("GET", f"/samples/{sample_name(sample)}", StoredSample.read)

    def late_labels(self, sample: int | str, labels: Answers) -> Call[int]:
        """Add `labels` of a `sample`, named by its number or id, that became known later; return how many."""
        return self.call(
            "PUT", f"/samples/{sample_name(sample)}/labels", lambda d: int(d["learned"]), {"y": dict(labels)}
        )

    def correct(self, sample: int | str, answers: Answers | None) -> Call[bool]:
        """Keep other `answers` to a `sample`, by its number or id, for a rebuild; return whether they differ.

        They train nothing before. None takes back the labels that the sample was sent with.
        """
        body = {"answers": None if answers is None else dict(answers)}
        return self.call("PUT", f"/samples/{sample_name(sample)}/correction", lambda d: bool(d["corrected"]), body)

    def questions(self, *, limit: int = 100) -> Call[list[WaitingQuestion]]:
        """Return the open questions, freshest first, at most `limit` of them."""
        return self.call("GET", f"/questions?limit={limit}", lambda d: list_of(WaitingQuestion.read, d["questions"]))

    def next_question(self, *, skip: Iterable[int] = ()) -> Call[OfferedQuestion | None]:
        """Return the next question, which is kept for this person for a while, or None; those in `skip` come last."""

        def read(document: Any) -> OfferedQuestion | None:
            return None if document is None else OfferedQuestion.read(document)

        return self.call("POST", "/questions/next", read, {"skip": list(skip)})

    def answer(
        self, number: int, answers: Answers, *, took_ms: int | None = None, note: str | None = None
    ) -> Call[AnswerReceipt]:
        """Give `answers` to question `number`: True, False, or None for unsure, by label.

        `took_ms` is the time that the person needed, `note` a text.
        """
        body = {"answers": dict(answers), **_given(took_ms=took_ms, note=note)}
        return self.call("PUT", f"/questions/{number}/answer", AnswerReceipt.read, body)

    def refuse(self, number: int, *, reason: str | None = None) -> Call[AnswerReceipt]:
        """Answer that question `number` cannot be answered from these data, with an optional `reason`."""
        return self.call("PUT", f"/questions/{number}/refusal", AnswerReceipt.read, _given(reason=reason))

    def withdraw(self, number: int) -> Call[None]:
        """Take the answer to question `number` back, until it is final."""
        return self.call("DELETE", f"/questions/{number}/answer", _nothing, repeatable=False)

    def export(self, name: str) -> Call[None]:
        """Return the request for the exported file `name`."""
        return self.call("GET", f"/export/{quote(name, safe='')}", _nothing)

    def model(self, *, classifier: bool = False) -> Call[bytes]:
        """Return the contents of the model file: the learner, whose probabilities are those that the service gives.

        With `classifier`, those of the classifier alone, without the correction by the errors of the last answers.
        """
        name = "classifier.safetensors" if classifier else "model.safetensors"
        return self.call("GET", f"/export/{name}", lambda contents: bytes(contents))

    def project(self) -> Call[ProjectStatus]:
        """Return features, labels, settings and counts of the project."""
        return self.call("GET", "", ProjectStatus.read)

    def change_settings(self, /, **settings: Any) -> Call[dict[str, Any]]:
        """Change `settings` of the project, such as budget, and return all of them."""
        return self.call("PATCH", "", lambda d: dict(d["settings"]), {"settings": settings})

    def set_paused(self, *, paused: bool) -> Call[None]:
        """Ask nothing while `paused`; samples are counted and predicted."""
        return self.call("POST", "/pause" if paused else "/resume", _nothing, {})

    def add_label(self, name: str, *, title: str = "", help: str = "") -> Call[None]:
        """Add a label `name`, with a `title` and a `help` text for people."""
        return self.call("POST", "/labels", _nothing, {"name": name, "title": title, "help": help})

    def retire_label(self, name: str) -> Call[None]:
        """Never ask for the label `name` again; it is still predicted."""
        return self.call("DELETE", f"/labels/{quote(name, safe='')}", _nothing)

    def create_project(
        self, /, features: Iterable[str | Mapping[str, Any]], labels: Iterable[str | Mapping[str, Any]], *,
        title: str = "", **settings: Any,
    ) -> Call[None]:  # fmt: skip
        """Make the project; the token must be that of an administrator.

        `features` and `labels` are names, or dictionaries with more than the name. `title` and `settings`, such as
        budget, are optional.
        """
        body = {
            "slug": self._slug,
            "title": title,
            "features": [_named(item) for item in features],
            "labels": [_named(item) for item in labels],
            "settings": settings,
        }
        return Call("POST", "/api/v1/projects", _nothing, _json(body), repeatable=False)

    def call(
        self, method: str, path: str, read: Callable[[Any], T], body: Any = None, key: str | None = None,
        *, repeatable: bool = True,
    ) -> Call[T]:  # fmt: skip
        """Return the request by `method` to `path` of the project; the others as in `Call`, `body` as JSON."""
        content = None if body is None else _json(body)
        return Call(method, self._path + path, read, content, key, repeatable)


class BaseClient:
    """The connection of a client of httpx, whose class there is `_kind`, to one project of a service."""

    _kind: ClassVar[str]

    def __init__(
        self,
        url: str,
        token: str,
        project: str,
        *,
        retry: Retry | None = None,
        timeout: float = 30.0,
        transport: Any = None,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ParameterError(f"{url!r} is no address of a service; write one such as http://127.0.0.1:8080")
        if not token.isascii() or not token.isprintable() or not token:
            raise ParameterError("the token has characters that no token has; use the text that was shown once")
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._httpx = load("httpx", "client", "the client")
        make = getattr(self._httpx, self._kind)
        self._http = make(base_url=url.rstrip("/"), headers=headers, timeout=timeout, transport=transport)
        self._calls = ProjectCalls(project)
        self._retry = retry or Retry()


def _values(sample: Mapping[str, Any]) -> Any:
    """Return the values of a `sample` with None for NaN; DataError without values."""
    if "x" not in sample:
        raise DataError(f"a sample needs its values as x, got {sorted(sample)}; send {{'x': {{...}}}}")
    x = sample["x"]
    if isinstance(x, Mapping):
        return {name: _value(value) for name, value in x.items()}
    return [_value(value) for value in x]


def _value(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value  # a number of numpy
    return None if isinstance(value, float) and math.isnan(value) else value


def _json(body: Any) -> bytes:
    try:
        return json.dumps(body, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"the request cannot be written as JSON: {error}; use finite numbers, texts and None") from None


def sample_name(sample: int | str) -> str:
    """Return how an address names a `sample`: its number, or its id."""
    return quote(f"id:{sample}" if isinstance(sample, str) else str(sample), safe=":")


def _named(item: str | Mapping[str, Any]) -> dict[str, Any]:
    return {"name": item} if isinstance(item, str) else dict(item)


def write_whole(path: str | PathLike[str], data: bytes) -> None:
    """Write `data` to the file `path`; an older one is unchanged until all is written."""
    target = Path(path)
    unfinished = target.with_name(f"{target.name}.unfinished")
    try:
        unfinished.write_bytes(data)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _given(**facts: Any) -> dict[str, Any]:
    """Return `facts` without those that are None."""
    return {name: value for name, value in facts.items() if value is not None}


def list_of(read: Callable[[Any], T], items: Iterable[Any]) -> list[T]:
    """Return what `read` makes of each of `items`."""
    return [read(item) for item in items]


def _nothing(document: Any) -> None:
    return None


def result_signature(call: Callable[..., Call[Any]]) -> inspect.Signature:
    """Return the signature of a method of `ProjectCalls` with what its request results in, for the docs of a client."""
    signature = inspect.signature(call, eval_str=True)
    return signature.replace(return_annotation=get_args(signature.return_annotation)[0])
