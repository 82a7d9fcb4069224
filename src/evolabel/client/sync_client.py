"""`Client`: the labelling service for programs that wait for each response."""

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self, TypeVar

from evolabel.client.calls import Answers, Call, ProjectCalls, Values
from evolabel.client.connection import load_httpx, options, was_sent
from evolabel.client.lines import LineSplitter
from evolabel.client.problem import ConnectionLostError, ServiceError, document_of
from evolabel.client.results import (
    AnswerReceipt,
    OfferedQuestion,
    ProjectStatus,
    SamplePrediction,
    SampleResult,
    StoredSample,
    WaitingQuestion,
)
from evolabel.client.retry import Retry, Tries

T = TypeVar("T")


class Client:
    """One project of a labelling service. Threads may share a client.

    Parameters
    ----------
    url : str
        Address of the service, such as http://127.0.0.1:8080.
    token : str
        Token of a person or program.
    project : str
        Name of the project in addresses.
    retry : Retry, optional
        How long a request is tried while the service is busy, full, restarting or cannot be reached.
    timeout : float
        Seconds to wait for a response.
    transport : httpx.BaseTransport, optional
        How requests are sent, instead of over the network.

    Examples
    --------
    Send a sample, and answer the question about it, if there is one::

        with Client("http://127.0.0.1:8080", token, "pumps") as pumps:
            (result,) = pumps.send([{"id": "gw1-88121", "x": {"pressure": 4.92, "flow": 3.41}}])
            if result.asked:
                pumps.answer(result.number, {"leak": True})
    """

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
        self._httpx = load_httpx()
        self._http = self._httpx.Client(**options(url, token, timeout, transport))
        self._calls = ProjectCalls(project)
        self._retry = retry or Retry()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def send(self, samples: Iterable[Mapping[str, Any]], *, key: str | None = None) -> list[SampleResult]:
        """Count `samples`, and return the prediction and the question, if any, of each, in their order.

        A sample is a dictionary: `x`, its values by name or in the order of the features; `id`, `at`, `source` and `y`
        are optional. At most 1000 are sent at once, all or none of them are counted. Samples without an id are sent
        under a new idempotency `key`, unless one is given, so that a retry does not count them again.
        """
        return self._run(self._calls.send(samples, key))

    def predict(self, rows: Iterable[Values]) -> list[SamplePrediction]:
        """Return the prediction for each of `rows`, the values of a sample; nothing is counted."""
        return self._run(self._calls.predict(rows))

    def sample(self, sample: int | str) -> StoredSample:
        """Return a stored `sample`, by its number or by its id."""
        return self._run(self._calls.sample(sample))

    def late_labels(self, sample: int | str, labels: Answers) -> int:
        """Teach `labels` of a `sample`, named by its number or id, that became known later; return how many."""
        return self._run(self._calls.late_labels(sample, labels))

    def questions(self, *, limit: int = 100) -> list[WaitingQuestion]:
        """Return the open questions, freshest first, at most `limit` of them."""
        return self._run(self._calls.questions(limit))

    def next_question(self, *, skip: Iterable[int] = ()) -> OfferedQuestion | None:
        """Return the next question, which is kept for this person for a while, or None; those in `skip` come last."""
        return self._run(self._calls.next_question(skip))

    def answer(
        self, number: int, answers: Answers, *, took_ms: int | None = None, note: str | None = None
    ) -> AnswerReceipt:
        """Give `answers` to question `number`: True, False, or None for unsure, by label.

        `took_ms` is the time that the person needed, `note` a text.
        """
        return self._run(self._calls.answer(number, answers, took_ms, note))

    def refuse(self, number: int, *, reason: str | None = None) -> AnswerReceipt:
        """Answer that question `number` cannot be answered from these data, with an optional `reason`."""
        return self._run(self._calls.refuse(number, reason))

    def withdraw(self, number: int) -> None:
        """Take the answer to question `number` back, until it is final."""
        self._run(self._calls.withdraw(number))

    def export(self, name: str) -> Iterator[str]:
        """Yield the lines of an exported file: `name` is answers.csv, answers.ndjson, samples.ndjson or log.ndjson."""
        arguments = self._calls.export(name).arguments()
        try:
            with self._http.stream(**arguments) as response:
                if not response.is_success:
                    response.read()
                    document_of(response)
                lines = LineSplitter()
                for piece in response.iter_text():
                    yield from lines.take(piece)
                yield from lines.last()
        except self._httpx.TransportError as error:
            raise ConnectionLostError(f"the file was not read to its end: {error}") from error

    def project(self) -> ProjectStatus:
        """Return features, labels, settings and counts of the project."""
        return self._run(self._calls.status())

    def change_settings(self, **settings: Any) -> dict[str, Any]:
        """Change `settings` of the project, such as budget, and return all of them."""
        return self._run(self._calls.change_settings(settings))

    def set_paused(self, *, paused: bool) -> None:
        """Ask nothing while `paused`; samples are counted and predicted."""
        self._run(self._calls.set_paused(paused=paused))

    def add_label(self, name: str, *, title: str = "", help: str = "") -> None:
        """Add a label `name`, with a `title` and a `help` text for people."""
        self._run(self._calls.add_label(name, title, help))

    def retire_label(self, name: str) -> None:
        """Never ask for the label `name` again; it is still predicted."""
        self._run(self._calls.retire_label(name))

    def create_project(
        self,
        features: Iterable[str | Mapping[str, Any]],
        labels: Iterable[str | Mapping[str, Any]],
        *,
        title: str = "",
        **settings: Any,
    ) -> None:
        """Make the project; the token must be that of an administrator.

        `features` and `labels` are names, or dictionaries with more than the name. `title` and `settings`, such as
        budget, are optional.
        """
        self._run(self._calls.create(features, labels, title, settings))

    def _run(self, call: Call[T]) -> T:
        """Return the result of `call`, which is sent again where that counts nothing twice."""
        tries = Tries(self._retry, repeatable=call.repeatable)
        while True:
            try:
                return call.read(document_of(self._http.request(**call.arguments())))
            except ServiceError as error:
                wait = tries.wait_after(error)
            except self._httpx.TransportError as error:
                wait = tries.wait_after(error, sent=was_sent(error))
            time.sleep(wait)
