"""Tasks run in parallel by joblib, on this machine or on a cluster."""

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from typing import Any

from joblib import Parallel, parallel_config

from evolabel._utils import optional
from evolabel.errors import ParameterError

_CLUSTERS = {"dask": "distributed", "ray": "ray.util.joblib"}
"""Backends outside joblib, and the modules that provide them."""


def run_all(calls: Iterable[Any], n_jobs: int, backend: str | None = None) -> Iterator[Any]:
    """Yield the results of `calls` (joblib's `delayed` calls) as they are finished.

    `n_jobs` is the number of processes, -1 for all cores; `backend` the name of a joblib backend. Some backends return
    all results at the end. MissingDependencyError if the package of a cluster is absent.
    """
    if backend in _CLUSTERS:
        module: Any = optional.load(_CLUSTERS[backend], backend, f"backend={backend!r}")
        if backend == "ray":
            module.register_ray()
    try:
        with nullcontext() if backend is None else parallel_config(backend):  # where joblib looks for clusters
            pool = _pool(n_jobs)
    except ValueError as error:
        hint = "start a dask.distributed.Client first" if backend == "dask" else "see joblib.parallel_config for names"
        raise ParameterError(f"backend={backend!r} cannot be used ({str(error).splitlines()[0]}); {hint}") from error
    yield from pool(calls)


def _pool(n_jobs: int) -> Parallel:
    try:
        return Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    except ValueError:  # the backend cannot return results one by one
        return Parallel(n_jobs=n_jobs)
