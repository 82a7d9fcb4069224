"""Who may do and see what: the one place that roles are compared in."""

from typing import NamedTuple

from evolabel.errors import EvolabelError
from evolabel.server.store.people import TokenRow

_LEVELS = {"annotator": 1, "expert": 2, "operator": 3}


class ForbiddenError(EvolabelError, PermissionError):
    """The role of the sender does not suffice."""


class HiddenError(EvolabelError, LookupError):
    """The project does not exist, or the sender may not see that it does."""


class Identity(NamedTuple):
    """A person who sends a request, and where the person may act."""

    person_id: int
    project_id: int | None
    role: str | None
    admin: bool

    @classmethod
    def of(cls, token: TokenRow) -> "Identity":
        """Return the identity that a `token` gives; a token for one project has no power outside of it."""
        return cls(token.person_id, token.project_id, token.role, token.admin and token.project_id is None)


def check_role(identity: Identity, project_id: int, allowed: tuple[str, ...]) -> None:
    """Raise an error unless `identity` has one of the roles `allowed` in project `project_id`, or a higher one.

    Annotator, expert and operator include each other in this order; producer and bridge include nothing.
    """
    if identity.admin:
        return
    if identity.project_id != project_id or identity.role is None:
        raise HiddenError("there is no such project; check its name and your token")
    least = min((_LEVELS[role] for role in allowed if role in _LEVELS), default=len(_LEVELS) + 1)
    if identity.role not in allowed and _LEVELS.get(identity.role, 0) < least:
        raise ForbiddenError(f"the role {identity.role} may not do this; it needs one of {', '.join(allowed)}")


def check_admin(identity: Identity) -> None:
    """Raise ForbiddenError unless `identity` administers the server."""
    if not identity.admin:
        raise ForbiddenError("only an administrator may do this; ask one for a token")
