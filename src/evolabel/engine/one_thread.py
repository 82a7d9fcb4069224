"""BLAS and LAPACK on one thread, where their rounding reaches outputs: bits must not depend on how many there are."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def _libraries() -> ThreadpoolController:
    """The libraries that numpy and scipy have loaded; finding them takes milliseconds."""
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A block, or a function that is decorated by it, in which BLAS uses one thread; costs some 25 microseconds."""
    with _libraries().limit(limits=1, user_api="blas"):
        yield
