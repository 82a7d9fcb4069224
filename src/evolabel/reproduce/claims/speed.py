"""Claims about the time an update takes: Table 2."""

from evolabel.reproduce.claims.verdict import Claim, Measured, listed
from evolabel.reproduce.experiments import SETS
from evolabel.reproduce.findings import Findings
from evolabel.reproduce.methods import Profile

# Seconds per sample as printed in Table 2, by set: ours, one-versus-rest, chain.
PAPER_SECONDS: dict[str, dict[str, float]] = {
    "birds": {"ours": 0.289, "ovr": 0.868, "chain": 1.078},
    "emotions": {"ours": 0.070, "ovr": 0.107, "chain": 0.172},
    "water-quality": {"ours": 0.033, "ovr": 0.093, "chain": 0.324},
    "yeast": {"ours": 0.063, "ovr": 0.147, "chain": 0.171},
    "mediamill": {"ours": 0.41, "ovr": 0.94, "chain": 1.56},
}
EXCEPTED = "emotions"
HERTZ = {"birds": 1.0, "mediamill": 1.0, "emotions": 10.0, "water-quality": 10.0, "yeast": 10.0}


def times_faster(findings: Findings, profile: Profile, dataset: str, rival: str) -> float:
    """How many updates of ours fit into one of the rival."""
    mine = findings.milliseconds(dataset, profile, "ours")
    return findings.milliseconds(dataset, profile, rival) / mine


def _faster_than(rival: str, title: str, times: float, note: str) -> Claim:
    sets = tuple(name for name in SETS if name != EXCEPTED)

    def check(findings: Findings, profile: Profile) -> Measured:
        found = {name: times_faster(findings, profile, name, rival) for name in sets}
        told = listed({name: f"{value:.1f}x" for name, value in found.items()})
        return Measured(all(value >= times for value in found.values()), told)

    return Claim(
        f"faster-than-{rival}",
        "table2",
        f"updates at least {times:g} times as fast as {title}, except on emotions",
        f"a ratio of at least {times:g} on each of the other sets{note}",
        check,
        "Each method has the number of rules that its own tuning found best: a rival with a high vigilance keeps few "
        "rules per label, and K small updates can then cost less than one large one.",
    )


def _frequency() -> Claim:
    def check(findings: Findings, profile: Profile) -> Measured:
        found = {name: 1e3 / findings.milliseconds(name, profile, "ours") for name in HERTZ}
        told = listed({name: f"{value:,.0f} Hz" for name, value in found.items()})
        return Measured(all(found[name] >= hertz for name, hertz in HERTZ.items()), told)

    return Claim(
        "frequency",
        "table2",
        "keeps up with 1 Hz on birds and mediamill and with 10 Hz on the others",
        "samples answered and learned per second",
        check,
        "The machine was too busy, or too slow.",
    )


CLAIMS = (
    _faster_than("ovr", "one-versus-rest", 2.0, ""),
    _faster_than("chain", "the chain", 3.0, " (the paper's own table gives 2.7 on yeast)"),
    _frequency(),
)
