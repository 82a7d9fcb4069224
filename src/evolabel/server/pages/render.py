"""Templates: Jinja2 with autoescape; what every page needs is added here."""

import datetime
import functools
import hashlib
from importlib import resources
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from evolabel.server.http.access import read
from evolabel.server.log.times import DAY, HOUR, MINUTE, SECOND, local_time
from evolabel.server.pages import texts
from evolabel.server.pages.visitors import Visitor
from evolabel.server.project.follower import Follower
from evolabel.server.project.reading import waiting_for
from evolabel.server.project.worker import Worker


@functools.cache
def environment() -> Environment:
    """Return the templates of the package."""
    made = Environment(
        loader=PackageLoader("evolabel.server.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(t=texts.text, n_t=texts.counted, reason=texts.reason)
    made.globals.update(static=static_url, language=texts.language)
    made.filters.update(
        ago=ago,
        clock=clock,
        day=day,
        hour_minute=hour_minute,
        stamp=stamp,
        number=plain_number,
        reason_text=texts.reason,
    )
    return made


def render(template: str, **facts: Any) -> str:
    """Return the `template` with these `facts`."""
    return environment().get_template(template).render(**facts)


def render_page(
    request: Request, template: str, *, visitor: Visitor | None = None, worker: Worker | None = None,
    status: int = 200, **facts: Any,
) -> HTMLResponse:  # fmt: skip
    """Return the page of `template` with these `facts` and a `status`, for `visitor` in the project of `worker`."""
    shown = {
        "visitor": visitor,
        "project": None if worker is None else worker.project,
        "path": request.url.path,
        "is_copy": isinstance(worker, Follower),
        "waiting": 0,
        **facts,
    }
    return HTMLResponse(render(template, **shown), status)


async def project_page(
    request: Request, template: str, *, visitor: Visitor, worker: Worker, status: int = 200, **facts: Any
) -> HTMLResponse:
    """Return the page of `template` as `render_page` does, with the number of questions that wait for `visitor`."""
    waiting = await read(worker, lambda batch: waiting_for(batch, visitor.person.id))
    return render_page(request, template, visitor=visitor, worker=worker, status=status, waiting=waiting, **facts)


@functools.cache
def static_url(name: str) -> str:
    """Return the address of the static file `name`, which changes with its content."""
    data = resources.files("evolabel.server.pages").joinpath("static", name).read_bytes()
    return f"/static/{name}?v={hashlib.sha256(data).hexdigest()[:12]}"


def ago(span: int) -> str:
    """Return a `span` of microseconds in its largest whole unit, such as 8 s."""
    for unit, length in (("d", 2 * DAY), ("h", 2 * HOUR), ("min", 2 * MINUTE)):
        if span >= length:
            return texts.text(f"time.{unit}", n=span // (length // 2))
    return texts.text("time.s", n=max(span, 0) // SECOND)


def clock(at: int) -> str:
    """Return the time of day `at`, in the time zone of the server; with the date unless it is of the last 20 hours."""
    moment = local_time(at)
    recent = abs(datetime.datetime.now().astimezone() - moment) < datetime.timedelta(hours=20)
    return f"{moment:%H:%M:%S}" if recent else f"{texts.date_text(moment, year=False)} {moment:%H:%M}"


def hour_minute(at: int) -> str:
    """Return hour and minute of the time `at`, in the time zone of the server."""
    return local_time(at).strftime("%H:%M")


def stamp(at: int) -> str:
    """Return the time `at` as HTML holds it."""
    return local_time(at).isoformat(timespec="seconds")


def day(at: int) -> str:
    """Return the day of time `at`, such as 12 Feb 2027."""
    return texts.date_text(local_time(at), year=True)


def plain_number(value: float, decimals: int = 0) -> str:
    """Return `value` with this many `decimals`, thousands apart by a narrow blank, with a true minus sign."""
    return texts.decimal_text(f"{value:,.{decimals}f}".replace(",", "\u202f"))
