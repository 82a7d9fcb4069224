"""Every error evolabel raises on purpose: one line that says what came, what was expected and what to do.

Each class also is the exception type that users of scikit-learn already catch.
"""


class EvolabelError(Exception):
    """Base of all errors raised by evolabel."""


class DataError(EvolabelError, ValueError):
    """The data cannot be used: wrong shape, wrong values, infinities, unknown names."""


class DataTypeError(EvolabelError, TypeError):
    """The data is of a kind that cannot be read as numbers, such as a sparse matrix or nested objects."""


class ParameterError(EvolabelError, ValueError):
    """A constructor parameter has a value outside its range."""


class DivergenceError(EvolabelError, ArithmeticError):
    """The consequents blew up: a literal formula of the paper was asked for and did what it does."""


class StateError(EvolabelError, RuntimeError):
    """The model is not in a state in which the call makes sense."""


class InternalError(EvolabelError, AssertionError):
    """Arrays of evolabel's own making do not fit together; raised before a kernel would write beyond them."""


class BudgetError(EvolabelError, RuntimeError):
    """A question would cost more than the budget allows by now; nothing was counted or learned."""


class FileFormatError(EvolabelError, ValueError):
    """A data file is broken or of an unknown kind; the message names the file and, where there is one, the line."""


class DatasetNotFoundError(EvolabelError, FileNotFoundError):
    """A data set is neither in EVOLABEL_DATA nor in the cache, and could not be downloaded."""


class MissingDependencyError(EvolabelError, ImportError):
    """An optional package is not installed; the message has the command that installs it."""


class CheckpointError(EvolabelError, ValueError):
    """The notes of a search, or the stored state of a metric, are broken or belong to another one."""


class ModelFileError(EvolabelError, ValueError):
    """A model file is missing, cut short, altered, or written by a newer version."""


class ModelWriteError(EvolabelError, OSError):
    """A model could not be written; what was stored before is untouched."""


def __getattr__(name: str) -> type[Exception]:
    """`NotTrainedError` derives from scikit-learn's `NotFittedError`, so it is made only when it is asked for."""
    if name != "NotTrainedError":
        raise AttributeError(f"module 'evolabel.errors' has no attribute {name!r}")
    from sklearn.exceptions import NotFittedError

    class NotTrainedError(EvolabelError, NotFittedError):  # type: ignore[misc]
        """The model was asked before it had learned anything."""

    NotTrainedError.__qualname__ = "NotTrainedError"
    globals()[name] = NotTrainedError
    return NotTrainedError
