"""`ServiceLimits`: limits of a service that its configuration sets."""

from pathlib import Path
from typing import NamedTuple

_MEGABYTE = 1_000_000
_MEBIBYTE = 1024 * 1024


class ServiceLimits(NamedTuple):
    """Limits of all projects and requests.

    `queue`: requests of a project that wait at most; `rows`: rows of a request; `min_free`: bytes left on the disk,
    below which samples are refused, answers below a quarter; `model`: bytes of a model file; `sse`: open streams.
    """

    queue: int = 2000
    rows: int = 1000
    min_free: int = 200 * _MEGABYTE
    model: int = 64 * _MEBIBYTE
    sse: int = 200

    @classmethod
    def of(cls, *, queue: int, rows: int, min_free_mb: int, model_mb: int, sse: int) -> "ServiceLimits":
        """Return the limits for the numbers of a configuration: `queue`, `rows` and `sse` as they are.

        `min_free_mb` (10^6 bytes) and `model_mb` (2^20 bytes) are converted to bytes.
        """
        return cls(queue, rows, min_free_mb * _MEGABYTE, model_mb * _MEBIBYTE, sse)


DEFAULT_LIMITS = ServiceLimits()


class Retention(NamedTuple):
    """How many `days` payloads of samples stay in the log, and the `folder` to which older ones go."""

    days: int
    folder: Path
