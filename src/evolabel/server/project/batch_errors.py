"""What requests are answered whose batch, or whose job, has failed by an error."""

from sqlalchemy.exc import StatementError

from evolabel.server.log.pen import NotWriterError, StoreError, store_problem
from evolabel.server.project.jobs import BusyError, CannotApplyError


def cannot_apply() -> CannotApplyError:
    """Return the answer to a request on which the learner has failed too often."""
    return CannotApplyError("the learner cannot learn from this request; do not send it again")


def may_be_of_one_job(error: Exception) -> bool:
    """Return whether `error` may come from what one job brought, so that the others can succeed without it."""
    return isinstance(error.__cause__ or error, StatementError) and not is_full(error)


def is_full(error: Exception) -> bool:
    """Return whether `error` says that the disk is full."""
    return any(sign in str(error) for sign in ("disk is full", "No space left"))


def as_busy(error: Exception | None) -> BusyError:
    """Return the answer to requests whose batch has failed by `error`."""
    if isinstance(error, BusyError):
        return error
    if isinstance(error, NotWriterError):
        return BusyError("standby", str(error))
    if isinstance(error, StoreError):
        if is_full(error):
            return BusyError("disk-full", f"{error}; the request can be sent again")
        return BusyError(*store_problem(error))
    return BusyError("rebuilding", "the model is being read again; try again in a second")
