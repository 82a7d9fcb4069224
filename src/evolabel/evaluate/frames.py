"""Tables of results as frames of the library a user has."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Literal, get_args

from evolabel.errors import MissingDependencyError, ParameterError

Backend = Literal["pandas", "polars", "pyarrow"]


def frame_of(columns: Mapping[str, Sequence[Any]], backend: Backend) -> Any:
    """A frame of `backend` with these columns."""
    import narwhals as nw

    if backend not in get_args(Backend):
        raise ParameterError(f"backend={backend!r} is unknown; use one of {', '.join(get_args(Backend))}")
    try:
        import_module(backend)
    except ImportError as error:
        told = f"a {backend} frame needs {backend}, which is not installed; run: pip install {backend}"
        raise MissingDependencyError(told) from error
    return nw.from_dict(columns, backend=backend).to_native()
