"""The application: its routes and what it is made of."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from fastapi import Depends, FastAPI

from evolabel import __version__
from evolabel.server.http import (
    activity,
    disputes,
    exports,
    files,
    health,
    people,
    problems,
    projects,
    questions,
    rules,
    samples,
    webhooks,
)
from evolabel.server.http.access import Access, check_policy
from evolabel.server.http.guard import Guard, audit_request
from evolabel.server.http.streams import Streams
from evolabel.server.ops.config import networks
from evolabel.server.ops.messages import keep_notifying, notify
from evolabel.server.pages import routes
from evolabel.server.pages.events import describe
from evolabel.server.pages.visitors import check_page
from evolabel.server.project.service import Service
from evolabel.server.project.settings import ProjectSettings

TOKEN_PER_MINUTE = 600
ROUTERS = (
    samples.router,
    samples.reading_router,
    questions.router,
    disputes.router,
    rules.router,
    questions.answers_router,
    activity.router,
    projects.router,
    exports.router,
    projects.model_router,
    projects.snapshots_router,
    files.files_router,
    files.router,
    webhooks.router,
    people.router,
    people.users_router,
    health.router,
    *routes.PAGE_ROUTERS,
)
"""All routes; each has its policy in `people.policies`."""


def create_app(
    service: Service, *, token_per_minute: int = TOKEN_PER_MINUTE, body_mb: int = 8,
    metrics_for: str = "127.0.0.1, ::1", project_defaults: ProjectSettings | None = None,
) -> FastAPI:  # fmt: skip
    """Return the application over `service`; a token may send `token_per_minute` requests of at most `body_mb` MiB.

    Addresses in `metrics_for` may read /metrics. New projects have the settings `project_defaults`, or those they name.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        signs = asyncio.create_task(keep_notifying())
        yield
        notify("STOPPING=1")
        signs.cancel()
        service.stop()

    app = FastAPI(
        title="evolabel",
        version=__version__,
        description="Samples in, predictions and few good questions out; answers train the model.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        dependencies=[Depends(check_policy), Depends(check_page)],
        responses=problems.DOCUMENTED,
    )
    app.state.access = Access(service, token_per_minute)
    app.state.streams = Streams(service, lambda item: describe(item).title)
    app.state.project_defaults = project_defaults or ProjectSettings()
    app.state.metrics_for = networks(metrics_for)
    problems.install(app)
    routes.install_pages(app, service)
    for router in ROUTERS:
        app.include_router(router)
    app.add_middleware(
        Guard, metrics=service.metrics, most_body=body_mb * 1024 * 1024, audit=partial(audit_request, service)
    )
    return app
