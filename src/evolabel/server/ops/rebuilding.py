"""A rebuild by the command line, while no service runs."""

from sqlalchemy import URL
from threadpoolctl import threadpool_limits

from evolabel.errors import ParameterError
from evolabel.server.project.desk import Origin
from evolabel.server.project.rebuild import RebuildPlan, rebuild_cost, rebuild_model
from evolabel.server.project.service import Service


def rebuild_project(
    url: URL, slug: str, plan: tuple[str, tuple[str, ...], tuple[str, ...]], *, dry_run: bool = False
) -> str:
    """Make the model of project `slug` of the database at `url` anew, and return a sentence on what was done.

    `plan` is the cause, people and labels that do not count. `dry_run`: nothing is changed.
    """
    threadpool_limits(1)  # the same bits as in the service
    service = Service(url)
    try:
        service.start_one(slug)
        worker = service.workers.get(slug)
        if worker is None:
            raise ParameterError(f"there is no project {slug!r}; check its name")
        planned = RebuildPlan(*plan)
        cost = rebuild_cost(worker, planned)
        if dry_run:
            return (
                f"{cost['records']} records, about {cost['seconds']} s, {cost['corrections']} corrections would count"
            )
        done = rebuild_model(worker, planned, Origin())
    finally:
        service.stop()
    numbers = ", ".join(map(str, done["left_out"]))
    left_out = f"; acts that do not fit the new rules were left out: {numbers}" if numbers else ""
    return f"{cost['records']} records, seal before {done['seal_before']}, after {done['seal']}{left_out}"
