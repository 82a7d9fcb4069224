"""Routes of administrators for people and the audit table, and of everyone for preferences."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from evolabel.server.http.access import access_of, sender_of
from evolabel.server.http.members import link_of
from evolabel.server.http.schemas import MOST_NUMBER, PreferencesIn, UserIn
from evolabel.server.log.times import readable_times
from evolabel.server.people import membership
from evolabel.server.people.audit import read_audit
from evolabel.server.people.invites import VALID
from evolabel.server.people.members import list_accounts
from evolabel.server.people.visits import preferences_of, set_preferences

router = APIRouter(prefix="/api/v1", tags=["people"])
_DEFAULT_PREFERENCES = {"theme": "system", "keys": True, "language": "en"}


@router.get("/users")
async def get_users(request: Request) -> dict[str, Any]:
    """Return all people of the server."""
    access = access_of(request)
    access.admin(request)

    def find() -> list[dict[str, Any]]:
        with access.service.reader.connect() as connection:
            return [row._asdict() for row in list_accounts(connection)]

    return readable_times({"users": await asyncio.to_thread(find)})


@router.post("/users", status_code=201)
async def post_user(body: UserIn, request: Request) -> dict[str, Any]:
    """Make a one-time link with which a person chooses a password; a new person is added, a disabled one enabled."""
    access = access_of(request)
    sender = sender_of(request, access.admin(request))
    code = await access.write(lambda c: membership.invite_user(c, body.name, sender, admin=body.admin))
    facts = {"name": body.name.lower(), "admin": body.admin, "link": link_of(request, code)}
    return readable_times({**facts, "until": sender.at + VALID})


@router.delete("/users/{person}", status_code=204)
async def delete_user(person: str, request: Request) -> None:
    """Disable a person: sessions and tokens end at once; the person's answers stay."""
    access = access_of(request)
    sender = sender_of(request, access.admin(request))
    await access.write(lambda c: membership.disable_user(c, person, sender))


@router.get("/audit")
async def get_audit(
    request: Request,
    after: Annotated[int, Query(ge=0, le=MOST_NUMBER)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> dict[str, Any]:
    """Return who did what, from the entry behind `after` on, oldest first; `next` is the `after` of the next page."""
    access = access_of(request)
    access.admin(request)

    def find() -> list[dict[str, Any]]:
        with access.service.reader.connect() as connection:
            return read_audit(connection, after, limit)

    entries = await asyncio.to_thread(find)
    return readable_times({"entries": entries, "next": entries[-1]["id"] if len(entries) == limit else None})


@router.get("/me/preferences")
async def get_preferences(request: Request) -> dict[str, Any]:
    """Return the preferences of the person whose token it is."""
    access = access_of(request)
    identity = access.identity(request)

    def find() -> dict[str, Any]:
        with access.service.reader.connect() as connection:
            return preferences_of(connection, identity.person_id)

    return {**_DEFAULT_PREFERENCES, **await asyncio.to_thread(find)}


@router.put("/me/preferences")
async def put_preferences(body: PreferencesIn, request: Request) -> dict[str, Any]:
    """Store the preferences of the person whose token it is: theme, single keys, language."""
    access = access_of(request)
    identity, chosen = access.identity(request), body.model_dump()
    await access.write(lambda c: set_preferences(c, identity.person_id, chosen))
    return chosen
