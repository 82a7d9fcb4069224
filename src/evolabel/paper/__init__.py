"""The method as its paper prints it: `PaperClassifier`, the search over its grid, its rivals, and its experiments."""

from evolabel._utils.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "classifier": ["PaperClassifier"],
        "rivals.chain": ["EvolvingChain"],
        "rivals.one_vs_rest": ["EvolvingOneVsRest"],
        "tuning.grid": ["PAPER_GRID"],
        "tuning.search": ["PaperGridSearch"],
        "tuning.tuned": ["SMALL_PAPER_GRID", "TunedClassifier"],
    },
)
