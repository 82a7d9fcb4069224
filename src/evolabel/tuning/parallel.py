"""Many tasks at once, on this machine or on a cluster, by the name of a joblib backend."""

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from typing import Any

from joblib import Parallel, parallel_config

from evolabel._utils import optional
from evolabel.errors import ParameterError

CLUSTERS = {"dask": "distributed", "ray": "ray.util.joblib"}
"""Backends that joblib has to be told of, and the modules they live in."""


def run_all(calls: Iterable[Any], n_jobs: int, backend: str | None = None) -> Iterator[Any]:
    """Results as they come; some backends can only hand over all of them at the end."""
    _register(backend)
    try:
        with nullcontext() if backend is None else parallel_config(backend):  # where joblib looks for clusters
            pool = _pool(n_jobs)
    except ValueError as error:
        hint = "start a dask.distributed.Client first" if backend == "dask" else "see joblib.parallel_config for names"
        raise ParameterError(f"backend={backend!r} cannot be used ({str(error).splitlines()[0]}); {hint}") from error
    yield from pool(calls)


def _register(backend: str | None) -> None:
    """Make sure that a cluster's package is there; ray's backend must also be announced."""
    if backend in CLUSTERS:
        module: Any = optional.load(CLUSTERS[backend], backend, f"backend={backend!r}")
        if backend == "ray":
            module.register_ray()


def _pool(n_jobs: int) -> Parallel:
    try:
        return Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    except ValueError:
        return Parallel(n_jobs=n_jobs)
