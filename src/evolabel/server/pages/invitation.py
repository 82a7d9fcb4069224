"""One-time links: opening one shows a form, sending the form uses it."""

import asyncio

from fastapi import APIRouter, Request, Response

from evolabel.server.http.access import now_us
from evolabel.server.http.problems import ProblemError
from evolabel.server.pages.render import render_page
from evolabel.server.pages.sign_in import begin_session
from evolabel.server.pages.visitors import address_of, checked_form, use_language, visitors_of
from evolabel.server.people.audit import write_audit
from evolabel.server.people.passwords import password_fault
from evolabel.server.people.people import set_member
from evolabel.server.people.tokens import token_digest
from evolabel.server.people.visits import InviteRow, find_invite, use_invite
from evolabel.server.project.service import Service

router = APIRouter(include_in_schema=False)
_GONE = "the link was used or has ended; ask for a new one"


@router.get("/invite/{code}")
async def get_invitation(code: str, request: Request) -> Response:
    """Show what the link gives, and the form for a password."""
    use_language(request)
    invite = await _found(visitors_of(request).service, code)
    return render_page(request, "invitation.html", invite=invite, now=now_us(), wrong=None)


@router.post("/invite/{code}")
async def post_invitation(code: str, request: Request) -> Response:
    """Store the password, give what the link gives, and begin a session."""
    visitors = visitors_of(request)
    use_language(request)
    form = await checked_form(request, None)
    invite = await _found(visitors.service, code)
    password = str(form.get("password", ""))
    fault = password_fault(password, invite.person.name)
    if fault is not None:
        wrong = f"password.{fault}"
        return render_page(request, "invitation.html", status=422, invite=invite, now=now_us(), wrong=wrong)
    stored = await visitors.passwords.hash(password)
    if not await asyncio.to_thread(_use, visitors.service, invite, stored, request):
        raise ProblemError(404, "not-found", _GONE)
    for worker in list(visitors.service.workers.values()):
        if worker.project.id == invite.project_id:
            return await begin_session(request, visitors, invite.person.id, f"/p/{worker.project.slug}/answer")
    return await begin_session(request, visitors, invite.person.id, "/")


async def _found(service: Service, code: str) -> InviteRow:
    def find() -> InviteRow | None:
        with service.reader.connect() as connection:
            return find_invite(connection, token_digest(code), now_us())

    invite = await asyncio.to_thread(find)
    if invite is None:
        raise ProblemError(404, "not-found", _GONE)
    return invite


def _use(service: Service, invite: InviteRow, password: str, request: Request) -> bool:
    """Use `invite` with the hashed `password` that `request` brought; return False if it was used in between."""
    at, person = now_us(), invite.person.id
    with service.pen.transaction() as connection:
        if not use_invite(connection, invite, password, at):
            return False
        if invite.project_id is not None and invite.role is not None:
            set_member(connection, invite.project_id, person, invite.role)
        write_audit(
            connection, at, "invitation-used", str(person), actor_id=person, address=address_of(request),
            request_id=request.state.request_id, project=invite.project_id,
        )  # fmt: skip
    return True
