"""Write rules and explanations, as the library words them, into docs/how-to/reading-rules.md.

They are those of a pumping station, whose fault is a conjunction of thresholds; its rows are made here and learned in
one pass, all defaults.
"""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from evolabel import EvolvingFuzzyClassifier
from evolabel.core.events import SHIFTS, THRESHOLD_CHANGES
from evolabel.explain.rules import summary

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "reading-rules.md"
PUMP_ROWS = 6000
PUMP_REGIONS = 1  # region rules that are shown


def pump_rows(moved: float = 4.9) -> tuple[pd.DataFrame, np.ndarray]:
    """A pumping station: four sensors, four machines, two labels; the pressure is missing in 3 % of the rows.

    A leak is a pressure below 4.9, from half on below `moved`, and a flow above 3.2, except on M-01. The pump is busy
    where load and noise are high.
    """
    rng = np.random.default_rng(0)
    shared = rng.normal(size=PUMP_ROWS)
    means, deviations = np.array([6.0, 2.5, 50.0, 60.0]), np.array([1.2, 0.8, 15.0, 5.0])
    sensors = means + deviations * (0.5 * shared[:, None] + 0.9 * rng.normal(size=(PUMP_ROWS, 4)))
    machine = rng.integers(0, 4, PUMP_ROWS)
    edge = np.where(np.arange(PUMP_ROWS) < PUMP_ROWS // 2, 4.9, moved)
    leak = (sensors[:, 0] < edge) & (sensors[:, 1] > 3.2) & (machine != 0)
    busy = (sensors[:, 2:] - means[2:]) / deviations[2:] @ [1.0, 1.0] + rng.normal(size=PUMP_ROWS) > 0.0
    sensors[rng.random(PUMP_ROWS) < 0.03, 0] = np.nan
    names = ["pressure", "flow", "load", "noise", *(f"machine=M-0{m + 1}" for m in range(4))]
    rows = pd.DataFrame(np.column_stack([sensors, np.eye(4)[machine]]), columns=names)
    return rows, np.column_stack([leak, busy]).astype(float)


@cache
def pump() -> EvolvingFuzzyClassifier:
    """The classifier after one pass over the pumping station."""
    X, Y = pump_rows()
    clf = EvolvingFuzzyClassifier().partial_fit(X, Y)
    return clf.name_columns(list(X.columns), ["leak", "busy"])


def pump_rules() -> str:
    return pump().rules_.text.rstrip("\n")


def pump_regions() -> str:
    regions = pump().rules_.regions
    chosen = sorted(regions, key=lambda rule: -rule.support)[:PUMP_REGIONS]
    return "\n\n".join([summary(regions), *(rule.text for rule in chosen)])


def pump_explained() -> str:
    X, Y = pump_rows()
    leaks = np.flatnonzero(Y[:, 0])
    return pump().explain(X.iloc[leaks[-1] : leaks[-1] + 1]).text


def pump_events() -> str:
    """What is reported from row 2,500 on: leaks begin at another pressure, busy means idle, the noise reads 40 more."""
    X, Y = pump_rows(moved=5.5)
    Y[3500:, 1] = 1.0 - Y[3500:, 1]
    X.loc[5000:, "noise"] += 40.0
    clf = EvolvingFuzzyClassifier().partial_fit(X, Y).name_columns(list(X.columns), ["leak", "busy"])
    events = [event for event in clf.events_ if event.sample >= 2500]
    shown = [
        event for event in events if event.kind in SHIFTS or (event.kind in THRESHOLD_CHANGES and event.sample <= 3600)
    ]
    return "\n".join(str(event) for event in shown)


PARTS = {
    "PUMP_RULES": pump_rules,
    "PUMP_REGIONS": pump_regions,
    "PUMP_EXPLAINED": pump_explained,
    "PUMP_EVENTS": pump_events,
}


def written(text: str) -> str:
    """The page `text` with every output between its markers."""
    for name, part in PARTS.items():
        body = f"<!-- {name} -->\n```\n{part()}\n```\n<!-- end -->"
        text = re.sub(rf"<!-- {name} -->.*?<!-- end -->", lambda _, body=body: body, text, flags=re.DOTALL)
    return text


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
