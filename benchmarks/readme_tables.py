"""Write the numbers in README.md and in pages of docs/ from the files of the last runs.

Each table is between a comment with its name and `<!-- end -->`. A test compares the pages with the same files.
"""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import active_feedback
import active_learning
import active_robustness
import concept_tables
import last_answers
import trust_tables
import worth_of_answers
from shared import result_files

from evolabel.evaluate import Spread
from evolabel.words.markup import table

ROOT = Path(__file__).parents[1]

NAMES = (
    "how-to/tuning",
    "how-to/reading-rules",
    "explanations/questions",
    "how-to/data",
    "explanations/accuracy-and-speed",
    "explanations/trust",
)
LEFT_OUT = ("rfwls", "river-br-lr")  # of the comparison: hardly other than "paper" and "river-cc-lr"
PAGES = (ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in NAMES))


def comparison() -> str:
    """PA / AP of learners on every set, the best of each set bold."""
    found = result_files.read("comparison")
    sets = list(found)
    learners = [one["learner"] for one in found[sets[0]]["standings"] if one["learner"] not in LEFT_OUT]
    columns = {name: _scores(found[name]["standings"]) for name in sets}
    rows = [[learner, *(columns[name].get(learner, "not run") for name in sets)] for learner in learners]
    return table(["PA / AP", *sets], rows)


def peers() -> str:
    """What evolabel, river, boosted trees and scikit-activeml do, with the scores that were measured."""
    found, product = result_files.read("concepts_peers")["streams"], result_files.read("concepts")["streams"]
    seeds = concept_tables.whole_seeds(found)

    def spread(score: Callable[[str, str], float]) -> Spread:
        return Spread.of(sum(score(name, seed) for name in found) / len(found) for seed in seeds)

    def of_peer(learner: str) -> Spread:
        return spread(lambda name, seed: float(found[name][seed][learner]["score"]))

    ours = spread(lambda name, seed: float(product[name][seed]["on"]["score"]))
    trees = max(map(of_peer, ("adaptive forest", "adaptive tree", "Hoeffding tree")))
    boosted = of_peer("boosted trees, refitted")
    most = max(ours, trees, boosted).mean
    sharp = [_bold_if(one.mean == most, f"{one:.3f}") for one in (ours, trees, boosted)]
    yeast = {one["learner"]: one["metrics"] for one in result_files.read("comparison")["yeast"]["standings"]}
    shown = ("evolabel", "river-cc-lr", "forest")
    best = {metric: max(yeast[name][metric]["mean"] for name in shown) for metric in ("pa", "ap")}
    scores = {
        name: " / ".join(
            _bold_if(yeast[name][metric]["mean"] == best[metric], f"{yeast[name][metric]['mean']:.3f}")
            for metric in best
        )
        for name in shown
    }
    prior = " / ".join(f"{yeast['prior'][metric]['mean']:.3f}" for metric in best)
    simple = ", ".join(f"{name}: {of_peer(name).mean:.3f}" for name in ("majority", "no change"))
    chain, forest = f"{scores['river-cc-lr']} (chain)", f"{scores['forest']} (a random forest)"
    return table(
        ["", "evolabel", "river", "boosted trees, refitted", "scikit-activeml"],
        [
            ["keeps of the stream", "at most the last 2,500 rows", "nothing", "all rows", "what its learner keeps"],
            ["several labels", "one model", "one model per label, or a chain", "one model per label", ""],
            [f"accuracy on {len(found)} streams with sharp limits, {len(seeds)} seeds ({simple})", *sharp, ""],
            [f"PA / AP on yeast, 14 labels (label shares alone: {prior})", scores["evolabel"], chain, forest, ""],
            ["rules as text", "yes", "of trees", "no", ""],
            ["asks people for", "single labels or samples", "samples", "", "whole samples"],
            ["budget of questions", "never exceeded", "none", "", "kept on average"],
            ["choice of models", "one method", "**dozens**", "one", "**dozens of strategies**"],
        ],
    )


def _bold_if(is_best: bool, text: str) -> str:
    """The `text`, bold if it `is_best`."""
    return f"**{text}**" if is_best else text


def _scores(standings: list[dict[str, Any]]) -> dict[str, str]:
    def score_text(standing: dict[str, Any], metric: str) -> str:
        means = [f"{other['metrics'][metric]['mean']:.3f}" for other in standings]
        mean = f"{standing['metrics'][metric]['mean']:.3f}"
        return f"**{mean}**" if mean == max(means) else mean

    return {one["learner"]: f"{score_text(one, 'pa')} / {score_text(one, 'ap')}" for one in standings}


def speed() -> str:
    found = result_files.read("update_speed")
    heads = ["shape", "features x labels", "us per sample", "rules alone (times)", "BLAS floor (times)"]
    more = "one row a call: us more, two calls, river"
    rows = [
        [
            row["shape"],
            f"{row['features']} x {row['labels']}",
            f"{row['us_per_sample']}",
            f"{row['us_rules_alone']} ({row['ratio_to_rules_alone']})",
            f"{row['floor_us']} ({row['ratio_to_floor']})",
            f"{row['row_by_row_extra_us']}, {row['row_calls_extra_us']}, {row['river_extra_us']}",
            f"{row['times_faster_than_paper']}",
        ]
        for row in found["shapes"]
    ]
    flat = found["flat"]
    return (
        table([*heads, more, "times the paper's speed"], rows)
        + "\n\nProcessor time of answering and learning. Of rows one by one: more by `test_then_train`, by "
        "`predict_proba` and `partial_fit`,\nby `predict_proba_one` and `learn_one` of river's adapter. "
        f"Over {flat['samples']:,} samples at water-quality's shape: {flat['first_tenth_us']} us per sample\n"
        f"in the first tenth ({flat['first_tenth_active_rules']} rules at work), {flat['last_tenth_us']} in the last "
        f"({flat['last_tenth_active_rules']}); memory grew by {flat['memory_growth_mb']} MB.\n"
        '"Rules alone" is `follow_drift=False, threshold_rules=False`, and so it is beside the BLAS floor; below 1 is '
        "possible because\nupdates are applied in blocks and labels that are 0 cost nothing."
    )


def paper() -> str:
    found, times = result_files.read("paper_profile"), result_files.read("update_speed_paper")["shapes"]
    profiles = ("default", "paper", "paper, hand-set", "global")
    rows = [
        [name, *(f"{run[key]['pa']:.3f} / {run[key]['ap']:.3f}" for key in profiles)] for name, run in found.items()
    ]
    heads = ["data set", "default", "paper()", "paper(), hand-set", "global model alone"]
    ratio = next(row["ratio_to_floor"] for row in times if row["shape"] == "mediamill")
    speeds = ", ".join(f"{r['shape']} {r['us_per_sample']:.0f} ({r['times_faster_than_paper']})" for r in times)
    return (
        table(heads, rows)
        + '\n\nPA / AP. Hand-set: `ridge="press", local_ridge=0.5, vigilance=0.6`. As printed, with hardly any ridge, '
        "it overfits where\nsamples are few. Microseconds per sample (times the paper's speed), hand-set:\n"
        f"{speeds}. At mediamill's shape that is\n{ratio} times the two dense products W H and B W."
    )


def one_row_frames() -> str:
    """Microseconds for one row, in a frame and in an array."""
    rows = []
    for name, run in result_files.read("one_row_frames").items():
        cells = run["frame"], run["array"], run["frame"] - run["array"], run["limit"]
        rows.append([name, *(f"{cell:.0f}" for cell in cells)])
    return table(["one row", "frame, us", "array, us", "more, us", "limit"], rows)


def soak() -> str:
    steps = result_files.read("soak")["steps"]
    rules, drift = max(step["rules"] for step in steps), max(step["drift_of_inverse"] for step in steps)
    return f"Last run: everything finite, at most {rules} rules, P within {drift:.0e} of its definition."


def grid() -> str:
    found = result_files.read("grid_search")
    pass_, whole = found["shared_structure"], found["paper_grid"]
    return (
        f"Last run: the {pass_['pairs']} pairs of the paper at one vigilance took {pass_['shared_seconds']} s together "
        f"and {pass_['separate_seconds']} s\nseparately ({pass_['times_faster']} times); outputs differed by at most "
        f"{pass_['largest_difference']:.0e}. The whole grid ({whole['points']} points,\n{whole['folds']} folds) took "
        f"{whole['seconds_on_2_cores']} s on 2 cores."
    )


def shortening() -> str:
    """Antecedents before and after, and what it costs, for both profiles."""
    found = result_files.read("rule_shortening")
    heads = ["", "features", "kept", "labels alike", "term borders off by", "alike among labels on"]
    rows = []
    for profile in ("default", "paper"):
        for name, study in found[profile].items():
            short = study["shortened"]
            fidelities = [f"{short['labels']:.1%}", f"{study['terms']['mean']:.1%}", f"{short['positives']:.1%}"]
            title = name if profile == "default" else f"{name}, paper's profile"
            rows.append([title, str(study["antecedents"]), str(short["antecedents"]), *fidelities])
    return table(heads, rows)


def active_shares() -> str:
    """Set by set at the first budget, the mean at the others, and the paper's protocol."""
    found = result_files.read("active_learning")
    sets = found["sets"]
    first, *others = active_learning.BUDGETS
    budgets = {str(budget): f"{budget:.0%}" for budget in others}

    def share_text(row: str, budget: str) -> str:
        return " / ".join(f"{active_learning.mean_share(sets, budget, row, metric):.2f}" for metric in ("pa", "ap"))

    rows = [[row, *(share_text(row, budget) for budget in budgets)] for row in active_learning.ROWS]
    means = table(["mean share", *budgets.values()], rows)
    by_set, ordered = active_learning.table(sets, str(first)), active_learning.ordered_text(found["in_order"])
    return "\n\n".join([by_set, means, ordered])


def query_speed() -> str:
    shapes = result_files.read("query_speed")["shapes"]
    shown = ("score only", "next_query", "query + update")
    ways = [f"{per}: {way}" for per in ("labels", "samples") for way in shown]  # of the two defaults
    times = {way: [row["times_faster"][way] for row in shapes] for way in ways}
    rows = [[way, f"{min(found):.2f} to {max(found):.2f}"] for way, found in times.items()]
    return table(["times faster than learning", "least and most of five data sets"], rows)


PARTS: dict[str, Callable[[], str]] = {
    "PEERS": peers,
    "COMPARISON_TABLE": comparison,
    "SPEED_TABLE": speed,
    "PAPER_TABLE": paper,
    "SOAK_RESULT": soak,
    "GRID_RESULT": grid,
    "SHORTENING_TABLE": shortening,
    "ACTIVE_SHARES": active_shares,
    "ACTIVE_FEEDBACK": lambda: active_feedback.table(result_files.read("active_feedback")),
    "LAST_ANSWERS": lambda: last_answers.table(result_files.read("last_answers")),
    "ACTIVE_CONDITIONS": lambda: active_robustness.conditions_table(result_files.read("active_robustness")),
    "ACTIVE_DRIFTS": lambda: active_robustness.drifts_table(result_files.read("active_robustness")),
    "WORTH": lambda: worth_of_answers.worth_table(result_files.read("worth_of_answers")),
    "QUERY_SPEED": query_speed,
    **{f"TRUST_{part.upper()}": partial(trust_tables.table_of, part) for part in trust_tables.MAKERS},
    "ONE_ROW_FRAMES": one_row_frames,
}


def written(text: str) -> str:
    """The page `text` with every table that it has markers for; a table without results is left unchanged."""
    for name, part in PARTS.items():
        if f"<!-- {name} -->" not in text:
            continue
        try:
            body = f"<!-- {name} -->\n{part()}\n<!-- end -->"
        except FileNotFoundError:
            continue
        text = re.sub(rf"<!-- {name} -->.*?<!-- end -->", lambda _, body=body: body, text, flags=re.DOTALL)
    return text


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(written(page.read_text()))
