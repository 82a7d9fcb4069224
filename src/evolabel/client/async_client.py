"""`AsyncClient`: the labelling service for programs with an event loop."""

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine
from os import PathLike
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from evolabel.client.calls import BaseClient, Call, ProjectCalls, result_signature, write_whole
from evolabel.client.connection import ConnectionLostError, LineSplitter, ServiceError, Tries, document_of
from evolabel.client.model_calls import ModelCalls

P = ParamSpec("P")
T = TypeVar("T")


def _sending(
    call: Callable[Concatenate[ProjectCalls, P], Call[T]],
) -> Callable[Concatenate["AsyncClient", P], Coroutine[Any, Any, T]]:
    """Return the method of the client that sends the request of `call`, and returns its result."""

    @functools.wraps(call, assigned=("__name__", "__doc__"))
    async def method(self: "AsyncClient", /, *arguments: P.args, **named: P.kwargs) -> T:
        return await self._run(call(self._calls, *arguments, **named))

    vars(method)["__signature__"] = result_signature(call)
    return method


class AsyncClient(BaseClient):
    """One project of a labelling service; the methods are those of `Client`, to be awaited.

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
    transport : httpx.AsyncBaseTransport, optional
        How requests are sent, instead of over the network.
    """

    _kind = "AsyncClient"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

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

    async def download_model(self, path: str | PathLike[str], *, classifier: bool = False) -> None:
        """Write the model file to `path`, whole or not at all; `classifier` as in `model`."""
        data = await self.model(classifier=classifier)
        await asyncio.to_thread(write_whole, path, data)

    async def export(self, name: str) -> AsyncIterator[str]:
        """Yield the lines of an exported file: `name` is answers.csv, answers.ndjson, samples.csv and so on."""
        arguments = self._calls.export(name).arguments()
        try:
            async with self._http.stream(**arguments) as response:
                if not response.is_success:
                    await response.aread()
                    document_of(response)
                lines = LineSplitter()
                async for piece in response.aiter_text():
                    for line in lines.take(piece):
                        yield line
                for line in lines.last():
                    yield line
        except self._httpx.TransportError as error:
            what = "the connection was lost before the end of the file; export it again"
            raise ConnectionLostError(f"{what} ({error})") from error

    async def _run(self, call: Call[T]) -> T:
        """Return the result of `call`, which is sent again where that counts nothing twice."""
        tries = Tries(self._retry, repeatable=call.repeatable)
        while True:
            try:
                return call.result(await self._http.request(**call.arguments()))
            except (ServiceError, self._httpx.TransportError) as error:
                wait = tries.wait_after(error)
            await asyncio.sleep(wait)
