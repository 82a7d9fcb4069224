"""The page of settings: asking, answering, labels, each with its default; another model, and a rebuild from the log."""

import asyncio
from typing import Any, NamedTuple

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.datastructures import FormData, UploadFile

from evolabel import __version__
from evolabel.errors import DataError, EvolabelError, ParameterError
from evolabel.server.http.access import Actor, Entered, Sent, access_of, carry_out, read
from evolabel.server.http.problems import ProblemError
from evolabel.server.http.projects import begin_rebuild, replace_by_file
from evolabel.server.log.snapshots import list_snapshots
from evolabel.server.pages import texts
from evolabel.server.pages.render import project_page
from evolabel.server.pages.visitors import Entrant, Visitor, checked_form
from evolabel.server.project import operations
from evolabel.server.project.batch import RecordBatch
from evolabel.server.project.jobs import Operation
from evolabel.server.project.operations import ConflictError, UnknownError
from evolabel.server.project.rebuild import RebuildPlan, rebuild_cost
from evolabel.server.project.rule_list import count_rules
from evolabel.server.project.service import check_new_names
from evolabel.server.project.settings import SETTING_RANGES, Label, ProjectSettings
from evolabel.server.project.worker import Worker

router = APIRouter(prefix="/p/{slug}", include_in_schema=False)
_ERRORS = (ParameterError, DataError, ConflictError, UnknownError)
_PERCENT = ("budget", "overlap")
_GROUPS = {
    "asking": ("budget", "questions_per_hour", "max_open", "expire_after"),
    "answering": ("hold_seconds", "overlap", "min_answers", "lease_seconds"),
}
"""Fields with a number, by the form they are in; `blind` belongs to answering."""


class Field(NamedTuple):
    """A number that can be set: its name, its value and its default as texts, and what is `wrong` with the value."""

    name: str
    value: str
    default: str
    wrong: str = ""


class FieldError(ParameterError):
    """The text in the field called `name` cannot be used."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


@router.get("/settings")
async def get_settings(worker: Entered, visitor: Entrant, request: Request) -> Response:
    """Show the form by which an operator changes the project."""
    return await _page(request, worker, visitor)


@router.post("/settings")
async def post_settings(worker: Entered, visitor: Entrant, origin: Sent, request: Request) -> Response:
    """Change what the form holds; a form that cannot be used is shown again, and nothing is changed."""
    form = await checked_form(request, visitor)
    try:
        operation = _operation(form, await read(worker, lambda batch: batch.state.settings), origin)
        await carry_out(worker, operation, origin)
    except _ERRORS as error:
        return await _page(request, worker, visitor, wrong=error, form=form)
    return RedirectResponse(f"/p/{worker.project.slug}/settings", 303)


async def _page(
    request: Request, worker: Worker, visitor: Visitor, *, wrong: EvolabelError | None = None,
    form: FormData | None = None,
) -> Response:  # fmt: skip
    """Return the page; what is `wrong` with a refused `form` stands beside its fields, which keep their texts."""

    def find(batch: RecordBatch) -> dict[str, Any]:
        return {
            "settings": batch.state.settings,
            "labels": list(batch.state.labels),
            "sources": [feature for feature in batch.state.features if feature.choices],
            "paused": batch.state.paused,
        }

    found = await read(worker, find)
    found["model"] = await _model(request, worker) if visitor.person.admin else None
    given = {} if form is None else {name: str(value) for name, value in form.items()}
    found["blind"] = "blind" in given if given.get("act") == "answering" else found["settings"].blind
    groups = {name: _fields(found["settings"], names, given, wrong) for name, names in _GROUPS.items()}
    shown = {
        "groups": groups,
        "wrong": "" if wrong is None or isinstance(wrong, FieldError) else str(wrong),
        "new_label": given if given.get("act") == "label" else {},
    }
    status = 200 if wrong is None else 422
    return await project_page(request, "settings.html", visitor=visitor, worker=worker, status=status, **shown, **found)


async def _model(request: Request, worker: Worker) -> dict[str, Any]:
    """Return what an administrator reads of the model of `worker`: version, number of rules, the last snapshot."""
    snapshots = await access_of(request).read(lambda c: list_snapshots(c, worker.project.id))
    rules = await read(worker, lambda batch: count_rules(batch.state))
    return {"version": __version__, "rules": rules, "snapshot": next(iter(snapshots), None)}


def _fields(
    settings: ProjectSettings, names: tuple[str, ...], given: dict[str, str], wrong: EvolabelError | None
) -> list[Field]:
    """Return the fields called `names` with their texts as `given`, else their values in `settings`."""
    default, name_of_wrong = ProjectSettings(), wrong.name if isinstance(wrong, FieldError) else None
    return [
        Field(
            name, given.get(name, _shown(name, settings)), _shown(name, default),
            str(wrong) if name == name_of_wrong else "",
        )
        for name in names
    ]  # fmt: skip


def _shown(name: str, settings: ProjectSettings) -> str:
    value = getattr(settings, name)
    return f"{100.0 * value:g}" if name in _PERCENT else f"{value:g}" if isinstance(value, float) else str(value)


def _operation(form: FormData, settings: ProjectSettings, origin: Any) -> Operation:
    """Return what the `form` asks for, with `origin`; ParameterError if it cannot be read."""
    act = str(form.get("act", ""))
    if act in _GROUPS:
        changed = _changed(form, settings, act)
        return lambda batch: operations.change_settings(batch, changed, origin)
    if act == "retire":
        name = str(form.get("label", ""))
        return lambda batch: operations.retire_label(batch, name, origin)
    if act == "label":
        label = Label(str(form.get("label", "")).strip(), help=str(form.get("help", "")).strip()[:1000])
        check_new_names("label", [label.name], 1)
        return lambda batch: operations.add_label(batch, label, origin)
    raise ParameterError("the form has no known act; load the page and send it again")


def _changed(form: FormData, settings: ProjectSettings, group: str) -> dict[str, Any]:
    """Return the settings of this `group` whose text in the `form` is another than that of `settings`."""
    given = {name: str(form[name]).strip() for name in _GROUPS[group] if name in form}
    source = str(form.get("source", settings.source))
    changed: dict[str, Any] = {
        name: _number(name, text) for name, text in given.items() if text != _shown(name, settings)
    }
    if group == "asking" and source != settings.source:
        changed["source"] = source
    if group == "answering" and ("blind" in form) != settings.blind:
        changed["blind"] = "blind" in form
    return changed


def _number(name: str, text: str) -> float | int:
    """Return the number that `text` is for the setting called `name`; FieldError in the words of the page."""
    title, (low, high) = texts.text(f"settings.{name}"), SETTING_RANGES[name]
    is_whole, unit = name not in (*_PERCENT, "hold_seconds"), 100 if name in _PERCENT else 1
    try:
        number = int(text) if is_whole else float(text.replace(",", "."))
    except ValueError:
        kind = texts.text("settings.whole_number" if is_whole else "settings.number")
        raise FieldError(name, texts.text("settings.no_number", field=title, value=text[:20], kind=kind)) from None
    if not low * unit <= number <= high * unit or (name == "budget" and not number):
        key = "settings.no_share" if name == "budget" else "settings.out_of_range"
        raise FieldError(name, texts.text(key, field=title, value=text[:20], low=low * unit, high=high * unit))
    return number / unit if name in _PERCENT else number


model_router = APIRouter(prefix="/p/{slug}", include_in_schema=False)
_REST_OF_FORM = 64 * 1024  # bytes


@model_router.post("/model")
async def post_model_form(worker: Entered, visitor: Entrant, sender: Actor, request: Request) -> Response:
    """Replace the classifier by that of the file in the form."""
    access = access_of(request)
    most, length = access.service.limits.model, request.headers.get("content-length", "")
    if not length.isascii() or not length.isdigit() or int(length[:20]) > most + _REST_OF_FORM:
        raise ProblemError(413, "too-large", f"a model file may have {most} bytes; send a smaller model")
    form = await checked_form(request, visitor, keep_body=False)
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise ProblemError(422, "invalid", "the form has no file; choose a model file")
    await replace_by_file(access, worker, sender, await file.read())
    return RedirectResponse(f"/p/{worker.project.slug}/settings", 303)


@model_router.post("/rebuild")
async def post_rebuild_form(worker: Entered, visitor: Entrant, sender: Actor, request: Request) -> Response:
    """Make the model anew from the whole log; the page of events shows when it is done."""
    form = await checked_form(request, visitor)
    cause = str(form.get("cause", "")).strip()[:2000]
    if not cause:
        raise ProblemError(422, "invalid", "the cause is missing; write why the model is made anew")
    people, labels = (_parts(str(form.get(name, ""))[:20_000]) for name in ("people", "labels"))
    plan = RebuildPlan(cause, people, labels)
    await asyncio.to_thread(rebuild_cost, worker, plan)  # refuses names that are not known
    begin_rebuild(access_of(request), worker, sender, plan)
    return RedirectResponse(f"/p/{worker.project.slug}/events?kind=server", 303)


def _parts(text: str) -> tuple[str, ...]:
    """Return the names in `text`, which are apart by commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
