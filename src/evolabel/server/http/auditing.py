"""Acts that are in the log of a project, in the audit table as well: there with the address and the request."""

import asyncio
import functools
import time

from starlette.requests import Request

from evolabel.server.people.audit import write_audit_or_log
from evolabel.server.project.service import Service

_API, _PAGE = "/api/v1/projects/{slug}", "/p/{slug}"
AUDITED_ROUTES = {
    f"PATCH {_API}": "settings-changed",
    f"POST {_API}/pause": "paused",
    f"POST {_API}/resume": "resumed",
    f"POST {_API}/labels": "label-added",
    f"DELETE {_API}/labels/{{name}}": "label-retired",
    f"POST {_API}/rules": "rule-added",
    f"PUT {_API}/rules/{{rule}}": "rule-edited",
    f"POST {_API}/rules/merge": "rules-merged",
    **{f"POST {_API}/rules/{{rule}}/{act}": f"rule-{act}" for act in ("lock", "unlock", "rename", "delete")},
    f"POST {_API}/acts/{{seq}}/undo": "act-undone",
    f"POST {_PAGE}/settings": "settings-changed",
    f"POST {_PAGE}/pause": "paused",
    f"POST {_PAGE}/resume": "resumed",
    f"POST {_PAGE}/rules/edit": "rule-edited",
    f"POST {_PAGE}/rules/{{number}}/{{act}}": "rule-act",
    f"POST {_PAGE}/acts/{{number}}/undo": "act-undone",
}
"""What a request that was carried out is called in the audit table, by method and route."""


async def audit_request(service: Service, request: Request, route: str, status: int) -> None:
    """Write to the audit table of `service`, what `request` to this `route` did, unless `status` is an error.

    A trial without effect (`dry_run`, a preview with 200) is left out, and what was only begun (202).
    """
    action = AUDITED_ROUTES.get(f"{request.method} {route}")
    is_page, is_trial = route.startswith(_PAGE), "dry_run" in request.query_params
    if action is None or is_trial or status >= 400 or status == 202 or (is_page and status == 200):
        return
    actor = _actor(request)
    subject = "/".join(str(value) for value in request.path_params.values())
    write = functools.partial(write_audit_or_log, service.pen, time.time_ns() // 1000, action, subject)
    address = request.client.host if request.client else None
    await asyncio.to_thread(write, actor_id=actor, address=address, request_id=request.state.request_id)


def _actor(request: Request) -> int | None:
    """Return the person who has sent `request`, by token or session."""
    identity, visitor = (getattr(request.state, name, None) for name in ("identity", "visitor"))
    if identity is not None:
        return int(identity.person_id)
    return None if visitor is None else int(visitor.person.id)
