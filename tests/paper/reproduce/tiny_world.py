"""A data set and a run size so small that everything runs in seconds, and results in which every claim holds."""

from dataclasses import replace

from evolabel.paper.reproduce.claims.speed import PAPER_SECONDS
from evolabel.paper.reproduce.methods import METHODS
from evolabel.paper.reproduce.results import Found, ReproductionResults, RunResult, Size, Task, TaskStage
from evolabel.paper.reproduce.run_size import RunSize
from evolabel.streams import DriftingStream

TINY = RunSize(
    "tiny",
    {
        "paper": {"vigilance": (0.6, 0.9), "alpha": (0.0, 0.1), "beta": (0.0,)},
        "default": {"vigilance": (0.5, 1.0)},
    },
    folds=2,
    max_initial=30,
    max_streamed=20,
    timed_rows=10,
)

SIZES = {
    "birds": Size("birds", 260, 19, 322, 323),
    "emotions": Size("emotions", 72, 6, 391, 202),
    "water-quality": Size("water-quality", 16, 14, 353, 707),
    "yeast": Size("yeast", 103, 14, 1500, 917),
    "mediamill": Size("mediamill", 120, 101, 30993, 12914),
}

# PA and AP as the paper claims them, by set and method.
PA = {
    "birds": dict(
        zip(
            METHODS,
            (0.95, 0.89, 0.90, 0.88, 0.0, 0.949, 0.945, 0.93, 0.945, 0.90, 0.881, 0.88, 0.885),
            strict=True,
        )
    ),
    "emotions": dict(
        zip(
            METHODS,
            (0.90, 0.79, 0.80, 0.75, 0.0, 0.899, 0.897, 0.895, 0.896, 0.899, 0.897, 0.893, 0.755),
            strict=True,
        )
    ),
    "water-quality": dict(
        zip(
            METHODS,
            (0.75, 0.72, 0.70, 0.68, 0.0, 0.749, 0.745, 0.72, 0.725, 0.72, 0.719, 0.718, 0.69),
            strict=True,
        )
    ),
    "yeast": dict(
        zip(
            METHODS,
            (0.82, 0.80, 0.79, 0.78, 0.0, 0.82, 0.819, 0.818, 0.818, 0.819, 0.818, 0.817, 0.785),
            strict=True,
        )
    ),
    "mediamill": dict(
        zip(
            METHODS,
            (0.97, 0.969, 0.95, 0.94, 0.95, 0.97, 0.969, 0.968, 0.968, 0.970, 0.969, 0.968, 0.942),
            strict=True,
        )
    ),
}
AP = {
    "birds": {"ours": 0.7, "ovr": 0.6, "chain": 0.6, "static": 0.5},
    "emotions": {"ours": 0.8, "ovr": 0.7, "chain": 0.7, "static": 0.6},
    "water-quality": {"ours": 0.7, "ovr": 0.68, "chain": 0.5, "static": 0.6},
    "yeast": {"ours": 0.75, "ovr": 0.7, "chain": 0.5, "static": 0.6},
    "mediamill": {
        "ours": 0.80,
        "ovr": 0.795,
        "chain": 0.75,
        "static": 0.70,
        "rfwls": 0.755,
        "samples-30": 0.79,
        "samples-10": 0.78,
        "random-10": 0.71,
    },
}
RULES = {"emotions": 17.0, "water-quality": 10.0}
RIVAL_RULES = {"emotions": 120.0, "water-quality": 150.0}
SEEDS = range(3)
PARAMS = {"vigilance": 0.5}


def tiny_set():
    """60 rows, 3 features, 2 labels; half of them are the initial batch."""
    dataset = DriftingStream(n_features=3, n_labels=2, n_regions=2, drift_every=0, seed=0).dataset(60, "tiny")
    return replace(dataset, split=30)


def paper_is_right():
    """ReproductionResults of three equal seeds in which every claim holds."""
    runs = {
        Task(name, profile, method, seed): _run(name, method)
        for seed in SEEDS
        for name in SIZES
        for method, kind in METHODS.items()
        for profile in kind.profiles
    }
    searches = {task: Found(PARAMS, 0.8, 8, []) for task in runs}
    for task in [task for task in runs if task[1:3] == ("paper", "ours") and task.dataset != "mediamill"]:
        for vigilance, rules in ((0.5, 17.0), (0.9, 1.0)):
            part = task._replace(vigilance=vigilance)
            searches[part] = Found({"vigilance": vigilance}, 0.8, 4, ["vigilance"])
            runs[part] = RunResult({"vigilance": vigilance}, 0.8, 0.7, rules)
    times = {
        Task(name, profile, method, seed): 1e3 * seconds
        for seed in SEEDS
        for name, by_method in PAPER_SECONDS.items()
        for method, seconds in _paper_times(name, by_method).items()
        for profile in ("paper", "default")
    }
    cpu_seconds = {TaskStage(*task, "run"): 60.0 for task in runs}
    cpu_seconds[TaskStage("birds", "paper", "all", 0, None, "timed")] = 30.0
    return ReproductionResults(
        {"version": "0", "run_size": "full", "seeds": len(SEEDS)}, dict(SIZES), searches, runs, times, cpu_seconds
    )


def _paper_times(name, by_method):
    """The paper's own table contradicts it on yeast."""
    mended = {"chain": 0.2} if name == "yeast" else {}
    return {**by_method, **mended, "samples-10": by_method["ours"] / 12}


def _run(name, method):
    parts = method.split("-")
    asked = 0.95 * float(parts[1]) / 100 if len(parts) > 1 else None
    asked = 0.08 if (name, method) == ("birds", "labels-10") else asked
    pa = PA[name][method]
    rules = RIVAL_RULES.get(name, 200.0) if method in ("ovr", "chain") else RULES.get(name, 10.0)
    falling = [pa + 0.02, pa + 0.015, pa + 0.01, pa + 0.005, pa]
    trend = {"sample": [20, 40, 60, 80, 100], "pa": falling, "ap": falling, "rules": [rules] * 5}
    return RunResult(PARAMS, pa, AP[name].get(method, 0.5), rules, asked, trend)
