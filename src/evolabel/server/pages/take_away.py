"""The page of what goes out: answers, samples, rules, the model with the lines that load it, and webhooks."""

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy import Connection

from evolabel.errors import ParameterError
from evolabel.server.http.access import Actor, Entered, access_of
from evolabel.server.http.exports import export_response
from evolabel.server.http.webhooks import drop_webhook, make_webhook
from evolabel.server.log.webhooks import MESSAGE_KINDS, list_tries, list_webhooks
from evolabel.server.pages.render import project_page
from evolabel.server.pages.visitors import Entrant, Visitor, checked_form
from evolabel.server.people.policies import HiddenError
from evolabel.server.project.worker import Worker

router = APIRouter(prefix="/p/{slug}/export", include_in_schema=False)
_TABLES = {"answers": ("csv", "ndjson", "parquet"), "samples": ("csv", "ndjson", "parquet")}
_TRIES = 10  # that are shown


@router.get("")
async def get_export_page(worker: Entered, visitor: Entrant, request: Request) -> Response:
    """Show the files."""
    return await _page(request, worker, visitor)


@router.post("")
async def post_webhook_form(worker: Entered, visitor: Entrant, sender: Actor, request: Request) -> Response:
    """Send messages to an address from now on, or no more; the secret of a new one is shown once."""
    form = await checked_form(request, visitor)
    act, text = str(form.get("act", "")), str(form.get("url", "")).strip()
    try:
        if act == "remove":
            await drop_webhook(access_of(request), worker, sender, str(form.get("webhook", "")))
        elif act == "add":
            kinds = [str(kind) for kind in form.getlist("kinds")]
            made = await make_webhook(access_of(request), worker, sender, text, kinds)
            return await _page(request, worker, visitor, secret=made["secret"])
        else:
            raise ParameterError("the form has no known act; load the page and send it again")
    except (ParameterError, HiddenError) as error:
        return await _page(request, worker, visitor, wrong=str(error), url=text)
    return RedirectResponse(f"/p/{worker.project.slug}/export", 303)


async def _page(
    request: Request, worker: Worker, visitor: Visitor, *, secret: str = "", wrong: str = "", url: str = ""
) -> Response:
    """Return the page, with the `secret` of a new address, or what is `wrong` with the `url` in the form."""

    def find(connection: Connection) -> list[dict[str, Any]]:
        found = list_webhooks(connection, worker.project.id)
        return [{"hook": hook, "tries": list_tries(connection, hook.project_id, hook.id, _TRIES)} for hook in found]

    return await project_page(
        request, "export.html", visitor=visitor, worker=worker, status=422 if wrong else 200, tables=_TABLES,
        webhooks=await access_of(request).read(find), kinds=MESSAGE_KINDS, secret=secret, wrong=wrong, url=url,
    )  # fmt: skip


@router.get("/{name}")
async def get_export_file(worker: Entered, sender: Actor, name: str, request: Request) -> Response:
    """Return the file `name`."""
    return await export_response(access_of(request), worker, sender, name)
