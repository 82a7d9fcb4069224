"""The page of people: members with role and weight, invitations, tokens. A link or a token is shown once."""

import asyncio
import datetime
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.datastructures import FormData

from evolabel.errors import ParameterError, StateError
from evolabel.server.http.access import access_of, carry_out, origin_of, read, sender_of
from evolabel.server.http.people import COUNTED_TIME, link_of
from evolabel.server.log.schema import ROLES
from evolabel.server.log.times import DAY, SECOND, now_us
from evolabel.server.pages.render import render_page
from evolabel.server.pages.visitors import Entered, Entrant, Visitor, checked_form, visitors_of
from evolabel.server.people import membership, people
from evolabel.server.people.invites import PAGE_ROLES
from evolabel.server.people.membership import NewToken
from evolabel.server.people.policies import HiddenError
from evolabel.server.people.tokens import end_of_token
from evolabel.server.project.operations import weigh_annotator, weights_of
from evolabel.server.project.reading import waiting_for
from evolabel.server.project.statistics import agreements, answers_since
from evolabel.server.project.worker import Worker

router = APIRouter(prefix="/p/{slug}", include_in_schema=False)
_FORM_ERRORS = {ParameterError: 422, StateError: 409, HiddenError: 404}

Shown = dict[str, str]
"""What is shown once: the kind and the text of a secret, and whose it is."""
Act = Callable[[Request, Worker, Visitor, FormData], Awaitable[Shown | None]]


@router.get("/people")
async def get_people(worker: Entered, visitor: Entrant, request: Request) -> Response:
    """Show members, invitations and tokens."""
    return await _page(request, worker, visitor)


@router.post("/people")
async def post_people(slug: str, worker: Entered, visitor: Entrant, request: Request) -> Response:
    """Do what the form asks for; show a new link or token on the page itself, because it is not shown again."""
    form = await checked_form(request, visitor)
    act = _ACTS.get(str(form.get("act", "")))
    try:
        if act is None:
            raise ParameterError("the form has no known act; load the page and send it again")
        shown = await act(request, worker, visitor, form)
    except tuple(_FORM_ERRORS) as error:
        return await _page(request, worker, visitor, wrong=error)
    return RedirectResponse(f"/p/{slug}/people", 303) if shown is None else await _page(request, worker, visitor, shown)


async def _page(
    request: Request, worker: Worker, visitor: Visitor, shown: Shown | None = None, *, wrong: Exception | None = None
) -> Response:
    """Return the page with what is `shown` once, or with what is `wrong`."""
    now = now_us()
    facts = await asyncio.to_thread(_facts, worker, request, now)
    names = [row.name for row in facts["members"]]
    person = visitor.person.id
    weights, waiting = await read(worker, lambda batch: (weights_of(batch, names), waiting_for(batch, person)))
    status = 200 if wrong is None else next(code for kind, code in _FORM_ERRORS.items() if isinstance(wrong, kind))
    return render_page(
        request, "people.html", visitor=visitor, worker=worker, status=status, weights=weights, shown=shown,
        waiting=waiting, wrong=None if wrong is None else str(wrong), now=now, roles=ROLES, page_roles=PAGE_ROLES,
        first_day=_day(now + DAY), default_day=_day(now + 90 * DAY), **facts,
    )  # fmt: skip


def _facts(worker: Worker, request: Request, now: int) -> dict[str, Any]:
    """Return what the tables have about people of the project of `worker` at time `now`."""
    project = worker.project.id
    with visitors_of(request).service.reader.connect() as connection:
        return {
            "members": people.list_members(connection, project),
            "answers": answers_since(connection, project, now - COUNTED_TIME),
            "agreements": agreements(connection, project),
            "seen": people.last_seen(connection),
            "tokens": people.list_tokens(connection, project),
            "invites": people.list_invites(connection, project, now),
        }


async def _invite(request: Request, worker: Worker, visitor: Visitor, form: FormData) -> Shown:
    sender = sender_of(request, visitor.identity(worker.project.id))
    person, role = str(form.get("person", "")).strip(), str(form.get("role", ""))
    code = await access_of(request).write(
        lambda c: membership.invite_member(c, worker.project.id, person, role, sender)
    )  # fmt: skip
    return {"kind": "link", "whose": person.lower(), "secret": link_of(request, code)}


async def _add(request: Request, worker: Worker, visitor: Visitor, form: FormData) -> None:
    sender = sender_of(request, visitor.identity(worker.project.id))
    person, role = str(form.get("person", "")).strip(), str(form.get("role", ""))
    await access_of(request).write(lambda c: membership.admit(c, worker.project.id, person, role, sender))


async def _change(request: Request, worker: Worker, visitor: Visitor, form: FormData) -> None:
    """Change role and weight of a member; an empty weight is taken from agreements."""
    identity = visitor.identity(worker.project.id)
    sender, origin, access = sender_of(request, identity), await origin_of(request, identity), access_of(request)
    person, role, weight = str(form.get("person", "")), str(form.get("role", "")), _weight(str(form.get("weight", "")))
    membership.check_role_name(role)
    row = await access.write(lambda c: membership.member_called(c, worker.project.id, person))
    await carry_out(worker, lambda batch: weigh_annotator(batch, row.person_id, row.name, weight, origin), 1, origin)
    await access.write(lambda c: membership.change_role(c, worker.project.id, person, role, sender))


async def _remove(request: Request, worker: Worker, visitor: Visitor, form: FormData) -> None:
    sender, person = sender_of(request, visitor.identity(worker.project.id)), str(form.get("person", ""))
    await access_of(request).write(lambda c: membership.remove_member(c, worker.project.id, person, sender))


async def _token(request: Request, worker: Worker, visitor: Visitor, form: FormData) -> Shown:
    sender = sender_of(request, visitor.identity(worker.project.id))
    until, person = str(form.get("until", "")) or None, str(form.get("person", "")).strip()
    purpose = str(form.get("purpose", "")).strip()[:200] or person
    new = NewToken(person, str(form.get("role", "")), purpose, end_of_token(until, sender.at))
    token = await access_of(request).write(lambda c: membership.add_token(c, worker.project.id, new, sender))
    return {"kind": "token", "whose": new.person.lower(), "secret": token}


async def _revoke(request: Request, worker: Worker, visitor: Visitor, form: FormData) -> None:
    sender, number = sender_of(request, visitor.identity(worker.project.id)), str(form.get("token", ""))
    if not number.isascii() or not number.isdigit() or len(number) > 15:
        raise HiddenError("there is no such token in this project; load the page again")
    await access_of(request).write(lambda c: membership.revoke_token(c, worker.project.id, int(number), sender))


async def _withdraw(request: Request, worker: Worker, visitor: Visitor, form: FormData) -> None:
    sender, key = sender_of(request, visitor.identity(worker.project.id)), str(form.get("invite", ""))
    await access_of(request).write(lambda c: membership.cancel_invite(c, worker.project.id, key, sender))


_ACTS: dict[str, Act] = {
    "invite": _invite,
    "add": _add,
    "change": _change,
    "remove": _remove,
    "token": _token,
    "revoke": _revoke,
    "withdraw": _withdraw,
}


def _weight(text: str) -> float | None:
    """Return the weight in `text`, None if it is empty; ParameterError unless it is from 0 to 1."""
    if not text.strip():
        return None
    try:
        weight = float(text.replace(",", "."))
    except ValueError:
        weight = -1.0
    if not 0.0 <= weight <= 1.0:
        raise ParameterError(f"the weight is {text[:20]!r}; write a number from 0 to 1, or leave it empty")
    return weight


def _day(at: int) -> str:
    """Return the day of time `at` in UTC, as a field for dates holds it."""
    return datetime.datetime.fromtimestamp(at / SECOND, datetime.UTC).date().isoformat()
