"""Every request of both clients: method, path, body, and how its response is read."""

import json
import math
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from evolabel.client.results import (
    AnswerReceipt,
    OfferedQuestion,
    ProjectStatus,
    SamplePrediction,
    SampleResult,
    StoredSample,
    WaitingQuestion,
)
from evolabel.errors import DataError

T = TypeVar("T")
Values = Mapping[str, Any] | Sequence[Any]
"""Values of a sample, by name or in the order of the features; None and NaN are missing."""
Answers = Mapping[str, bool | None]
"""True, False, or None for unsure, by label."""


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request, and what its response means.

    Parameters
    ----------
    method : str
    path : str
        Behind the address of the service.
    read : function
        Returns the result for the JSON of the response.
    content : bytes, optional
        The body.
    key : str, optional
        The idempotency key.
    repeatable : bool
        Whether the request can come twice and is carried out once.
    """

    method: str
    path: str
    read: Callable[[Any], T]
    content: bytes | None = None
    key: str | None = None
    repeatable: bool = True

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `httpx.Client.request`."""
        headers = {} if self.content is None else {"Content-Type": "application/json"}
        if self.key is not None:
            headers["Idempotency-Key"] = self.key
        return {"method": self.method, "url": self.path, "content": self.content, "headers": headers}


class ProjectCalls:
    """Requests to one project.

    Parameters
    ----------
    slug : str
        Name of the project in addresses.
    """

    def __init__(self, slug: str) -> None:
        self._slug = slug
        self._path = f"/api/v1/projects/{quote(slug, safe='')}"

    def send(self, samples: Iterable[Mapping[str, Any]], key: str | None) -> Call[list[SampleResult]]:
        """Return the request that counts `samples`; without ids it gets a new `key`, unless one is given."""
        rows = [{**sample, "x": _values(sample)} for sample in samples]
        if key is None and any(row.get("id") is None for row in rows):
            key = str(uuid.uuid4())
        return self._call("POST", "/samples", lambda d: _list(SampleResult.read, d["results"]), {"samples": rows}, key)

    def predict(self, rows: Iterable[Values]) -> Call[list[SamplePrediction]]:
        """Return the request for predictions of `rows`."""
        body = {"samples": [{"x": _values({"x": row})} for row in rows]}
        return self._call("POST", "/predictions", lambda d: _list(SamplePrediction.read, d["results"]), body)

    def sample(self, sample: int | str) -> Call[StoredSample]:
        """Return the request for a stored `sample`."""
        return self._call("GET", f"/samples/{_sample(sample)}", StoredSample.read)

    def late_labels(self, sample: int | str, labels: Answers) -> Call[int]:
        """Return the request that teaches `labels` of a `sample` that became known later."""
        return self._call("PUT", f"/samples/{_sample(sample)}/labels", lambda d: int(d["learned"]), {"y": dict(labels)})

    def questions(self, limit: int) -> Call[list[WaitingQuestion]]:
        """Return the request for at most `limit` open questions."""
        return self._call("GET", f"/questions?limit={limit}", lambda d: _list(WaitingQuestion.read, d["questions"]))

    def next_question(self, skip: Iterable[int]) -> Call[OfferedQuestion | None]:
        """Return the request for the next question, those in `skip` last."""

        def read(document: Any) -> OfferedQuestion | None:
            return None if document is None else OfferedQuestion.read(document)

        return self._call("POST", "/questions/next", read, {"skip": list(skip)})

    def answer(self, number: int, answers: Answers, took_ms: int | None, note: str | None) -> Call[AnswerReceipt]:
        """Return the request with `answers` to question `number`; `took_ms` and a `note` are optional."""
        body = {"answers": dict(answers), **_given(took_ms=took_ms, note=note)}
        return self._call("PUT", f"/questions/{number}/answer", AnswerReceipt.read, body)

    def refuse(self, number: int, reason: str | None) -> Call[AnswerReceipt]:
        """Return the request that says that question `number` cannot be answered, and the `reason`."""
        return self._call("PUT", f"/questions/{number}/refusal", AnswerReceipt.read, _given(reason=reason))

    def withdraw(self, number: int) -> Call[None]:
        """Return the request that takes the answer to question `number` back."""
        return self._call("DELETE", f"/questions/{number}/answer", _nothing, repeatable=False)

    def export(self, name: str) -> Call[None]:
        """Return the request for the exported file `name`."""
        return self._call("GET", f"/export/{quote(name, safe='')}", _nothing)

    def status(self) -> Call[ProjectStatus]:
        """Return the request for the project."""
        return self._call("GET", "", ProjectStatus.read)

    def change_settings(self, settings: Mapping[str, Any]) -> Call[dict[str, Any]]:
        """Return the request that changes `settings`."""
        return self._call("PATCH", "", lambda d: dict(d["settings"]), {"settings": dict(settings)})

    def set_paused(self, *, paused: bool) -> Call[None]:
        """Return the request that stops asking if `paused`, or asks again."""
        return self._call("POST", "/pause" if paused else "/resume", _nothing, {})

    def add_label(self, name: str, title: str, help: str) -> Call[None]:
        """Return the request for a new label `name` with a `title` and a `help` text."""
        return self._call("POST", "/labels", _nothing, {"name": name, "title": title, "help": help})

    def retire_label(self, name: str) -> Call[None]:
        """Return the request by which label `name` is never asked again."""
        return self._call("DELETE", f"/labels/{quote(name, safe='')}", _nothing)

    def create(
        self, features: Iterable[str | Mapping[str, Any]], labels: Iterable[str | Mapping[str, Any]], title: str,
        settings: Mapping[str, Any],
    ) -> Call[None]:  # fmt: skip
        """Return the request that makes the project of these `features`, `labels`, `title` and `settings`."""
        body = {
            "slug": self._slug,
            "title": title,
            "features": [_named(item) for item in features],
            "labels": [_named(item) for item in labels],
            "settings": dict(settings),
        }
        return Call("POST", "/api/v1/projects", _nothing, _json(body), repeatable=False)

    def _call(
        self, method: str, path: str, read: Callable[[Any], T], body: Any = None, key: str | None = None,
        *, repeatable: bool = True,
    ) -> Call[T]:  # fmt: skip
        content = None if body is None else _json(body)
        return Call(method, self._path + path, read, content, key, repeatable)


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
    except (TypeError, ValueError) as error:
        raise DataError(f"the request cannot be written as JSON: {error}; use finite numbers, texts and None") from None


def _sample(sample: int | str) -> str:
    """Return how an address names a `sample`: its number, or its id."""
    return quote(f"id:{sample}" if isinstance(sample, str) else str(sample), safe=":")


def _named(item: str | Mapping[str, Any]) -> dict[str, Any]:
    return {"name": item} if isinstance(item, str) else dict(item)


def _given(**facts: Any) -> dict[str, Any]:
    """Return `facts` without those that are None."""
    return {name: value for name, value in facts.items() if value is not None}


def _list(read: Callable[[Any], T], items: Iterable[Any]) -> list[T]:
    return [read(item) for item in items]


def _nothing(document: Any) -> None:
    return None
