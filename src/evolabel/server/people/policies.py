"""Who may do and see what: the policy of each route, and the one place that roles are compared in."""

from typing import NamedTuple

from evolabel.errors import EvolabelError
from evolabel.server.people.people import TokenRow

OPEN = ("open",)
"""Policy of routes for everyone."""
SIGNED_IN = ("signed in",)
"""Policy of routes for everyone with a token or a session."""
ADMIN = ("admin",)
"""Policy of routes for administrators."""

_PROJECT, _QUESTION = "/api/v1/projects/{slug}", "/api/v1/projects/{slug}/questions/{number}"
_PAGE, _ASKED = "/p/{slug}", "/p/{slug}/questions/{number}"
_SENDERS = ("producer", "bridge", "operator")
_ANSWERERS = ("annotator", "bridge")
_PEOPLE = ("annotator",)
_EXPERTS = ("expert",)
_RULE = "/api/v1/projects/{slug}/rules/{rule}"
_OPERATORS = ("operator",)

ROUTE_POLICIES: dict[str, tuple[str, ...]] = {
    "GET /livez": OPEN,
    "GET /readyz": OPEN,
    "GET /metrics": OPEN,
    "GET /openapi.json": OPEN,
    "GET /api/v1/projects": SIGNED_IN,
    "POST /api/v1/projects": ADMIN,
    f"GET {_PROJECT}": ("annotator", "producer", "bridge"),
    f"PATCH {_PROJECT}": ("operator",),
    f"POST {_PROJECT}/labels": ("operator",),
    f"DELETE {_PROJECT}/labels/{{name}}": ("operator",),
    f"POST {_PROJECT}/pause": ("operator",),
    f"POST {_PROJECT}/resume": ("operator",),
    f"GET {_PROJECT}/export/{{name}}": _OPERATORS,
    f"POST {_PROJECT}/history": _OPERATORS,
    f"POST {_PROJECT}/fit": _OPERATORS,
    f"PUT {_PROJECT}/model": ADMIN,
    f"GET {_PROJECT}/snapshots": _OPERATORS,
    f"POST {_PROJECT}/snapshots": _OPERATORS,
    f"POST {_PROJECT}/rebuild": ADMIN,
    f"GET {_PROJECT}/members": _OPERATORS,
    f"POST {_PROJECT}/members": _OPERATORS,
    f"PATCH {_PROJECT}/members/{{person}}": _OPERATORS,
    f"DELETE {_PROJECT}/members/{{person}}": _OPERATORS,
    f"GET {_PROJECT}/tokens": _OPERATORS,
    f"POST {_PROJECT}/tokens": _OPERATORS,
    f"DELETE {_PROJECT}/tokens/{{token}}": _OPERATORS,
    f"GET {_PROJECT}/invites": _OPERATORS,
    f"POST {_PROJECT}/invites": _OPERATORS,
    f"DELETE {_PROJECT}/invites/{{invite}}": _OPERATORS,
    "POST /api/v1/files": ADMIN,
    "POST /api/v1/files/{file}/project": ADMIN,
    f"GET {_PROJECT}/webhooks": _OPERATORS,
    f"POST {_PROJECT}/webhooks": _OPERATORS,
    f"DELETE {_PROJECT}/webhooks/{{webhook}}": _OPERATORS,
    f"GET {_PROJECT}/webhooks/{{webhook}}/tries": _OPERATORS,
    f"GET {_PROJECT}/file": ("annotator", "producer", "bridge"),
    f"POST {_PROJECT}/file/stop": _OPERATORS,
    f"POST {_PROJECT}/file/continue": _OPERATORS,
    "GET /api/v1/users": ADMIN,
    "POST /api/v1/users": ADMIN,
    "DELETE /api/v1/users/{person}": ADMIN,
    "GET /api/v1/audit": ADMIN,
    "GET /api/v1/me/preferences": SIGNED_IN,
    "PUT /api/v1/me/preferences": SIGNED_IN,
    f"POST {_PROJECT}/samples": _SENDERS,
    f"POST {_PROJECT}/predictions": _SENDERS,
    f"PUT {_PROJECT}/samples/{{sample}}/labels": _SENDERS,
    f"PUT {_PROJECT}/samples/{{sample}}/correction": _SENDERS,
    f"GET {_PROJECT}/samples": _PEOPLE,
    f"GET {_PROJECT}/samples/{{sample}}": ("annotator", "producer", "bridge"),
    f"GET {_PROJECT}/stats": _PEOPLE,
    f"GET {_PROJECT}/stats/labels": _PEOPLE,
    f"GET {_PROJECT}/activity": _PEOPLE,
    f"GET {_PROJECT}/events": _PEOPLE,
    f"GET {_PROJECT}/log": ("operator",),
    f"GET {_PROJECT}/samples/{{sample}}/explanation": _PEOPLE,
    f"GET {_PROJECT}/answers": _PEOPLE,
    f"GET {_PROJECT}/questions": _PEOPLE,
    f"POST {_PROJECT}/questions/next": _PEOPLE,
    f"PUT {_QUESTION}/lease": _PEOPLE,
    f"DELETE {_QUESTION}/lease": _PEOPLE,
    f"PUT {_QUESTION}/draft": _PEOPLE,
    f"PUT {_QUESTION}/answer": _ANSWERERS,
    f"DELETE {_QUESTION}/answer": _ANSWERERS,
    f"PUT {_QUESTION}/refusal": _ANSWERERS,
    f"GET {_PROJECT}/disputes": _EXPERTS,
    f"PUT {_QUESTION}/decision": _EXPERTS,
    f"GET {_PAGE}/disputes": _EXPERTS,
    f"POST {_ASKED}/decision": _EXPERTS,
    f"POST {_ASKED}/correction": _PEOPLE,
    f"GET {_PROJECT}/rules": _EXPERTS,
    f"POST {_PROJECT}/rules": _EXPERTS,
    f"POST {_PROJECT}/rules/merge": _EXPERTS,
    f"GET {_RULE}": _EXPERTS,
    f"PUT {_RULE}": _EXPERTS,
    f"GET {_RULE}/life": _EXPERTS,
    f"POST {_RULE}/lock": _EXPERTS,
    f"POST {_RULE}/unlock": _EXPERTS,
    f"POST {_RULE}/rename": _EXPERTS,
    f"POST {_RULE}/delete": _EXPERTS,
    f"POST {_PROJECT}/acts/{{seq}}/undo": _EXPERTS,
    f"GET {_QUESTION}/effect": _PEOPLE,
    "GET /": SIGNED_IN,
    "GET /new": ADMIN,
    "POST /new": ADMIN,
    "GET /new/{key}": ADMIN,
    "POST /new/{key}": ADMIN,
    f"GET {_PAGE}/file": _OPERATORS,
    f"GET {_PAGE}/export": _OPERATORS,
    f"GET {_PAGE}/export/{{name}}": _OPERATORS,
    f"POST {_PAGE}/export": _OPERATORS,
    f"POST {_PAGE}/file": _OPERATORS,
    "GET /sign-in": OPEN,
    "POST /sign-in": OPEN,
    "POST /sign-out": SIGNED_IN,
    "GET /invite/{code}": OPEN,
    "POST /invite/{code}": OPEN,
    "GET /me": SIGNED_IN,
    "POST /me": SIGNED_IN,
    "POST /me/sessions": SIGNED_IN,
    f"GET {_PAGE}": _PEOPLE,
    f"POST {_PAGE}/pause": ("operator",),
    f"POST {_PAGE}/resume": ("operator",),
    f"GET {_PAGE}/rules": _EXPERTS,
    f"GET {_PAGE}/rules/edit": _EXPERTS,
    f"POST {_PAGE}/rules/edit": _EXPERTS,
    f"POST {_PAGE}/rules/{{number}}/{{act}}": _EXPERTS,
    f"POST {_PAGE}/acts/{{number}}/undo": _EXPERTS,
    f"GET {_PAGE}/people": _OPERATORS,
    f"POST {_PAGE}/people": _OPERATORS,
    f"GET {_PAGE}/settings": _OPERATORS,
    f"POST {_PAGE}/settings": _OPERATORS,
    f"POST {_PAGE}/model": ADMIN,
    f"POST {_PAGE}/rebuild": ADMIN,
    f"GET {_PAGE}/events": _PEOPLE,
    f"GET {_PAGE}/live": _PEOPLE,
    f"GET {_PAGE}/answer": _PEOPLE,
    f"GET {_PAGE}/answer/last": _PEOPLE,
    f"GET {_PAGE}/answers": _PEOPLE,
    f"GET {_PAGE}/samples/{{number}}": _PEOPLE,
    f"POST {_ASKED}/answer": _PEOPLE,
    f"POST {_ASKED}/undo": _PEOPLE,
    f"POST {_ASKED}/lease": _PEOPLE,
    f"POST {_ASKED}/draft": _PEOPLE,
}
"""Roles that may use each route, by method and path. A route that is not here is refused."""

_LEVELS = {"annotator": 1, "expert": 2, "operator": 3}


class ForbiddenError(EvolabelError, PermissionError):
    """The role of the sender does not suffice."""


class HiddenError(EvolabelError, LookupError):
    """The project does not exist, or the sender may not see that it does."""


class UnauthorisedError(EvolabelError, PermissionError):
    """The sender has no valid session."""


class SlowDownError(EvolabelError, RuntimeError):
    """Too many requests; `seconds` is the time to wait."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


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
    if not is_member(identity, project_id):
        raise HiddenError("there is no such project; check its name and your token")
    if identity.admin or identity.role is None:
        return
    least = min((_LEVELS[role] for role in allowed if role in _LEVELS), default=len(_LEVELS) + 1)
    if identity.role not in allowed and _LEVELS.get(identity.role, 0) < least:
        raise ForbiddenError(f"the role {identity.role} may not do this; it needs the role {' or '.join(allowed)}")


def is_member(identity: Identity, project_id: int) -> bool:
    """Return whether `identity` has a role in project `project_id`; administrators have one everywhere."""
    return identity.admin or (identity.project_id == project_id and identity.role is not None)


def sees_all(identity: Identity) -> bool:
    """Return whether `identity` sees predictions and answers of others at any time: all but annotators do."""
    return identity.admin or identity.role not in (None, "annotator")


def included_roles(role: str) -> tuple[str, ...]:
    """Return the roles whose power a `role` includes, itself among them."""
    level = _LEVELS.get(role, 0)
    return (role, *(name for name, other in _LEVELS.items() if other < level))


def policy_of(method: str, path: str) -> tuple[str, ...]:
    """Return the roles that may use the route with this `method` and `path`; ForbiddenError if none are named."""
    policy = ROUTE_POLICIES.get(f"{'GET' if method == 'HEAD' else method} {path}")
    if policy is None:
        raise ForbiddenError(f"{method} {path} has no policy; add it to ROUTE_POLICIES")
    return policy


def check_admin(identity: Identity) -> None:
    """Raise ForbiddenError unless `identity` administers the server."""
    if not identity.admin:
        raise ForbiddenError("only an administrator may do this; ask one for a token")
