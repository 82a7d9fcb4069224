"""Limits that hold on the network: slow heads and bodies, large heads, strangers, floods, sign-ins at once."""

import contextlib
import json
import logging
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
import uvicorn

from evolabel.server.app import create_app
from evolabel.server.http import protocol
from evolabel.server.ops.messages import JsonLines
from evolabel.server.people import passwords
from evolabel.server.people.accounts import create_token
from server.pumps import checksum
from server.signed_in import PASSWORD, add_person

P = "/api/v1/projects/pumps"


@contextlib.contextmanager
def listening(service, **options):
    """Port of a server as `evolabel serve` runs it."""
    config = uvicorn.Config(
        create_app(service, **options), http=protocol.DeadlineProtocol, h11_max_incomplete_event_size=64 * 1024,
        lifespan="off", log_level="critical", proxy_headers=False,
    )  # fmt: skip
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join(10)


@pytest.fixture
def short(monkeypatch):
    """Deadlines of a fraction of a second."""
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.2)
    monkeypatch.setattr(protocol, "BODY_SECONDS", 0.2)


def answer(port, *parts, pause=0.0):
    """All that the server sends back to these parts, until it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        for part in parts:
            client.sendall(part)
            time.sleep(pause)
        received = b""
        while chunk := client.recv(4096):
            received += chunk
        return received


def head(token, length, path=f"{P}/samples"):
    lines = [f"POST {path} HTTP/1.1", "Host: x", f"Authorization: Bearer {token}", "Content-Type: application/json"]
    return "\r\n".join([*lines, f"Content-Length: {length}", "", ""]).encode()


def test_slow_heads_and_bodies_are_cut_off(sqlite, start, short):
    service = start(sqlite)
    token, before = create_token(sqlite, "gateway", "pumps", "producer", "test"), checksum(service.workers["pumps"])
    with listening(service) as port:
        assert answer(port).startswith(b"HTTP/1.1 408")  # nothing is sent
        assert answer(port, b"GET /livez HTTP/1.1\r\nHost: x\r\n").startswith(b"HTTP/1.1 408")
        assert answer(port, head(token, 100), b'{"samples": ').startswith(b"HTTP/1.1 408")
        first = answer(port, b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /li", pause=0.1)
        assert first.startswith(b"HTTP/1.1 200")
        assert first.endswith(b"Content-Length: 0\r\n\r\n")  # the second head came too slowly
        with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:  # a connection that waits is not cut off
            assert client.get("/livez").status_code == 200
            time.sleep(0.5)
            assert client.get("/livez").status_code == 200
    assert checksum(service.workers["pumps"]) == before


def test_a_large_body_has_more_time(sqlite, start, short, monkeypatch):
    monkeypatch.setattr(protocol, "SLOWEST", 100)
    service = start(sqlite)
    token = create_token(sqlite, "gateway", "pumps", "producer", "test")
    body = b'{"samples": [{"x": {"pressure": 1.0}}]}'
    body += b" " * (200 - len(body))
    with listening(service) as port:
        head_of = head(token, len(body))[:-2] + b"Connection: close\r\n\r\n"
        halves = body[:100], body[100:]
        assert answer(port, head_of, *halves, pause=0.4).startswith(b"HTTP/1.1 200")  # 0.2 s and 2 s
        assert answer(port, head_of, body[:100]).startswith(b"HTTP/1.1 408")


def test_large_heads_are_refused(sqlite, start):
    with listening(start(sqlite)) as port:
        begin = b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX: "
        assert answer(port, begin + b"a" * 70_000 + b"\r\n\r\n").startswith(b"HTTP/1.1 431")
        with contextlib.suppress(ConnectionResetError):  # the server has closed it before all was read
            assert answer(port, begin + b"a" * 70_000, b"a" * 70_000, pause=0.1).startswith(b"HTTP/1.1 400")


def test_a_token_is_checked_before_the_body(sqlite, start):
    service = start(sqlite)
    token = create_token(sqlite, "gateway", "pumps", "producer", "test")
    with listening(service) as port, httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        waits = answer(port, head("ev_stranger", 10_000_000)[:-2] + b"Connection: close\r\n\r\n")
        assert waits.startswith(b"HTTP/1.1 4")  # no byte of the body was sent
        stranger = {"authorization": "Bearer ev_stranger"}
        known = {"authorization": f"Bearer {token}"}
        for body in ({"nonsense": 1}, [], None):
            assert client.post(f"{P}/samples", json=body, headers=stranger).status_code == 401
            assert client.post("/api/v1/projects/other/samples", json=body, headers=known).status_code == 404
            assert client.post(f"{P}/labels", json=body, headers=known).status_code == 403
            assert client.post("/api/v1/users", json=body, headers=known).status_code == 403
            assert client.post(f"{P}/samples", json=body, headers=known).status_code == 422
        refused = client.post(f"{P}/samples", content=b"x", headers={**known, "x-request-id": "mine"})
        assert (refused.status_code, refused.headers["x-request-id"]) == (415, "mine")
        assert refused.headers["x-content-type-options"] == "nosniff"


def test_a_form_in_chunks_has_the_limit_of_forms(sqlite, start):
    with listening(start(sqlite)) as port, httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        chunks = (b"name=" if i == 0 else b"a" * 60_000 for i in range(6))
        form = {"content-type": "application/x-www-form-urlencoded"}
        assert client.post("/sign-in", content=chunks, headers=form).status_code == 413


def test_floods_without_a_token_are_slowed_down(sqlite, start, monkeypatch):
    monkeypatch.setattr("evolabel.server.http.access._UNKNOWN_PER_MINUTE", 5)
    service = start(sqlite)
    token = create_token(sqlite, "gateway", "pumps", "producer", "test")
    with listening(service) as port, httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        statuses = [client.get(P, headers={"authorization": f"Bearer ev_{i}"}).status_code for i in range(8)]
        assert statuses == [401] * 5 + [429] * 3
        assert client.get(P, headers={"authorization": f"Bearer {token}"}).status_code == 200


def test_forty_sign_ins_at_once(sqlite, start, monkeypatch):
    held, genuine = threading.Event(), passwords.is_password

    def slow(password, stored):
        held.wait(20)
        return genuine(password, stored)

    monkeypatch.setattr(passwords, "is_password", slow)
    service = start(sqlite)
    add_person(service, password=PASSWORD)
    with listening(service) as port, ThreadPoolExecutor(40) as people:
        form = {"name": "anna", "password": PASSWORD}
        url = f"http://127.0.0.1:{port}"
        sent = [people.submit(httpx.post, f"{url}/sign-in", data=form, timeout=60) for _ in range(40)]
        while sum(one.done() for one in sent) < 18:  # refused at once: two are hashed, twenty wait
            time.sleep(0.01)
        assert httpx.get(f"{url}/livez").status_code == 200  # the loop runs meanwhile
        held.set()
        statuses = sorted(one.result().status_code for one in sent)
    assert statuses == [303] * 22 + [429] * 18


def test_each_request_is_one_line_without_secrets(sqlite, start, caplog):
    service = start(sqlite)
    token = create_token(sqlite, "gateway", "pumps", "producer", "test")
    caplog.set_level(logging.INFO, "evolabel.server.requests")
    with listening(service) as port, httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        client.get(P, headers={"authorization": f"Bearer {token}", "x-request-id": "first"})
        client.get("/invite/" + "c" * 43)
        client.get("/livez")
    lines = [json.loads(JsonLines().format(record)) for record in caplog.records if record.name.endswith("requests")]
    assert [(line["route"], line["status"]) for line in lines] == [
        ("/api/v1/projects/{slug}", 200), ("/invite/{code}", 404),
    ]  # fmt: skip
    assert (lines[0]["request_id"], lines[0]["project"], lines[0]["actor"]) == ("first", "pumps", 1)
    assert token not in str(lines)
    assert "c" * 43 not in str(lines)
