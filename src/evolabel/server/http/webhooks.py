"""Routes of addresses to which questions, final answers and events are sent."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter
from sqlalchemy import Connection

from evolabel.server.http.access import Access, Actor, AppAccess, Entered
from evolabel.server.http.schemas import Number, WebhookIn
from evolabel.server.log.times import readable_times
from evolabel.server.log.webhooks import delete_webhook, list_tries, list_webhooks
from evolabel.server.people.audit import Sender, write_audit
from evolabel.server.people.policies import HiddenError
from evolabel.server.project.webhooks import add_webhook
from evolabel.server.project.worker import Worker

router = APIRouter(prefix="/api/v1/projects/{slug}/webhooks", tags=["webhooks"])


@router.get("")
async def get_webhooks(worker: Entered, access: AppAccess) -> dict[str, Any]:
    """Return the addresses, what each gets, up to which record, and how many tries have failed since."""
    found = await access.read(lambda c: list_webhooks(c, worker.project.id))
    shown = ("id", "url", "kinds", "created", "seq", "tries")
    return readable_times({"webhooks": [{name: getattr(hook, name) for name in shown} for hook in found]})


@router.post("", status_code=201)
async def post_webhook(worker: Entered, sender: Actor, body: WebhookIn, access: AppAccess) -> dict[str, Any]:
    """Send messages to an address from now on; the secret, with which it checks signatures, is shown once."""
    return await make_webhook(access, worker, sender, body.url, body.kinds)


@router.delete("/{webhook}", status_code=204)
async def remove_webhook(worker: Entered, sender: Actor, webhook: Number, access: AppAccess) -> None:
    """Send an address no more messages."""
    await drop_webhook(access, worker, sender, str(webhook))


@router.get("/{webhook}/tries")
async def get_tries(worker: Entered, webhook: Number, access: AppAccess) -> dict[str, Any]:
    """Return the last tries to reach an address, newest first: the status of its answer, or the error."""
    return readable_times({"tries": await access.read(lambda c: list_tries(c, worker.project.id, webhook))})


async def make_webhook(
    access: Access, worker: Worker, sender: Sender, url: str, kinds: Sequence[str]
) -> dict[str, Any]:
    """Send `url` messages of these `kinds` about the project of `worker` for `sender`; return its id and secret."""

    def write(connection: Connection) -> dict[str, Any]:
        number, secret = add_webhook(connection, worker.project.id, url, kinds)
        write_audit(connection, "webhook-made", worker.project.slug, sender, url=url, kinds=list(kinds))
        return {"id": number, "url": url, "kinds": list(kinds), "secret": secret}

    return await access.write(write)


async def drop_webhook(access: Access, worker: Worker, sender: Sender, number: str) -> None:
    """Send the address `number` of the project of `worker` no more, for `sender`; HiddenError if there is none."""
    known = int(number) if number.isascii() and number.isdigit() and len(number) < 16 else 0

    def write(connection: Connection) -> None:
        if not delete_webhook(connection, worker.project.id, known):
            raise HiddenError("there is no such address in this project; list the addresses")
        write_audit(connection, "webhook-removed", worker.project.slug, sender, webhook=known)

    await access.write(write)
