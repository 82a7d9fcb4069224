"""Pages of a new project: a file is sent, its columns, labels and budget are chosen, people are invited; it begins."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy import Connection
from starlette.datastructures import FormData, UploadFile
from starlette.requests import ClientDisconnect

from evolabel.errors import EvolabelError, ParameterError, StateError
from evolabel.server.http.access import access_of, sender_of
from evolabel.server.http.files import cut_off, keep_file, kept_file, make_project, status_of, too_large, upload_folder
from evolabel.server.http.people import link_of
from evolabel.server.pages import texts
from evolabel.server.pages.render import project_page, render_page
from evolabel.server.pages.visitors import Visitor, checked_form, visitors_of
from evolabel.server.people import membership
from evolabel.server.people.membership import PAGE_ROLES, active_account
from evolabel.server.people.policies import check_admin
from evolabel.server.project.own_project import Choices, as_slug, rows_a_day
from evolabel.server.project.settings import Label, ProjectSettings
from evolabel.streams.files.own_file import OWN_SUFFIXES, USES, ColumnError, OwnFile, Use

router = APIRouter(include_in_schema=False)
_REST_OF_FORM = 64 * 1024  # bytes
_DEFAULT_A_DAY = 1000  # samples, where the file has no times


class Invitation(NamedTuple):
    """A person to invite, with a role."""

    name: str
    role: str


@router.get("/new")
async def get_new(request: Request) -> Response:
    """Show the field for a file."""
    return _upload_page(request, await _administrator(request))


@router.post("/new")
async def post_new(request: Request) -> Response:
    """Keep the file in the form, and show its columns; one that cannot be used is refused with the place."""
    visitor, access = await _administrator(request), access_of(request)
    most, length = access.service.limits.file, request.headers.get("content-length", "")
    try:
        if not length.isascii() or not length.isdigit() or int(length[:20]) > most + _REST_OF_FORM:
            raise too_large(most)
        file = (await checked_form(request, visitor, keep_body=False)).get("file")
        if not isinstance(file, UploadFile) or not file.filename:
            raise ParameterError(texts.text("new.no_file"))
        async with upload_folder(file.filename) as path:
            with path.open("wb") as copy:
                while data := await file.read(2**20):
                    copy.write(data)
            key, _ = await keep_file(access, visitor.person.id, path)
    except ClientDisconnect:
        raise cut_off() from None
    except EvolabelError as error:
        if isinstance(error, PermissionError):
            raise
        return _upload_page(request, visitor, wrong=str(error))
    return RedirectResponse(f"/new/{key}", 303)


@router.get("/new/{key}")
async def get_new_file(request: Request, key: str) -> Response:
    """Show the columns of a file that was sent, and the form of the project."""
    visitor = await _administrator(request)
    async with kept_file(access_of(request), visitor.person.id, key) as own:
        return _choices_page(request, visitor, own, FormData())


@router.post("/new/{key}")
async def post_new_file(request: Request, key: str) -> Response:
    """Make the project and invite people; a form that cannot be used is shown again, and nothing is made."""
    visitor, access = await _administrator(request), access_of(request)
    form = await checked_form(request, visitor)
    async with kept_file(access, visitor.person.id, key) as own:
        try:
            choices, invited = _choices(form, own, request.app.state.project_defaults), _invitations(form)
            await access.read(lambda c: [active_account(c, person.name) for person in invited])
            await make_project(access, visitor.person.id, key, own, choices)
        except (EvolabelError, ValueError) as error:
            if not isinstance(error, ParameterError | StateError | ValueError):
                raise
            return _choices_page(request, visitor, own, form, wrong=error)
    worker = access.service.workers[choices.slug]
    sender = sender_of(request, visitor.person.id, admin=True)

    def invite(connection: Connection) -> list[str | None]:
        return [membership.welcome(connection, worker.project.id, name, role, sender) for name, role in invited]

    codes = zip(invited, await access.change_people(invite), strict=True)
    links = [{"whose": person.name, "link": link_of(request, code) if code else ""} for person, code in codes]
    return await project_page(
        request, "file.html", visitor=visitor, worker=worker, file=await status_of(access, worker), links=links,
        address=str(request.base_url).rstrip("/"),
    )  # fmt: skip


async def _administrator(request: Request) -> Visitor:
    visitor = await visitors_of(request).visitor(request)
    check_admin(visitor.identity(0))
    return visitor


def _upload_page(request: Request, visitor: Visitor, wrong: str = "") -> Response:
    """Return the page with the field for a file, and what is `wrong` with the one that was sent."""
    limit = access_of(request).service.limits.file // 2**20
    return render_page(
        request, "new.html", visitor=visitor, status=422 if wrong else 200, wrong=wrong, limit=limit,
        suffixes=OWN_SUFFIXES,
    )  # fmt: skip


def _choices_page(
    request: Request, visitor: Visitor, own: OwnFile, form: FormData, wrong: Exception | None = None
) -> Response:
    """Return the page of the columns of `own` with the texts of a `form` that was refused, and what is `wrong`."""
    defaults: ProjectSettings = request.app.state.project_defaults
    given = {name: str(value) for name, value in form.items()}
    column = wrong.column if isinstance(wrong, ColumnError) else None
    a_day = given.get("a_day") or str(rows_a_day(own) or _DEFAULT_A_DAY)
    uses = [given.get(f"use-{place}", found.use) for place, found in enumerate(own.columns)]
    title = own.table.name.replace("_", " ").replace("-", " ").strip().capitalize()
    values = {
        "title": given.get("title", title),
        "slug": given.get("slug", as_slug(own.table.name)),
        "labels": given.get("labels", "\n".join(_found_labels(own))),
        "one_of": given.get("one_of", ("class" in uses and "one") or "any"),
        "budget": given.get("budget", f"{100 * defaults.budget:g}"),
        "per": given.get("per", defaults.per),
        "a_day": a_day,
        "waits": "waits" in given or not given,
        "people": given.get("people", ""),
    }
    in_column = column is not None and column in own.table.names
    return render_page(
        request, "new_file.html", visitor=visitor, status=200 if wrong is None else 422, own=own, uses=uses, names=USES,
        values=values, wrong="" if wrong is None else str(wrong), wrong_column=column if in_column else "",
        day=_sentence(values, own), roles=PAGE_ROLES, n_rows=len(own.table.rows),
    )  # fmt: skip


def _found_labels(own: OwnFile) -> Iterable[str]:
    return (column.name for column in own.columns if column.use == "label")


def _sentence(values: dict[str, Any], own: OwnFile) -> str:
    """Return what the budget in `values` means for a day; empty while its numbers cannot be read."""
    try:
        share, a_day = float(values["budget"].replace(",", ".")) / 100, int(values["a_day"])
    except ValueError:
        return ""
    n_labels = max(1, len([line for line in values["labels"].splitlines() if line.strip()]))
    most = share * a_day * (n_labels if values["per"] == "labels" else 1)
    key = f"new.day_{values['per']}"
    return texts.text(key, samples=f"{a_day:,}", most=f"{most:,.0f}", labels=n_labels)


def _choices(form: FormData, own: OwnFile, defaults: ProjectSettings) -> Choices:
    """Return what the `form` decides on the file `own`; ParameterError for what cannot be read."""
    fields = {name: str(value).strip() for name, value in form.items()}
    uses: dict[str, Use] = {}
    for place, found in enumerate(own.columns):
        chosen = fields.get(f"use-{place}", found.use)
        uses[found.name] = next((use for use in USES if use == chosen), "skip")
    try:
        budget = float(fields.get("budget", "").replace(",", ".")) / 100
    except ValueError:
        raise ParameterError(texts.text("new.no_budget", value=fields.get("budget", "")[:20])) from None
    per = fields.get("per", defaults.per)
    settings = replace(defaults, budget=budget, per=per, one_of=fields.get("one_of") == "one", burst=defaults.burst)
    slug, title = fields.get("slug", ""), fields.get("title", "")[:200]
    return Choices(slug, title or slug, uses, list(_labels(fields.get("labels", ""))), settings, "waits" in fields)


def _labels(text: str) -> Iterable[Label]:
    """Yield the labels in `text`: one a line, a name and behind a colon its description."""
    for line in text.splitlines():
        name, _, described = line.partition(":")
        if name.strip():
            yield Label(name.strip(), help=described.strip()[:1000])


def _invitations(form: FormData) -> list[Invitation]:
    """Return the people in the `form`: one a line, a name and perhaps a role behind it."""
    found = list[Invitation]()
    for line in str(form.get("people", "")).splitlines():
        words = line.replace(",", " ").split()
        if words:
            role = words[-1].lower() if len(words) > 1 else "annotator"
            role = next((known for known in PAGE_ROLES if texts.text(f"role_name.{known}").lower() == role), role)
            if role not in PAGE_ROLES:
                raise ParameterError(texts.text("new.no_role", name=line[:50], roles=", ".join(PAGE_ROLES)))
            found.append(Invitation(" ".join(words[:-1] if len(words) > 1 else words).lower(), role))
    return found
