"""Tables of the report: sizes of the sets, parameters found, final scores, and times beside the paper's."""

from itertools import product
from typing import NamedTuple

from evolabel.reproduce.claims.speed import PAPER_SECONDS, PRINTED
from evolabel.reproduce.experiments import EXPERIMENTS
from evolabel.reproduce.methods import METHODS, PROFILES, Profile
from evolabel.reproduce.results import Findings, Stage

TITLES: dict[Profile, str] = {"paper": "the paper's profile", "default": "the default profile"}


class Table(NamedTuple):
    """Heads and rows of text; numbers stand in all columns but the first `words`."""

    heads: list[str]
    rows: list[list[str]]
    words: int = 1


def sizes(findings: Findings) -> Table:
    """Table 1."""
    rows = [
        [name, size.stream, f"{size.features}", f"{size.labels}", f"{size.initial:,}", f"{size.streamed:,}"]
        for name, size in findings.sizes.items()
    ]
    return Table(["data set", "rows from", "features", "labels", "initial batch", "streamed"], rows, 2)


def times(findings: Findings) -> Table:
    """Table 2: milliseconds, ratios to each other, and how many times the paper's speed."""
    methods = EXPERIMENTS["table2"].methods
    timed = dict.fromkeys((task.dataset, task.profile) for task in findings.times)
    rows = []
    for dataset, profile in timed:
        ms = {method: findings.milliseconds(dataset, profile, method) for method in methods}
        printed = PAPER_SECONDS.get(dataset, {})
        rows.append(
            [dataset, profile]
            + [f"{value:.3f}" for value in ms.values()]
            + [f"{ms[method] / ms['ours']:.1f}" for method in methods[1:]]
            + [f"{1e3 * printed[method] / ms[method]:,.0f}" if method in printed else "" for method in PRINTED]
        )
    titles = [METHODS[method].title for method in methods]
    heads = (
        ["data set", "profile"]
        + [f"{title}, ms" for title in titles]
        + [f"{title} / ours" for title in titles[1:]]
        + [f"{METHODS[method].title}: times the paper's speed" for method in PRINTED]
    )
    return Table(heads, rows, 2)


STAGES: dict[Stage, str] = {"tuned": "tuning", "run": "runs", "timed": "update times"}


def work(findings: Findings) -> Table:
    """How long it took, in minutes of processor time: set by set, profile by profile."""
    rows = []
    for dataset, profile in product(findings.sizes, PROFILES):
        steps = {s: seconds for s, seconds in findings.work.items() if (s.dataset, s.profile) == (dataset, profile)}
        if not steps:
            continue
        by_stage = [sum(seconds for step, seconds in steps.items() if step.stage == stage) for stage in STAGES]
        longest = max(steps, key=lambda step: steps[step])
        rows.append(
            [findings.sizes[dataset].stream, profile]
            + [f"{seconds / 60:.1f}" for seconds in (*by_stage, sum(by_stage))]
            + [f"{STAGES[longest.stage]}, {longest.method}: {steps[longest] / 60:.1f}"]
        )
    rows.append(["all", "both", *[""] * len(STAGES), f"{sum(findings.work.values()) / 60:.1f}", ""])
    return Table(["data set", "profile", *STAGES.values(), "together", "longest piece"], rows, 2)


def scores(findings: Findings) -> Table:
    """PA and AP of every run, with the parameters found."""
    rows = []
    for (dataset, profile, method), outcome in findings.outcomes.items():
        params = ", ".join(f"{name} {value}" for name, value in outcome.params.items())
        asked = "" if outcome.asked is None else f"{100 * outcome.asked:.1f} %"
        rows.append(
            [
                dataset,
                profile,
                METHODS[method].title,
                params,
                f"{outcome.pa:.4f}",
                f"{outcome.ap:.4f}",
                f"{outcome.rules:.0f}",
                asked,
            ]
        )
    return Table(["data set", "profile", "method", "parameters", "PA", "AP", "rules", "asked"], rows, 4)
