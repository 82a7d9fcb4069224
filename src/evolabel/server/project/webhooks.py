"""`Webhooks`: sends questions, final answers and events to addresses, in their order, until each has accepted them.

What is to be sent is read from the log, and what each address has got is stored: a message may come twice after a
crash, with the same id, and none is lost unless an address has refused it for a day.
"""

import hashlib
import hmac
import json
import logging
import secrets
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any

from sqlalchemy import Connection, Engine

from evolabel.errors import EvolabelError, ParameterError
from evolabel.server.log.activity import activity_rows
from evolabel.server.log.canonical import parsed
from evolabel.server.log.records import Record, records_after
from evolabel.server.log.times import SECOND, now_us, utc_text
from evolabel.server.log.webhooks import (
    MESSAGE_KINDS,
    Webhook,
    count_webhooks,
    insert_webhook,
    keep_try,
    list_webhooks,
    move_webhook,
)
from evolabel.server.log.writer import LogWriter, reading
from evolabel.server.project.outgoing import Network, RefusedError, check_url, post

_LOOK_SECONDS = 1.0
_RECORDS = 500  # read at once
_AT_ONCE = 4  # addresses
_TURN = 20  # messages of an address, before others that wait
_MOST = 20  # addresses of a project
_LONGEST_WAIT = 3600  # seconds between two tries
_MOST_TRIES = 34  # 2 hours of doubled waits, and one an hour until a day has passed

logger = logging.getLogger("evolabel.server")


def add_webhook(connection: Connection, project_id: int, url: str, kinds: Sequence[str]) -> tuple[int, str]:
    """Send the address `url` messages of these `kinds` about project `project_id` from now on; return id and secret.

    ParameterError for another address than one of HTTP or HTTPS, or unknown kinds.
    """
    check_url(url)
    if not kinds or (unknown := [kind for kind in kinds if kind not in MESSAGE_KINDS]):
        found = repr(unknown[0]) if kinds else "none"
        raise ParameterError(f"kinds are {found}; choose one or more of {', '.join(MESSAGE_KINDS)}")
    if count_webhooks(connection, project_id) >= _MOST:
        raise ParameterError(f"a project has at most {_MOST} addresses; remove one first")
    secret, once = secrets.token_urlsafe(32), list(dict.fromkeys(kinds))
    return insert_webhook(connection, project_id, url, once, secret=secret, at=now_us()), secret


def messages_of(record: Record) -> list[tuple[str, dict[str, Any]]]:
    """Return the messages that a `record` makes, each with its kind, in their order."""
    kind, payload, outcome = record.entry.kind, record.known_payload(), record.entry.outcome
    found = list[tuple[str, dict[str, Any]]]()
    if kind == "sample" and (question := outcome["question"]) is not None:
        facts = {"number": outcome["number"], "id": payload.get("id"), "source": payload.get("source")}
        found.append(("question", {**facts, "labels": question["labels"], "reasons": question["reasons"]}))
    elif kind == "close" or outcome.get("closes"):
        people = payload.get("annotators") or [None]
        rows = payload.get("rows", [payload.get("y", {})])
        given = [{"person": name, "answers": row} for name, row in zip(people, rows, strict=False)]
        found.append(
            ("answer", {"number": payload["number"], "cause": payload.get("cause", "answered"), "answers": given})
        )
    acts = activity_rows(0, record)
    return [*found, *(("event", {"kind": row["kind"], "args": parsed(row["args"])}) for row in acts)]


def signature(secret: str, at: int, body: bytes) -> str:
    """Return the header by which a receiver with the `secret` can check that `body` was sent at `at` (seconds)."""
    signed = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={signed}"


class Webhooks:
    """Sends to the addresses that `reader` finds, and stores by `writer` what they have got.

    Addresses in the networks `allowed` need not be public.
    """

    def __init__(self, writer: LogWriter, reader: Engine, allowed: Sequence[Network] = ()) -> None:
        self._writer = writer
        self._reader = reader
        self._allowed = allowed
        self._stopped = threading.Event()
        self._pool = ThreadPoolExecutor(_AT_ONCE, "webhook")
        self._running: dict[int, Future[None]] = {}
        self._thread = threading.Thread(target=self._run, name="webhooks", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def stop(self) -> None:
        """Begin no further message."""
        self._stopped.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _run(self) -> None:
        while not self._stopped.wait(_LOOK_SECONDS):
            if not self._writer.is_writer:
                continue
            try:
                with reading(self._reader) as connection:
                    due = [webhook for webhook in list_webhooks(connection) if webhook.next_at <= now_us()]
                for webhook in due:
                    before = self._running.get(webhook.id)
                    if before is None or before.done():
                        self._running[webhook.id] = self._pool.submit(self._send_all, webhook)
            except Exception as error:
                if not self._stopped.is_set():
                    logger.error("webhooks wait: %s", error, exc_info=not isinstance(error, EvolabelError))

    def _send_all(self, webhook: Webhook) -> None:
        """Send `webhook` what is behind what it has got, until a try fails, it is deleted or its turn ends."""
        try:
            for message in islice(self._messages(webhook), _TURN):
                if self._stopped.is_set() or not self._sent(*message):
                    return
        except Exception as error:
            logger.error("webhook %d waits: %s", webhook.id, error, exc_info=not isinstance(error, EvolabelError))

    def _messages(self, webhook: Webhook) -> Iterator[tuple[Webhook, Record, str, dict[str, Any], Webhook]]:
        """Yield each message of `webhook` with its place, and the place behind it."""
        seq, part = webhook.seq, webhook.part
        tries = webhook.tries
        while True:
            with reading(self._reader) as connection:
                records = records_after(connection, webhook.project_id, seq, _RECORDS)
            for record in records:
                found = messages_of(record)
                for place, (kind, data) in enumerate(found[part:], start=part):
                    if kind in webhook.kinds:
                        here = webhook._replace(seq=record.seq - 1, part=place, tries=tries)
                        yield here, record, kind, data, here._replace(part=place + 1, tries=0, next_at=0)
                        tries = 0
                seq, part = record.seq, 0
            if records:  # so that a start does not read them again
                with self._writer.transaction() as connection:
                    move_webhook(connection, webhook._replace(seq=seq, part=0, tries=0, next_at=0))
            if len(records) < _RECORDS:
                return

    def _sent(self, here: Webhook, record: Record, kind: str, data: dict[str, Any], behind: Webhook) -> bool:
        """Send an address the message at `here`, and store that it is `behind` it; return whether more can be sent.

        False after a try that failed, and if the address was deleted meanwhile.
        """
        at, status, error = now_us(), None, ""
        facts = {"project": here.slug, "seq": record.seq, "kind": kind, "at": utc_text(record.entry.at), "data": data}
        body = json.dumps(facts, ensure_ascii=False, separators=(",", ":")).encode()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "evolabel",
            "Evolabel-Delivery": f"{here.id}-{record.seq}-{here.part}",
            "Evolabel-Signature": signature(here.secret, at // SECOND, body),
        }
        try:
            status, after = post(here.url, body, headers, self._allowed), behind
        except RefusedError as refused:
            error, tries = str(refused), here.tries + 1
            wait = min(2**tries, _LONGEST_WAIT) * SECOND
            after = here._replace(tries=tries, next_at=at + wait)
            if tries >= _MOST_TRIES:
                error, after = f"{error}; given up", behind
        with self._writer.transaction() as connection:
            keep_try(connection, here, kind, at, status=status, error=error)
            return move_webhook(connection, after) and not after.next_at
