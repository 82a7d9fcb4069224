"""What every search for parameters on an initial batch uses: a score along a stream, a checkpoint, a heat map."""

from evolabel._utils.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "heat_map_figure": ["heat_map"],
        "stream_scorer": ["stream_score"],
    },
)
