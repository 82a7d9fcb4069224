"""The page of people: members with role and weight, invitations, tokens. A link or a token is shown once."""

import datetime
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, TypeVar

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy import Connection
from starlette.datastructures import FormData

from evolabel.errors import ParameterError, StateError
from evolabel.server.http.access import Actor, Entered, Sent, access_of, carry_out, read
from evolabel.server.http.people import COUNTED_TIME, link_of
from evolabel.server.log.schema import ROLES
from evolabel.server.log.times import DAY, SECOND, now_us
from evolabel.server.pages.render import project_page
from evolabel.server.pages.visitors import Entrant, Visitor, checked_form
from evolabel.server.people import membership, people
from evolabel.server.people.audit import Sender
from evolabel.server.people.membership import PAGE_ROLES, NewToken
from evolabel.server.people.policies import HiddenError
from evolabel.server.people.tokens import end_of_token
from evolabel.server.project.agreement import agreements, shared_questions
from evolabel.server.project.batch import Origin
from evolabel.server.project.operations import weigh_annotator, weights_of
from evolabel.server.project.statistics import answers_since
from evolabel.server.project.worker import Worker

router = APIRouter(prefix="/p/{slug}", include_in_schema=False)
T = TypeVar("T")
_FORM_ERRORS = {ParameterError: 422, StateError: 409, HiddenError: 404}

Shown = dict[str, str]
"""What is shown once: the kind and the text of a secret, and whose it is."""


class SentForm(NamedTuple):
    """A form that `sender` has filled in for the project of `worker`."""

    request: Request
    worker: Worker
    sender: Sender
    origin: Origin
    fields: FormData

    def text(self, name: str) -> str:
        """Return the field `name` without blanks around it, empty if it is missing."""
        return str(self.fields.get(name, "")).strip()

    async def change(self, act: Callable[[Connection, int], T]) -> T:
        """Return the result of `act` on the people of the project, whose number it gets, in one transaction."""
        return await access_of(self.request).change_people(lambda c: act(c, self.worker.project.id))


Act = Callable[[SentForm], Awaitable[Shown | None]]


@router.get("/people")
async def get_people(worker: Entered, visitor: Entrant, request: Request) -> Response:
    """Show members, invitations and tokens."""
    return await _page(request, worker, visitor)


@router.post("/people")
async def post_people(worker: Entered, visitor: Entrant, sender: Actor, origin: Sent, request: Request) -> Response:
    """Do what the form asks for; show a new link or token on the page itself, because it is not shown again."""
    form = await checked_form(request, visitor)
    act = _ACTS.get(str(form.get("act", "")))
    try:
        if act is None:
            raise ParameterError("the form has no known act; load the page and send it again")
        shown = await act(SentForm(request, worker, sender, origin, form))
    except tuple(_FORM_ERRORS) as error:
        return await _page(request, worker, visitor, wrong=error)
    if shown is not None:
        return await _page(request, worker, visitor, shown)
    return RedirectResponse(f"/p/{worker.project.slug}/people", 303)


async def _page(
    request: Request, worker: Worker, visitor: Visitor, shown: Shown | None = None, *, wrong: Exception | None = None
) -> Response:
    """Return the page with what is `shown` once, or with what is `wrong`."""
    now = now_us()
    facts = await access_of(request).read(lambda c: _facts(c, worker.project.id, now))
    names = [row.name for row in facts["members"]]
    weights = await read(worker, lambda batch: weights_of(batch, names))
    status = 200 if wrong is None else next(code for kind, code in _FORM_ERRORS.items() if isinstance(wrong, kind))
    return await project_page(
        request, "people.html", visitor=visitor, worker=worker, status=status, weights=weights, shown=shown,
        wrong=None if wrong is None else str(wrong), now=now, roles=ROLES, page_roles=PAGE_ROLES,
        first_day=_day(now + DAY), default_day=_day(now + 90 * DAY), **facts,
    )  # fmt: skip


def _facts(connection: Connection, project: int, now: int) -> dict[str, Any]:
    """Return what the tables have about people of a `project` at time `now`."""
    return {
        "members": people.list_members(connection, project),
        "answers": answers_since(connection, project, now - COUNTED_TIME),
        "agreements": agreements(shared_questions(connection, project)),
        "seen": people.last_seen(connection),
        "tokens": people.list_tokens(connection, project),
        "invites": people.list_invites(connection, project, now),
    }


async def _invite(form: SentForm) -> Shown:
    person, role = form.text("person"), form.text("role")
    code = await form.change(lambda c, project: membership.invite_member(c, project, person, role, form.sender))
    return {"kind": "link", "whose": person.lower(), "secret": link_of(form.request, code)}


async def _add(form: SentForm) -> None:
    person, role = form.text("person"), form.text("role")
    await form.change(lambda c, project: membership.admit(c, project, person, role, form.sender))


async def _change(form: SentForm) -> None:
    """Change role and weight of a member; an empty weight is taken from agreements."""
    person, role, weight = form.text("person"), form.text("role"), _weight(form.text("weight"))
    membership.check_role_name(role)
    row = await form.change(lambda c, project: membership.member_called(c, project, person))
    await carry_out(
        form.worker,
        lambda batch: weigh_annotator(batch, row.person_id, row.name, weight, form.origin),
        form.origin,
    )
    await form.change(lambda c, project: membership.change_role(c, project, person, role, form.sender))


async def _remove(form: SentForm) -> None:
    await form.change(lambda c, project: membership.remove_member(c, project, form.text("person"), form.sender))


async def _token(form: SentForm) -> Shown:
    person = form.text("person")
    purpose, end = form.text("purpose")[:200] or person, end_of_token(form.text("until") or None, form.sender.at)
    new = NewToken(person, form.text("role"), purpose, end)
    token = await form.change(lambda c, project: membership.add_token(c, project, new, form.sender))
    return {"kind": "token", "whose": person.lower(), "secret": token}


async def _revoke(form: SentForm) -> None:
    number = form.text("token")
    if not number.isascii() or not number.isdigit() or len(number) > 15:
        raise HiddenError("there is no such token in this project; load the page again")
    await form.change(lambda c, project: membership.revoke_token(c, project, int(number), form.sender))


async def _withdraw(form: SentForm) -> None:
    await form.change(lambda c, project: membership.cancel_invite(c, project, form.text("invite"), form.sender))


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
