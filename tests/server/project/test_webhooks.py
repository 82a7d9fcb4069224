"""Webhooks: each message once and in order, signed; tried again until accepted; never inside a private network."""

import hashlib
import hmac
import http.server
import ipaddress
import json
import socket
import threading
import time

import pytest
from sqlalchemy import update

from evolabel.errors import ParameterError
from evolabel.server.log.schema import WEBHOOK
from evolabel.server.log.webhooks import delete_webhook, list_tries, list_webhooks
from evolabel.server.project import outgoing, webhooks
from evolabel.server.project.outgoing import RefusedError, address_of_host, check_url, is_public, post
from evolabel.server.project.service import Service
from evolabel.server.project.webhooks import add_webhook
from server.pumps import new_project, run, samples

LOOPBACK = [ipaddress.ip_network("127.0.0.0/8")]


@pytest.fixture
def receiver():
    """A server that keeps what it is sent; it answers with the statuses in `answers`, then 200."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            server.got.append((dict(self.headers), body))
            self.send_response(server.answers.pop(0) if server.answers else 200)
            self.send_header("location", "http://127.0.0.1:1/")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.got, server.answers = [], []
    server.url = f"http://127.0.0.1:{server.server_address[1]}/hook?a=1"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def service(sqlite, monkeypatch):
    monkeypatch.setattr(webhooks, "_LOOK_SECONDS", 0.02)
    found = Service(sqlite, webhook_networks=LOOPBACK)
    found.start()
    found.create_project(new_project())
    yield found
    found.stop()


def hook(service, url, *kinds):
    with service.writer.transaction() as connection:
        return add_webhook(connection, service.workers["pumps"].project.id, url, kinds)


def until(found):
    end = time.monotonic() + 30
    while not (value := found()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return value


def tries(service, number):
    with service.reader.connect() as connection:
        return list_tries(connection, service.workers["pumps"].project.id, number)


def test_questions_answers_and_events_come_in_order_and_signed(service, receiver):
    _, secret = hook(service, receiver.url, "question", "answer")
    run(service.workers["pumps"], [(sample, truth) for sample, truth in samples(30)])
    n = service.workers["pumps"].state.n_questions
    assert n > 3
    until(lambda: len(receiver.got) >= 2 * n)
    time.sleep(0.2)
    messages = [json.loads(body) for _, body in receiver.got]
    assert [m["seq"] for m in messages] == sorted({m["seq"] for m in messages})
    asked = [m["data"]["number"] for m in messages if m["kind"] == "question"]
    answered = [m["data"] for m in messages if m["kind"] == "answer"]
    assert sorted(asked) == sorted(a["number"] for a in answered)
    assert len(asked) == n
    assert set(answered[0]) == {"number", "cause", "answers"}
    assert answered[0]["answers"][0]["answers"]
    for headers, body in receiver.got:
        at, _, signed = headers["Evolabel-Signature"].removeprefix("t=").partition(",v1=")
        assert hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest() == signed
        assert abs(int(at) - time.time()) < 60
    ids = [headers["Evolabel-Delivery"] for headers, _ in receiver.got]
    assert len(set(ids)) == len(ids)
    assert [m["project"] for m in messages[:1]] == ["pumps"]


def test_only_what_comes_later_is_sent(service, receiver):
    hook(service, receiver.url, "event")
    service.workers["pumps"].call(lambda batch: batch.record("paused", {}, _nobody()))
    (message,) = until(lambda: [json.loads(body) for _, body in receiver.got])
    assert (message["kind"], message["data"]["kind"]) == ("event", "paused")  # not that the project was made


def _nobody():
    from evolabel.server.project.batch import Origin

    return Origin()


def test_a_message_is_tried_again_until_it_is_accepted(service, receiver, sqlite):
    receiver.answers = [500, 302]
    number, _ = hook(service, receiver.url, "event")
    service.workers["pumps"].call(lambda batch: batch.record("paused", {}, _nobody()))
    service.workers["pumps"].call(lambda batch: batch.record("resumed", {}, _nobody()))
    for n in (1, 2):
        until(lambda n=n: len(tries(service, number)) == n)
        with service.writer.transaction() as connection:  # the waits are shortened
            (found,) = list_webhooks(connection)
            assert (found.tries, found.next_at > 0) == (n, True)
            connection.execute(update(WEBHOOK).values(next_at=1))
    until(lambda: len(receiver.got) == 4)
    kinds = [json.loads(body)["data"]["kind"] for _, body in receiver.got]
    assert kinds == ["paused", "paused", "paused", "resumed"]  # in order: the second waits for the first
    log = until(lambda: (found := tries(service, number)) and len(found) == 4 and found)
    assert [(row["status"], row["error"][:12]) for row in log] == [
        (200, ""), (200, ""), (None, "answered 302"), (None, "answered 500"),
    ]  # fmt: skip


def test_it_goes_on_after_a_new_start(service, receiver, sqlite):
    receiver.answers = [503]
    number, _ = hook(service, receiver.url, "event")
    service.workers["pumps"].call(lambda batch: batch.record("paused", {}, _nobody()))
    until(lambda: tries(service, number))
    with service.writer.transaction() as connection:
        connection.execute(update(WEBHOOK).values(next_at=1))
    service.stop()
    again = Service(sqlite, webhook_networks=LOOPBACK)
    again.start()
    try:
        kinds = until(lambda: [json.loads(b)["data"]["kind"] for _, b in receiver.got[1:]])
        assert kinds[0] == "paused"
    finally:
        again.stop()


def test_a_message_that_is_refused_for_a_day_is_given_up(service, receiver, monkeypatch):
    monkeypatch.setattr(webhooks, "_MOST_TRIES", 1)
    receiver.answers = [410]
    number, _ = hook(service, receiver.url, "event")
    service.workers["pumps"].call(lambda batch: batch.record("paused", {}, _nobody()))
    service.workers["pumps"].call(lambda batch: batch.record("resumed", {}, _nobody()))
    log = until(lambda: (found := tries(service, number)) and len(found) == 2 and found)
    assert [row["error"] for row in log] == ["", "answered 410; given up"]
    with service.writer.transaction() as connection:
        assert delete_webhook(connection, service.workers["pumps"].project.id, number)
        assert not delete_webhook(connection, service.workers["pumps"].project.id, number)
    assert tries(service, number) == []


def test_an_address_that_is_removed_gets_nothing_more(service, receiver, monkeypatch):
    number, _ = hook(service, receiver.url, "event")
    worker, real, told = service.workers["pumps"], webhooks.post, []

    def remove_after(*args):
        told.append(real(*args))
        with service.writer.transaction() as connection:
            delete_webhook(connection, worker.project.id, number)
        return told[-1]

    monkeypatch.setattr(webhooks, "post", remove_after)
    worker.call(lambda batch: [batch.record(kind, {}, _nobody()) for kind in ("paused", "resumed")])
    until(lambda: told)
    until(lambda: all(future.done() for future in service._webhooks._running.values()))
    assert len(receiver.got) == 1


def test_an_address_with_many_messages_lets_others_go_first(service, receiver, monkeypatch):
    monkeypatch.setattr(webhooks, "_TURN", 2)
    service._webhooks.stop()  # it sends nothing: turns are taken here
    worker = service.workers["pumps"]
    hook(service, receiver.url, "event")
    for kind in ("paused", "resumed", "paused", "resumed", "paused"):
        worker.call(lambda batch, kind=kind: batch.record(kind, {}, _nobody()))
    sender = webhooks.Webhooks(service.writer, service.reader, LOOPBACK)
    for n in (2, 4, 5):
        with service.reader.connect() as connection:
            (found,) = list_webhooks(connection)
        sender._send_all(found)
        assert len(receiver.got) == n


PRIVATE = (
    "127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
    "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1",
    "2002:7f00:1::", "ff02::1", "fec0::1",
)  # fmt: skip


def test_addresses_that_are_not_public_are_refused():
    for text in PRIVATE:
        assert not is_public(ipaddress.ip_address(text)), text
    for text in ("93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "64:ff9b::5db8:d822"):
        assert is_public(ipaddress.ip_address(text)), text
    for host in ("127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "127.1"):
        with pytest.raises(RefusedError):
            address_of_host(check_url(f"https://{host}/"), [])


def test_a_name_is_resolved_once_and_every_address_must_be_public(monkeypatch, receiver):
    found = [["93.184.216.34"], ["127.0.0.1"]]
    asked, connected = [], []

    def getaddrinfo(host, port, **_):
        asked.append(host)
        return [(2, 1, 6, "", (address, port)) for address in found[min(len(asked), len(found)) - 1]]

    def connect(target, timeout):
        connected.append(target)
        raise OSError("no network in tests")

    monkeypatch.setattr(outgoing.socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(outgoing.socket, "create_connection", connect)
    with pytest.raises(RefusedError, match="no answer: no network in tests"):
        post("https://rebinds.example/", b"{}", {})
    assert (asked, connected) == (["rebinds.example"], [("93.184.216.34", 443)])
    found[:] = [["93.184.216.34", "10.0.0.8"]]
    with pytest.raises(RefusedError, match=r"rebinds.example is 10.0.0.8, which is not public"):
        post("https://rebinds.example/", b"{}", {})
    found[:] = [["93.184.216.34"]]
    with pytest.raises(RefusedError, match="messages without TLS; use https"):
        post("http://plain.example/", b"{}", {})


def test_redirects_are_not_followed_and_slow_answers_end(receiver, monkeypatch):
    receiver.answers = [307]
    with pytest.raises(RefusedError, match="answered 307: redirects are not followed"):
        post(receiver.url, b"{}", {}, LOOPBACK)
    assert len(receiver.got) == 1
    monkeypatch.setattr(outgoing, "_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(RefusedError, match="no answer"):
        post(f"http://127.0.0.1:{silent.getsockname()[1]}/", b"{}", {}, LOOPBACK)


def test_an_answer_that_drips_ends_also_after_a_slow_start(monkeypatch):
    """The time is that of the whole request: a connection that took all of it before has none left."""
    monkeypatch.setattr(outgoing, "_SECONDS", 0.3)
    connect = outgoing._Pinned.connect

    def connect_slowly(self):
        slow = socket.socket()  # as while TLS begins: the socket is another one then
        self.sock = slow
        time.sleep(0.4)
        slow.close()
        connect(self)

    monkeypatch.setattr(outgoing._Pinned, "connect", connect_slowly)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip():
            with server.accept()[0] as peer:
                for _ in range(40):
                    try:
                        peer.sendall(b"H")
                    except OSError:
                        return
                    time.sleep(0.1)

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        with pytest.raises(RefusedError, match="no answer"):
            post(f"http://127.0.0.1:{server.getsockname()[1]}/", b"{}", {}, LOOPBACK)
        assert thread.is_alive()  # the answer was not waited for
        thread.join()


@pytest.mark.parametrize(
    "url",
    ["ftp://example.org/", "file:///etc/passwd", "https://", "https://a:b@example.org/", "https://example.org/#x",
     "https://exa mple.org/", "https://example.org:99999/", "https://example.org\r\nx: y/", "//example.org"],
)  # fmt: skip
def test_what_is_no_address_is_refused(url):
    with pytest.raises(ParameterError):
        check_url(url)


def test_unknown_kinds_and_too_many_addresses_are_refused(service):
    with pytest.raises(ParameterError, match="kinds are 'secrets'"):
        hook(service, "https://example.org/", "secrets")
    with pytest.raises(ParameterError, match="kinds are none"):
        hook(service, "https://example.org/")
    for _ in range(20):
        hook(service, "https://example.org/", "answer")
    with pytest.raises(ParameterError, match="at most 20 addresses"):
        hook(service, "https://example.org/", "answer")
