"""What threshold rules are asked to reach, beside what they reached."""

from collections.abc import Callable, Iterable, Mapping
from statistics import mean, median
from typing import Any

from drift_streams import NINE, PLAIN, SENSORS
from drift_tables import MARGIN, Target, at_least, signed

from evolabel._utils.text import counted
from evolabel.words.markup import table

STREAMS = {  # least score over all rows, and in the last quarter
    "agrawal0": (0.995, None),
    "agrawal2": (0.995, None),
    "xor": (0.995, None),
    "agrawal4": (0.98, None),
    "agrawal0to2": (0.975, 0.995),
    "moving": (0.985, 0.995),
    "five": (0.98, None),
    "plant": (0.83, 0.92),
}
LEAST_TRUE = {"five": 1.0, "plant": 0.95}  # share of the conditions that name a true feature
LEAST_TRUE_OF_ALL = 0.95
LARGEST_ERROR = 0.2  # median error of edges, percent of the range
NOT_NEEDED = ("agrawal6", "sea", "sine", "waveform", "phishing")  # streams without thresholds to be found
ONLINE = ("Hoeffding tree", "adaptive tree", "adaptive forest")
CLEARLY_AHEAD = 0.1  # of random questions, in macro F1 on plant
BEHIND = 0.02  # not behind a peer that learns online by more than this on any stream


def targets(product: Mapping[str, Any], prototype: Mapping[str, Any], peers: Mapping[str, Any]) -> str:
    """Return every target beside what was reached; those whose part was not measured are listed as such."""
    makers: dict[str, Callable[[], Iterable[Target]]] = {
        "streams": lambda: of_streams(product["streams"]),
        "prototype": lambda: of_prototype(product["streams"], prototype["streams"]),
        "peers": lambda: of_peers(product["streams"], peers),
        "reading": lambda: of_reading(product["reading"]),
        "data sets": lambda: of_sets(product["sets"]),
        "drift": lambda: of_drift(product["drift"]),
        "time": lambda: of_times(product["time"]),
        "asking": lambda: of_asking(product["asking"]),
    }
    rows = []
    for name, make in makers.items():
        try:
            rows += [[what, limit, reached, "yes" if met else "NO"] for what, limit, reached, met in make()]
        except KeyError:
            rows.append([name, "", "not measured", ""])
    return table(["what", "target", "reached", "met"], rows)


def mean_score(runs: Mapping[str, Any], way: str = "on", key: str = "score") -> float:
    """Return the mean of `key` over the seeds of `runs`."""
    return mean(run[way][key] for run in runs.values())


def not_below(what: str, lost: Mapping[str, float], limit: float) -> Target:
    """Return a target that holds if the worst of the differences `lost`, by name, is at least -`limit`."""
    if not lost:
        raise KeyError(what)
    worst = min(lost, key=lambda name: lost[name])
    return Target(what, f">= -{limit:g}", f"{lost[worst]:+.5f} ({worst})", lost[worst] >= -limit)


def of_streams(found: Mapping[str, Any]) -> list[Target]:
    """Return the targets of the scores, and of streams on which threshold rules are not needed."""
    results = []
    for name, limits in STREAMS.items():
        for key, limit in zip(("score", "last quarter"), limits, strict=True):
            if limit is not None:
                results.append(at_least(f"{name}, {key}", limit, mean_score(found[name], key=key)))
    lost = {name: mean_score(found[name]) - mean_score(found[name], "off") for name in NOT_NEEDED}
    single = {f"seed {seed}": run["on"]["score"] - run["off"]["score"] for seed, run in found["led"].items()}
    results.append(not_below("no thresholds needed, worst on - off", lost, 0.001))
    results.append(not_below("LED, worst seed, on - off", single, 0.003))
    return results


def of_prototype(product: Mapping[str, Any], prototype: Mapping[str, Any]) -> list[Target]:
    """Return the distance to the prototype on the worst stream."""
    lost = {name: mean_score(product[name]) - mean_score(prototype[name]) for name in prototype}
    return [not_below("worst stream minus the prototype's", lost, MARGIN)]


def leads(learner: str, peers: Mapping[str, Any], product: Mapping[str, Any], seed: str) -> dict[str, float]:
    """Return by how much the product is ahead of `learner` on every stream that both have, with the same `seed`."""
    return {
        name: product[name][seed]["on"]["score"] - found[learner]["score"]
        for name, found in peers.items()
        if learner in found and seed in product.get(name, {})
    }


def of_peers(product: Mapping[str, Any], peers: Mapping[str, Any]) -> list[Target]:
    """Return the targets beside each peer that learns online: on the mean, and on the worst stream."""
    results = []
    for learner in ONLINE:
        lead = leads(learner, peers["streams"], product, str(peers["seed"]))
        worst = not_below(f"worst stream minus the {learner}'s", lead, BEHIND)
        ahead = mean(lead.values())
        what = f"mean of {counted(len(lead), 'stream')} minus the {learner}'s"
        results += [Target(what, "> 0", signed(ahead), ahead > 0.0), worst]
    return results


def of_reading(found: Mapping[str, Any]) -> list[Target]:
    """Return the targets of conditions and edges."""
    shares = {name: true_share(runs.values()) for name, runs in found.items()}
    everything = true_share([run for runs in found.values() for run in runs.values()])
    errors = {
        name: median([error for run in runs.values() for error in run["errors"]] or [float("inf")])
        for name, runs in found.items()
    }
    worst = max(errors, key=lambda name: errors[name])
    reached = f"{errors[worst]:.3f} ({worst})"
    return [
        *(
            at_least(f"{name}, conditions that name a true feature", least, shares[name])
            for name, least in LEAST_TRUE.items()
        ),
        at_least("all conditions that name a true feature", LEAST_TRUE_OF_ALL, everything),
        Target("median edge error, % of the range", f"<= {LARGEST_ERROR}", reached, errors[worst] <= LARGEST_ERROR),
    ]


def true_share(runs: Iterable[Mapping[str, Any]]) -> float:
    """Return the share of the conditions of `runs` that name a true feature; 0 without conditions."""
    known = list(runs)
    return sum(run["true"] for run in known) / max(1, sum(run["conditions"] for run in known))


def of_sets(found: Mapping[str, Any]) -> list[Target]:
    """Return the targets of PA and AP on the data sets."""
    results = []
    for key in ("pa", "ap"):
        lost = {name: mean_score(runs, "on", key) - mean_score(runs, "off", key) for name, runs in found.items()}
        results.append(not_below(f"five sets, {key.upper()}, worst on - off", lost, 0.0005))
    return results


def of_drift(found: Mapping[str, Any]) -> list[Target]:
    """Return the targets on drifting streams, their twins, and streams whose sensors move."""
    later = [run["on"]["after"] for name in NINE for run in found[name].values()]
    return [
        at_least("nine drifting streams", 0.9, mean(mean_score(found[name]) for name in NINE)),
        at_least("first 1,000 rows after a drift", 0.85, mean(after for after in later if after is not None)),
        at_least("the same without drift", 0.92, mean(mean_score(found[name]) for name in PLAIN)),
        at_least("sensors that move", 0.92, mean(mean_score(found[name]) for name in SENSORS)),
    ]


def of_times(found: Mapping[str, Any]) -> list[Target]:
    """Return the targets of the processor time and of the longest call."""
    runs = {name: run for name, seeds in found.items() for run in seeds.values()}
    more = {name: run["on"]["us"] - run["off"]["us"] for name, run in runs.items()}
    ratios = {name: more[name] / run["off"]["us"] for name, run in runs.items() if run["features"] >= 100}
    small = {name: more[name] for name, run in runs.items() if run["features"] <= 30 and run["labels"] <= 14}
    longest = {name: run["on"]["longest_ms"] for name, run in runs.items() if run["features"] <= 120}
    return [
        at_most("time that is added / time without, 100 or more features", 1.2, ratios),
        at_most("us that are added, at most 30 features and 14 labels", 40.0, small),
        at_most("longest call, ms, at most 120 features and 101 labels", 10.0, longest),
    ]


def of_asking(found: Mapping[str, Any]) -> list[Target]:
    """Return by how much chosen questions are ahead of random ones: on plant, and where they gain least."""
    gains = {
        (name, f"{float(budget):.0%} of the {per}"): mean(
            run[budget][per]["chosen"]["score"] - run[budget][per]["random"]["score"] for run in runs.values()
        )
        for name, runs in found.items()
        for budget, ways in next(iter(runs.values())).items()
        for per in ways
    }
    on_plant = min((gain for (name, _), gain in gains.items() if name == "plant"), default=None)
    return [
        at_least("plant, chosen minus random questions, least of both budgets and kinds", CLEARLY_AHEAD, on_plant),
        not_below("worst stream, chosen minus random questions", {" ".join(k): v for k, v in gains.items()}, MARGIN),
    ]


def at_most(what: str, limit: float, reached: Mapping[str, float]) -> Target:
    """Return a target that holds if the largest of `reached`, by name, is at most `limit`."""
    if not reached:
        raise KeyError(what)
    worst = max(reached, key=lambda name: reached[name])
    return Target(what, f"<= {limit:g}", f"{reached[worst]:.2f} ({worst})", reached[worst] <= limit)
