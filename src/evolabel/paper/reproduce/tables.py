"""Tables of the report: sizes of the data sets, tuned parameters, scores, and times beside the paper's."""

from itertools import product
from math import isfinite
from statistics import fmean
from typing import Any, NamedTuple

from evolabel.paper.reproduce.claims.intervals import SeedInterval
from evolabel.paper.reproduce.claims.speed import PAPER_METHODS, PAPER_SECONDS
from evolabel.paper.reproduce.data import PRINTED_SIZES
from evolabel.paper.reproduce.experiments import EXPERIMENTS
from evolabel.paper.reproduce.methods import METHODS, PROFILES, Profile
from evolabel.paper.reproduce.results import ProfileResults, ReproductionResults, Stage, Task

PROFILE_TITLES: dict[Profile, str] = {"paper": "the paper's profile", "default": "the default profile"}
_STAGE_TITLES: dict[Stage, str] = {"searched": "searches", "run": "runs", "timed": "update times"}


class ReportTable(NamedTuple):
    """`heads` and `rows` of text. The first `n_text_columns` columns hold words, the others numbers."""

    heads: list[str]
    rows: list[list[str]]
    n_text_columns: int = 1


def sizes_table(results: ReproductionResults) -> ReportTable:
    """Table 1: the sizes of the data sets in `results`, beside the paper's features, rows and labels."""
    rows = []
    for name, size in results.sizes.items():
        found = f"{size.features}", f"{size.labels}", f"{size.initial:,}", f"{size.streamed:,}"
        printed = " x ".join(f"{number:,}" for number in PRINTED_SIZES.get(name, ()))
        rows.append([name, size.stream, *found, printed])
    heads = ["data set", "rows from", "features", "labels", "initial batch", "streamed", "printed in the paper"]
    return ReportTable(heads, rows, 2)


def times_table(results: ReproductionResults) -> ReportTable:
    """Table 2: update times in `results`, their ratios to ours, and the speed relative to the paper's."""
    methods = EXPERIMENTS["table2"].methods
    rows = []
    for dataset, profile in dict.fromkeys((task.dataset, task.profile) for task in results.times):
        found = ProfileResults(results, profile)
        ms = {method: found.milliseconds(dataset, method) for method in methods}
        printed = PAPER_SECONDS.get(dataset, {})
        rows.append(
            [dataset, profile]
            + [f"{value:.3f}" for value in ms.values()]
            + [f"{ms[method] / ms['ours']:.1f}" for method in methods[1:]]
            + [f"{1e3 * printed[method] / ms[method]:,.0f}" if method in printed else "" for method in PAPER_METHODS]
        )
    titles = [METHODS[method].title for method in methods]
    heads = (
        ["data set", "profile"]
        + [f"{title}, ms" for title in titles]
        + [f"{title} / ours" for title in titles[1:]]
        + [f"{METHODS[method].title}: times the paper's speed" for method in PAPER_METHODS]
    )
    return ReportTable(heads, rows, 2)


def cpu_table(results: ReproductionResults) -> ReportTable:
    """Minutes of processor time that the tasks of `results` took with all seeds, by data set and profile."""
    rows = []
    for dataset, profile in product(results.sizes, PROFILES):
        spent = {s: t for s, t in results.cpu_seconds.items() if (s.dataset, s.profile) == (dataset, profile)}
        if not spent:
            continue
        by_stage = [sum(seconds for s, seconds in spent.items() if s.stage == stage) for stage in _STAGE_TITLES]
        longest = max(spent, key=lambda stage: spent[stage])
        rows.append(
            [results.sizes[dataset].stream, profile]
            + [f"{seconds / 60:.1f}" for seconds in (*by_stage, sum(by_stage))]
            + [f"{_STAGE_TITLES[longest.stage]}, {longest.method}: {spent[longest] / 60:.1f}"]
        )
    rows.append(["all", "both", *[""] * len(_STAGE_TITLES), f"{sum(results.cpu_seconds.values()) / 60:.1f}", ""])
    return ReportTable(["data set", "profile", *_STAGE_TITLES.values(), "together", "longest task"], rows, 2)


def scores_table(results: ReproductionResults) -> ReportTable:
    """PA and AP of every run in `results`, with its tuned parameters; * marks those at the edge of the grid."""
    rows = []
    for task, run in results.runs.items():
        if task.vigilance is not None:
            continue
        found = results.searches.get(task._replace(method=METHODS[task.method].tuned_as))
        asked = "" if run.asked is None else f"{100 * run.asked:.1f} %"
        rows.append(
            [task.dataset, task.profile, METHODS[task.method].title, f"{task.seed}"]
            + [_params_text(run.params, [] if found is None else found.edges)]
            + [_score_text(score) for score in (run.pa, run.ap)]
            + [f"{run.rules:.0f}", asked]
        )
    return ReportTable(["data set", "profile", "method", "seed", "parameters", "PA", "AP", "rules", "asked"], rows, 5)


def means_table(results: ReproductionResults, dataset: str) -> ReportTable:
    """PA and AP on `dataset`, means over the seeds with half of the 95 % interval, rules, and tuned parameters.

    Methods without a search of their own have the parameters of ours, which are not repeated.
    """
    rows = []
    for profile, (method, kind) in product(PROFILES, METHODS.items()):
        found = ProfileResults(results, profile)
        tasks = [Task(dataset, profile, method, seed) for seed in found.seeds(dataset, method)]
        runs = [results.runs[task] for task in tasks if task in results.runs]
        if not runs:
            continue
        found_by = [results.searches.get(task._replace(method=kind.tuned_as)) for task in tasks]
        edges = [[] if search is None else search.edges for search in found_by]
        params = (
            dict.fromkeys(map(_params_text, [run.params for run in runs], edges)) if kind.tuned_as == method else ()
        )
        asked = [run.asked for run in runs if run.asked is not None]
        rules = " / ".join(f"{run.rules:.0f}" for run in runs)
        scores = [_mean_text([run.pa for run in runs]), _mean_text([run.ap for run in runs])]
        share = f"{100 * fmean(asked):.1f} %" if asked else ""
        rows.append([profile, kind.title, "; ".join(params), *scores, rules, share])
    return ReportTable(["profile", "method", "parameters, by seed", "PA", "AP", "rules", "asked"], rows, 3)


def vigilance_table(results: ReproductionResults, dataset: str) -> ReportTable:
    """Ours of the paper's profile on `dataset` at every vigilance: rules, and PA in the search and along the stream."""
    tasks = [task for task in results.runs if task.dataset == dataset and task.vigilance is not None]
    rows = []
    for vigilance in sorted({task.vigilance for task in tasks if task.vigilance is not None}):
        here = [task for task in tasks if task.vigilance == vigilance]
        runs, searches = [results.runs[task] for task in here], [results.searches[task].score for task in here]
        scores: list[list[float | None]] = [[*searches], [run.pa for run in runs], [run.ap for run in runs]]
        rows.append([f"{vigilance:g}", f"{fmean(run.rules for run in runs):.0f}", *map(_mean_text, scores)])
    return ReportTable(["vigilance", "rules", "PA in the search", "PA", "AP"], rows, 0)


def _params_text(params: dict[str, Any], edges: list[str]) -> str:
    return ", ".join(f"{name} {value:g}{'*' if name in edges else ''}" for name, value in params.items())


def _score_text(score: float | None) -> str:
    return "not defined" if score is None else f"{score:.4f}"


def _mean_text(scores: list[float | None]) -> str:
    """The mean of the `scores` of the seeds, with half of their interval."""
    defined = [score for score in scores if score is not None]
    if len(defined) < len(scores):
        return "not defined"
    interval = SeedInterval.of(defined)
    half = interval.high - interval.mean
    return f"{interval.mean:.4f}{f' ± {half:.4f}' if isfinite(half) else ''}"
