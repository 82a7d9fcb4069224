"""The page of settings: asking, answering, labels; each field with its default and what it does."""

from typing import Any, NamedTuple

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.datastructures import FormData

from evolabel.errors import DataError, ParameterError
from evolabel.server.api.access import carry_out, origin_of, read
from evolabel.server.contexts import verbs
from evolabel.server.contexts.desk import Desk
from evolabel.server.contexts.jobs import Verb
from evolabel.server.contexts.reading import waiting_for
from evolabel.server.contexts.settings import Label, ProjectSettings
from evolabel.server.contexts.verbs import ConflictError, UnknownError
from evolabel.server.contexts.worker import Worker
from evolabel.server.service import check_new_names
from evolabel.server.web.render import render_page
from evolabel.server.web.visitors import Visitor, checked_form, visitors_of

router = APIRouter(prefix="/p/{slug}", include_in_schema=False)
_ERRORS = (ParameterError, DataError, ConflictError, UnknownError)
_PERCENT = ("budget", "overlap")
_GROUPS = {
    "asking": ("budget", "questions_per_hour", "max_open", "expire_after"),
    "answering": ("hold_seconds", "overlap", "min_answers", "lease_seconds"),
}
"""Fields with a number, by the form they are in; `blind` belongs to answering."""


class Field(NamedTuple):
    """A number that can be set: its name, its value and its default as texts."""

    name: str
    value: str
    default: str


@router.get("/settings")
async def get_settings(slug: str, request: Request) -> Response:
    """Show the settings."""
    worker, visitor = await visitors_of(request).enter(request, slug)
    return await _page(request, worker, visitor)


@router.post("/settings")
async def post_settings(slug: str, request: Request) -> Response:
    """Change what the form holds; a form that cannot be used is shown again, and nothing is changed."""
    worker, visitor = await visitors_of(request).enter(request, slug)
    form = await checked_form(request, visitor)
    origin = await origin_of(request, visitor.identity(worker.project.id))
    try:
        verb = _verb(form, await read(worker, lambda desk: desk.state.settings), origin)
        await carry_out(worker, verb, 1, origin)
    except _ERRORS as error:
        return await _page(request, worker, visitor, wrong=str(error))
    return RedirectResponse(f"/p/{slug}/settings", 303)


async def _page(request: Request, worker: Worker, visitor: Visitor, *, wrong: str | None = None) -> Response:
    def find(desk: Desk) -> dict[str, Any]:
        return {
            "settings": desk.state.settings,
            "labels": list(desk.state.labels),
            "paused": desk.state.paused,
            "waiting": waiting_for(desk, visitor.person.id),
        }

    found = await read(worker, find)
    groups = {name: _fields(found["settings"], names) for name, names in _GROUPS.items()}
    status = 200 if wrong is None else 422
    return render_page(
        request, "settings.html", visitor=visitor, worker=worker, status=status, wrong=wrong, groups=groups, **found
    )


def _fields(settings: ProjectSettings, names: tuple[str, ...]) -> list[Field]:
    """Return the fields called `names` with their values in `settings`."""
    default = ProjectSettings()
    return [Field(name, _shown(name, settings), _shown(name, default)) for name in names]


def _shown(name: str, settings: ProjectSettings) -> str:
    value = getattr(settings, name)
    return f"{100.0 * value:g}" if name in _PERCENT else f"{value:g}" if isinstance(value, float) else str(value)


def _verb(form: FormData, settings: ProjectSettings, origin: Any) -> Verb:
    """Return what the `form` asks for, with `origin`; ParameterError if it cannot be read."""
    act = str(form.get("act", ""))
    if act in _GROUPS:
        changed = _changed(form, settings, act)
        return lambda desk: verbs.change_settings(desk, changed, origin)
    if act == "retire":
        name = str(form.get("label", ""))
        return lambda desk: verbs.retire_label(desk, name, origin)
    if act == "label":
        label = Label(str(form.get("label", "")).strip(), help=str(form.get("help", "")).strip()[:1000])
        check_new_names("label", [label.name], 1)
        return lambda desk: verbs.add_label(desk, label, origin)
    raise ParameterError("the form has no known act; load the page and send it again")


def _changed(form: FormData, settings: ProjectSettings, group: str) -> dict[str, Any]:
    """Return the settings of this `group` whose text in the `form` is another than that of `settings`."""
    given = {name: str(form[name]).strip() for name in _GROUPS[group] if name in form}
    changed: dict[str, Any] = {
        name: _number(name, text) for name, text in given.items() if text != _shown(name, settings)
    }
    if group == "answering" and ("blind" in form) != settings.blind:
        changed["blind"] = "blind" in form
    return changed


def _number(name: str, text: str) -> float | int:
    """Return the number that `text` is for the setting called `name`."""
    try:
        if name in _PERCENT:
            return float(text.replace(",", ".")) / 100.0
        return float(text.replace(",", ".")) if name == "hold_seconds" else int(text)
    except ValueError:
        raise ParameterError(f"{name} is {text[:20]!r}; it must be a number") from None
