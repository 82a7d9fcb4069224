"""Every error and warning that evolabel raises on purpose. A message is one line: what came, what to do.

Each class is also a subclass of the exception that scikit-learn raises in the same case.
"""


class EvolabelError(Exception):
    """Base of all errors raised by evolabel."""


class DataError(EvolabelError, ValueError):
    """The data cannot be used: wrong shape, wrong values, infinities, unknown names."""


class DataWarning(UserWarning):
    """The data was used, but not as it came: columns in another order, columns ignored, texts never seen."""


class DataTypeError(EvolabelError, TypeError):
    """The data has a type that cannot be read as numbers, such as a sparse matrix or nested objects."""


class ParameterError(EvolabelError, ValueError):
    """A constructor parameter has a value outside its range."""


class DivergenceError(EvolabelError, ArithmeticError):
    """The rule weights diverged. Only literal formulas of the paper do this, see `lipschitz` and `coupling`."""


class StateError(EvolabelError, RuntimeError):
    """The call is not possible in the present state of the model."""


class StageError(EvolabelError, RuntimeError):
    """A stage of a user has failed or broken a rule; the message names it and the method. The model is unchanged."""


class OutOfMemoryError(EvolabelError, MemoryError):
    """The model would need more memory than there is; raised before anything is allocated."""


class InternalError(EvolabelError, AssertionError):
    """Arrays made by evolabel itself do not fit together; raised before a compiled loop writes outside of them."""


class BudgetError(EvolabelError, RuntimeError):
    """A query costs more than the budget allows at this row; nothing was spent or learned."""


class FileFormatError(EvolabelError, ValueError):
    """A data file is damaged or of an unknown format; the message names the file and, if there is one, the line."""


class DatasetNotFoundError(EvolabelError, FileNotFoundError):
    """A data set is neither in EVOLABEL_DATA nor in the cache, and could not be downloaded."""


class MissingDependencyError(EvolabelError, ImportError):
    """An optional package is not installed; the message has the command that installs it."""


class CheckpointError(EvolabelError, ValueError):
    """The checkpoint of a search or the stored state of a metric is damaged, or belongs to another one."""


class ModelFileError(EvolabelError, ValueError):
    """A model file is missing, incomplete, altered, or written by a newer version."""


class ModelWriteError(EvolabelError, OSError):
    """A model could not be written; the file stored before is unchanged."""


def __getattr__(name: str) -> type[Exception]:
    """Define `NotTrainedError` on first use, because its base class is in scikit-learn; `name` is the missing name."""
    if name != "NotTrainedError":
        raise AttributeError(f"module 'evolabel.errors' has no attribute {name!r}")
    from sklearn.exceptions import NotFittedError

    class NotTrainedError(EvolabelError, NotFittedError):  # type: ignore[misc]
        """The call needs a model that has learned from data; call `fit` or `partial_fit` first."""

    NotTrainedError.__qualname__ = "NotTrainedError"
    globals()[name] = NotTrainedError
    return NotTrainedError
