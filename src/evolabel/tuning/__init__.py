"""Search for parameters on an initial batch."""

from evolabel._utils.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "grid": ["PAPER_GRID"],
        "heat_map_figure": ["heat_map"],
        "search": ["PaperGridSearch"],
        "stream_scorer": ["stream_score"],
        "tuned": ["SMALL_PAPER_GRID", "TunedClassifier"],
    },
)
