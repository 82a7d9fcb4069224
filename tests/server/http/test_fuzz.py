"""Requests that schemathesis draws from the OpenAPI document, as each role: none fails, refused ones change nothing.

`make test` draws two requests per route, `pytest -m slow` twenty; each is sent as every role.
"""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("schemathesis")

from schemathesis import openapi
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.python import asgi
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from evolabel.server.app import create_app
from evolabel.server.log.engines import read_url
from evolabel.server.people.accounts import create_token
from evolabel.server.project import operations
from evolabel.server.project.service import Service
from server.pumps import ANNA, call, checksum, new_project, run, samples

ROLES = ("stranger", "producer", "bridge", "annotator", "expert", "operator", "admin")
CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)
KNOWN = {  # values of places in a path that lead somewhere, beside those that are drawn
    "slug": ["pumps"],
    "sample": ["1", "20", "id:s3"],
    "number": [1, 2, 3, 20, 25],
    "rule": [0, 1, 2],
    "seq": [1, 20, 40],
    "person": ["anna", "producer-1"],
    "label": ["leak"],
    "name": ["leak", "answers.csv", "log.ndjson", "model.safetensors"],
    "token": [1, 2],
}
LASTING = {"DELETE /api/v1/users/{person}", "DELETE /api/v1/projects/{slug}/tokens/{token}"}  # end the tokens in use
LARGE = {"POST /api/v1/projects"}  # each project has threads of its own


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The worker of a project with rules and open questions, the OpenAPI document, and a client of each role."""
    url = read_url(f"sqlite:///{tmp_path_factory.mktemp('fuzz')}/evolabel.db")
    service = Service(url)
    service.start()
    service.create_project(new_project())
    worker, stream = service.workers["pumps"], samples(60)
    run(worker, stream[:40])
    call(worker, operations.send_samples, [sample for sample, _ in stream[40:]], ANNA)
    app = create_app(service, token_per_minute=1_000_000)
    app.state.streams.stop()  # a stream ends after its first events
    document = openapi.from_dict(app.openapi())
    document.app = app
    clients = {role: asgi.get_client(app) for role in ROLES}
    for role in ROLES[1:]:
        place = (None, None) if role == "admin" else ("pumps", role)
        clients[role].headers["Authorization"] = f"Bearer {create_token(url, f'{role}-1', *place, 'test')}"
    yield worker, document, clients
    service.stop()


@st.composite
def requests_of(draw, operation):
    """A request that fits the document, or not; places in its path may lead somewhere."""
    case = draw(operation.as_strategy(draw(st.sampled_from(list(GenerationMode)))))
    label, places = f"{operation.method.upper()} {operation.path}", dict(case.path_parameters or {})
    for name in places:
        if name == "slug" or (name in KNOWN and label not in LASTING and draw(st.booleans())):
            places[name] = draw(st.sampled_from(KNOWN[name]))
    case.path_parameters = places
    return case


def standing(worker):
    """The head of the log and the checksum of its state; a training that was begun may end meanwhile."""
    while True:
        head, found = worker.head, checksum(worker)
        if worker.head == head:
            return head, found


def send_all(served, n):
    """Send `n` requests to every route, each as every role."""
    worker, document, clients = served
    routes = [found.ok() for found in document.get_all_operations()]
    assert len(routes) > 50
    last = standing(worker)
    for route in routes:

        @settings(max_examples=min(n, 2) if route.label in LARGE else n, suppress_health_check=list(HealthCheck))
        @given(requests_of(route))
        def send(case):
            nonlocal last
            for role in ROLES:
                before = worker.head
                response = case.call(session=clients[role])
                case.validate_response(response, checks=CHECKS)
                if response.status_code >= 400:
                    assert worker.head == before, role
            now = standing(worker)
            assert now[0] != last[0] or now == last  # what is not in the log has changed nothing
            last = now

        send()


def test_requests_of_every_route_by_each_role(served):
    send_all(served, 2)


@pytest.mark.slow
def test_many_requests_of_every_route_by_each_role(served):
    send_all(served, 20)
