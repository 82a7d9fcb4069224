"""Tables of the report: sizes of the data sets, tuned parameters, scores, and times beside the paper's."""

from itertools import product
from typing import NamedTuple

from evolabel.paper.reproduce.claims.speed import PAPER_METHODS, PAPER_SECONDS
from evolabel.paper.reproduce.experiments import EXPERIMENTS
from evolabel.paper.reproduce.methods import METHODS, PROFILES, Profile
from evolabel.paper.reproduce.results import ProfileResults, ReproductionResults, Stage

PROFILE_TITLES: dict[Profile, str] = {"paper": "the paper's profile", "default": "the default profile"}
_STAGE_TITLES: dict[Stage, str] = {"tuned": "tuning", "run": "runs", "timed": "update times"}


class ReportTable(NamedTuple):
    """`heads` and `rows` of text. The first `n_text_columns` columns hold words, the others numbers."""

    heads: list[str]
    rows: list[list[str]]
    n_text_columns: int = 1


def sizes_table(results: ReproductionResults) -> ReportTable:
    """Table 1: the sizes of the data sets in `results`."""
    rows = [
        [name, size.stream, f"{size.features}", f"{size.labels}", f"{size.initial:,}", f"{size.streamed:,}"]
        for name, size in results.sizes.items()
    ]
    return ReportTable(["data set", "rows from", "features", "labels", "initial batch", "streamed"], rows, 2)


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
    """Minutes of processor time that the tasks of `results` took, by data set and profile."""
    rows = []
    for key in product(results.sizes, PROFILES):
        spent = {s: seconds for s, seconds in results.cpu_seconds.items() if (s.dataset, s.profile) == key}
        if not spent:
            continue
        by_stage = [sum(seconds for s, seconds in spent.items() if s.stage == stage) for stage in _STAGE_TITLES]
        longest = max(spent, key=lambda stage: spent[stage])
        rows.append(
            [results.sizes[key[0]].stream, key[1]]
            + [f"{seconds / 60:.1f}" for seconds in (*by_stage, sum(by_stage))]
            + [f"{_STAGE_TITLES[longest.stage]}, {longest.method}: {spent[longest] / 60:.1f}"]
        )
    rows.append(["all", "both", *[""] * len(_STAGE_TITLES), f"{sum(results.cpu_seconds.values()) / 60:.1f}", ""])
    return ReportTable(["data set", "profile", *_STAGE_TITLES.values(), "together", "longest task"], rows, 2)


def scores_table(results: ReproductionResults) -> ReportTable:
    """PA and AP of every run in `results`, with its tuned parameters."""
    rows = []
    for (dataset, profile, method), run in results.runs.items():
        params = ", ".join(f"{name} {value}" for name, value in run.params.items())
        scores = ["not defined" if score is None else f"{score:.4f}" for score in (run.pa, run.ap)]
        asked = "" if run.asked is None else f"{100 * run.asked:.1f} %"
        rows.append([dataset, profile, METHODS[method].title, params, *scores, f"{run.rules:.0f}", asked])
    return ReportTable(["data set", "profile", "method", "parameters", "PA", "AP", "rules", "asked"], rows, 4)
