"""Routes of operators for members, tokens and invitations, of administrators for people, and preferences."""

from typing import Any

from fastapi import APIRouter, Request

from evolabel.server.http.access import Actor, AppAccess, Entered, Entrant, Sent, carry_out, read
from evolabel.server.http.problems import ProblemError
from evolabel.server.http.schemas import (
    After,
    InviteIn,
    Limit,
    MemberChangeIn,
    MemberIn,
    Number,
    PreferencesIn,
    TokenIn,
    UserIn,
)
from evolabel.server.log.times import DAY, now_us, readable_times
from evolabel.server.people import membership
from evolabel.server.people.audit import read_audit
from evolabel.server.people.membership import VALID, NewToken
from evolabel.server.people.people import MemberRow, list_invites, list_members, list_people, list_tokens
from evolabel.server.people.sessions import preferences_of, set_preferences
from evolabel.server.people.tokens import end_of_token
from evolabel.server.project.agreement import Agreement, agreements, shared_questions
from evolabel.server.project.operations import weigh_annotator, weights_of
from evolabel.server.project.statistics import AnswerCounts, answers_since

router = APIRouter(prefix="/api/v1/projects/{slug}", tags=["people"])
COUNTED_TIME = 7 * DAY
"""Time for which the answers of members are counted."""


@router.get("/members")
async def get_members(worker: Entered, access: AppAccess) -> dict[str, Any]:
    """Return the members of the project: name, role, weight, what they answered in 7 days, agreement with others.

    `compared` are the answers to labels that another person has answered, too, one for each such person, and `agreed`
    those that are the same; `agreement` is their share. Questions that wait because people differ are counted.
    """
    project, since = worker.project.id, now_us() - COUNTED_TIME
    rows, agreed, answers = await access.read(
        lambda c: (list_members(c, project), agreements(shared_questions(c, project)), answers_since(c, project, since))
    )
    weights = await read(worker, lambda batch: weights_of(batch, [row.name for row in rows]))
    none = Agreement(), AnswerCounts()
    shown = [
        _member(row, agreed.get(row.person_id, none[0]), answers.get(row.person_id, none[1])) | weights[row.name]
        for row in rows
    ]
    return {"members": shown}


def _member(row: MemberRow, agreement: Agreement, counts: AnswerCounts) -> dict[str, Any]:
    """Return the facts of the member in `row`, who has this `agreement` with others and these `counts` of answers."""
    given = {"answers": counts.answers, "labels_answered": counts.labels, "cannot_decide": counts.refused}
    return {
        "name": row.name,
        "role": row.role,
        "disabled": row.disabled is not None,
        **agreement._asdict(),
        "agreement": agreement.share,
        "last_7_days": given,
    }


@router.post("/members", status_code=201)
async def post_member(worker: Entered, sender: Actor, body: MemberIn, access: AppAccess) -> dict[str, Any]:
    """Give a person who has an account a role in the project."""
    await access.change_people(lambda c: membership.admit(c, worker.project.id, body.person, body.role, sender))
    return {"name": body.person.lower(), "role": body.role}


@router.patch("/members/{person}")
async def patch_member(
    worker: Entered, sender: Actor, origin: Sent, person: str, body: MemberChangeIn, *, access: AppAccess
) -> dict[str, Any]:
    """Change the role of a member, or the weight of the member's answers; null: by agreement with others again."""
    if not body.model_fields_set:
        raise ProblemError(422, "invalid", "nothing is to be changed; send role, weight or both")
    if "role" in body.model_fields_set and body.role is None:
        raise ProblemError(422, "invalid", "role is null; send one, or delete the member")
    role, project = body.role, worker.project.id
    if role is not None:
        membership.check_role_name(role)
    row = await access.read(lambda c: membership.member_called(c, project, person))
    weight = await read(worker, lambda batch: weights_of(batch, [row.name])[row.name])
    if "weight" in body.model_fields_set:
        weight = await carry_out(
            worker, lambda batch: weigh_annotator(batch, row.person_id, row.name, body.weight, origin), origin
        )
    if role is not None:
        await access.change_people(lambda c: membership.change_role(c, project, person, role, sender))
    return {"name": row.name, "role": role or row.role, **weight}


@router.delete("/members/{person}", status_code=204)
async def delete_member(worker: Entered, sender: Actor, person: str, access: AppAccess) -> None:
    """End a membership: the person's tokens and invitations of this project end, and the person's sessions."""
    await access.change_people(lambda c: membership.remove_member(c, worker.project.id, person, sender))


@router.get("/tokens")
async def get_tokens(worker: Entered, access: AppAccess) -> dict[str, Any]:
    """Return the tokens of the project that were not revoked: whose, what for, their end and last use."""
    return readable_times({"tokens": await access.read(lambda c: list_tokens(c, worker.project.id))})


@router.post("/tokens", status_code=201)
async def post_token(worker: Entered, sender: Actor, body: TokenIn, access: AppAccess) -> dict[str, Any]:
    """Make a token for a person and a role in this project; it is shown once, and ends after 90 days or at `until`."""
    new = NewToken(body.person, body.role, body.name, end_of_token(body.until, sender.at), body.per_minute)
    token = await access.change_people(lambda c: membership.add_token(c, worker.project.id, new, sender))
    return readable_times({"token": token, "person": new.person.lower(), "role": new.role, "expires": new.expires})


@router.delete("/tokens/{token}", status_code=204)
async def delete_token(worker: Entered, sender: Actor, token: Number, access: AppAccess) -> None:
    """Revoke a token; it is refused at once."""
    await access.change_people(lambda c: membership.revoke_token(c, worker.project.id, token, sender))


@router.get("/invites")
async def get_invites(worker: Entered, access: AppAccess) -> dict[str, Any]:
    """Return the invitations to the project that can be used."""
    at = now_us()
    return readable_times({"invites": await access.read(lambda c: list_invites(c, worker.project.id, at))})


@router.post("/invites", status_code=201)
async def post_invite(
    worker: Entered, sender: Actor, body: InviteIn, access: AppAccess, request: Request
) -> dict[str, Any]:
    """Make a one-time link by which a new person chooses a password and gets a role; it is shown once."""
    code = await access.change_people(
        lambda c: membership.invite_member(c, worker.project.id, body.person, body.role, sender)
    )  # fmt: skip
    return readable_times(
        {"link": link_of(request, code), "person": body.person.lower(), "role": body.role, "until": sender.at + VALID}
    )


@router.delete("/invites/{invite}", status_code=204)
async def delete_invite(worker: Entered, sender: Actor, invite: str, access: AppAccess) -> None:
    """Cancel an invitation."""
    await access.change_people(lambda c: membership.cancel_invite(c, worker.project.id, invite, sender))


def link_of(request: Request, code: str) -> str:
    """Return the address of the one-time link with this `code`, on the server that `request` came to."""
    return f"{str(request.base_url).rstrip('/')}/invite/{code}"


users_router = APIRouter(prefix="/api/v1", tags=["people"])
_DEFAULT_PREFERENCES = {"theme": "system", "keys": True, "language": "en"}


@users_router.get("/users")
async def get_users(access: AppAccess) -> dict[str, Any]:
    """Return all people of the server."""
    shown = ("id", "name", "display", "admin", "created", "disabled")
    users = [
        {name: getattr(row, name) for name in shown} | {"has_password": row.password is not None}
        for row in await access.read(list_people)
    ]
    return readable_times({"users": users})


@users_router.post("/users", status_code=201)
async def post_user(sender: Actor, body: UserIn, access: AppAccess, request: Request) -> dict[str, Any]:
    """Make a one-time link with which a person chooses a password; a new person is added, a disabled one enabled."""
    code = await access.change_people(lambda c: membership.invite_user(c, body.name, sender, admin=body.admin))
    facts = {"name": body.name.lower(), "admin": body.admin, "link": link_of(request, code)}
    return readable_times({**facts, "until": sender.at + VALID})


@users_router.delete("/users/{person}", status_code=204)
async def delete_user(sender: Actor, person: str, access: AppAccess) -> None:
    """Disable a person: sessions and tokens end at once; the person's answers stay."""
    await access.change_people(lambda c: membership.disable_user(c, person, sender))


@users_router.get("/audit")
async def get_audit(access: AppAccess, after: After = 0, limit: Limit = 100) -> dict[str, Any]:
    """Return who did what, from the entry behind `after` on, oldest first; `next` is the `after` of the next page."""
    entries = await access.read(lambda c: read_audit(c, after, limit))
    return readable_times({"entries": entries, "next": entries[-1]["id"] if len(entries) == limit else None})


@users_router.get("/me/preferences")
async def get_preferences(identity: Entrant, access: AppAccess) -> dict[str, Any]:
    """Return the preferences of the person whose token it is."""
    return {**_DEFAULT_PREFERENCES, **await access.read(lambda c: preferences_of(c, identity.person_id))}


@users_router.put("/me/preferences")
async def put_preferences(identity: Entrant, body: PreferencesIn, access: AppAccess) -> dict[str, Any]:
    """Store the preferences of the person whose token it is: theme, single keys, language."""
    chosen = body.model_dump()
    await access.write(lambda c: set_preferences(c, identity.person_id, chosen))
    return chosen
