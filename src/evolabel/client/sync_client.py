"""`Client`: the labelling service for programs that wait for each response."""

import functools
import time
from collections.abc import Callable, Iterator
from os import PathLike
from typing import Concatenate, ParamSpec, Self, TypeVar

from evolabel.client.calls import BaseClient, Call, ProjectCalls, result_signature, write_whole
from evolabel.client.connection import ConnectionLostError, LineSplitter, ServiceError, Tries, document_of
from evolabel.client.model_calls import ModelCalls

P = ParamSpec("P")
T = TypeVar("T")


def _sending(call: Callable[Concatenate[ProjectCalls, P], Call[T]]) -> Callable[Concatenate["Client", P], T]:
    """Return the method of the client that sends the request of `call`, and returns its result."""

    @functools.wraps(call, assigned=("__name__", "__doc__"))
    def method(self: "Client", /, *arguments: P.args, **named: P.kwargs) -> T:
        return self._run(call(self._calls, *arguments, **named))

    vars(method)["__signature__"] = result_signature(call)
    return method


class Client(BaseClient):
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

    _kind = "Client"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    send = _sending(ProjectCalls.send)
    predict = _sending(ProjectCalls.predict)
    sample = _sending(ProjectCalls.sample)
    late_labels = _sending(ProjectCalls.late_labels)
    correct = _sending(ProjectCalls.correct)
    questions = _sending(ProjectCalls.questions)
    next_question = _sending(ProjectCalls.next_question)
    answer = _sending(ProjectCalls.answer)
    refuse = _sending(ProjectCalls.refuse)
    withdraw = _sending(ProjectCalls.withdraw)
    model = _sending(ProjectCalls.model)
    rules = _sending(ModelCalls.rules)
    explain = _sending(ModelCalls.explain)
    events = _sending(ModelCalls.events)
    invite = _sending(ModelCalls.invite)
    project = _sending(ProjectCalls.project)
    change_settings = _sending(ProjectCalls.change_settings)
    set_paused = _sending(ProjectCalls.set_paused)
    add_label = _sending(ProjectCalls.add_label)
    retire_label = _sending(ProjectCalls.retire_label)
    create_project = _sending(ProjectCalls.create_project)

    def download_model(self, path: str | PathLike[str], *, classifier: bool = False) -> None:
        """Write the model file to `path`, whole or not at all; `classifier` as in `model`.

        `ActiveLearner.load` reads it, that of a classifier alone `EvolvingFuzzyClassifier.load`.
        """
        write_whole(path, self.model(classifier=classifier))

    def export(self, name: str) -> Iterator[str]:
        """Yield the lines of an exported file: `name` is answers.csv, answers.ndjson, samples.csv and so on."""
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
            what = "the connection was lost before the end of the file; export it again"
            raise ConnectionLostError(f"{what} ({error})") from error

    def _run(self, call: Call[T]) -> T:
        """Return the result of `call`, which is sent again where that counts nothing twice."""
        tries = Tries(self._retry, repeatable=call.repeatable)
        while True:
            try:
                return call.result(self._http.request(**call.arguments()))
            except (ServiceError, self._httpx.TransportError) as error:
                wait = tries.wait_after(error)
            time.sleep(wait)
