"""`PlantStream`: a plant of three pumps with known faults, of which a limit and a gauge change on the way."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from evolabel._utils.validation import check_number
from evolabel.streams.columns import ColumnKinds
from evolabel.streams.dataset import Dataset
from evolabel.typing import FloatArray

PUMPS = ("P-01", "P-02", "P-03")
UNITS = {"pressure": "bar", "flow": "m³/h", "temperature": "°C", "vibration": "mm/s"}
FAULTS = ("leak", "overheating", "wear")
LIMIT_MOVES, GAUGE_MOVES = 1200, 1800  # rows
HOT, HOT_LATER = 75.0, 70.0  # °C
GAUGE_READS_HIGHER = 2.0  # bar
LOW_PRESSURE, HIGH_FLOW, SHAKING, WARM = 5.2, 3.0, 5.5, 60.0
_USUAL, _SPREADS = (6.0, 3.0, 62.0, 3.6), (1.0, 0.6, 8.0, 1.1)  # of the sensors
_DECIMALS = 2
_PUMP_COLUMNS = tuple(f"pump={name}" for name in PUMPS)


class PlantRow(NamedTuple):
    """What is known of a pump at one time: `readings` of its sensors, None for a gap, and the `faults` it has."""

    pump: str
    readings: dict[str, float | None]
    faults: dict[str, bool]


@dataclass(frozen=True, kw_only=True)
class PlantStream:
    """Rows of three pumps in turns, each with four sensors and three faults, without end.

    A leak is a low pressure at a high flow. Overheating is a temperature above a limit, which falls at row 1,200. Wear
    is a rare fault of one pump: it vibrates while it is warm. From row 1,800 on the gauge of the pressure reads 2.0 bar
    too high; the pressure itself is as before. `truths` has the conditions as text.

    Parameters
    ----------
    gaps : float
        Share of the readings that are missing.
    seed : int
        Seed of all random draws.

    Examples
    --------
    >>> stream = PlantStream(seed=0)
    >>> next(iter(stream)).readings
    {'pressure': 6.13, 'flow': 2.92, 'temperature': 67.12, 'vibration': 3.72}
    >>> stream.dataset(3000)
    Dataset('plant', 3000 x 7, 3 labels)
    """

    gaps: float = 0.02
    seed: int = 0

    def __post_init__(self) -> None:
        check_number("gaps", self.gaps, 0, 1)
        check_number("seed", self.seed, 0, whole=True)

    def __iter__(self) -> Iterator[PlantRow]:
        """Iterate over the rows, without end."""
        rng, row = np.random.default_rng(self.seed), 0
        while True:
            pump, true = PUMPS[row % len(PUMPS)], rng.normal(_USUAL, _SPREADS)
            seen = true + np.array([GAUGE_READS_HIGHER if row >= GAUGE_MOVES else 0.0, 0.0, 0.0, 0.0])
            missing = rng.random(len(true)) < self.gaps
            readings = {
                name: None if gap else round(float(value), _DECIMALS)
                for name, value, gap in zip(UNITS, seen, missing, strict=True)
            }
            yield PlantRow(pump, readings, _faults(pump, true.round(_DECIMALS), row))
            row += 1

    def dataset(self, samples: int) -> Dataset:
        """Return the first `samples` rows as a data set with one column per sensor and per pump."""
        check_number("samples", samples, 1, whole=True)
        rows = list(islice(self, int(samples)))
        sensors = np.array([list(row.readings.values()) for row in rows], np.float64)
        pumps = np.array([[float(row.pump == name) for name in PUMPS] for row in rows])
        faults = np.array([list(row.faults.values()) for row in rows], np.float64)
        kinds = ColumnKinds(texts=_PUMP_COLUMNS)
        return Dataset(np.hstack([sensors, pumps]), faults, (*UNITS, *_PUMP_COLUMNS), FAULTS, "plant", kinds=kinds)


def truths() -> dict[str, str]:
    """Return the conditions that make each fault, as text, by its name."""
    gauge = f"{LOW_PRESSURE + GAUGE_READS_HIGHER:g} bar on its gauge from row {GAUGE_MOVES:,} on"
    return {
        "leak": f"pressure below {LOW_PRESSURE:g} bar ({gauge}) and flow above {HIGH_FLOW:g} m³/h",
        "overheating": f"temperature above {HOT:g} °C, above {HOT_LATER:g} °C from row {LIMIT_MOVES:,} on",
        "wear": f"vibration above {SHAKING:g} mm/s and temperature above {WARM:g} °C on {PUMPS[2]}",
    }


def plant_changes() -> dict[int, str]:
    """Return what changes in the plant, as text, by the row at which it does."""
    return {
        LIMIT_MOVES: f"the limit of overheating falls from {HOT:g} to {HOT_LATER:g} °C",
        GAUGE_MOVES: f"the gauge of the pressure begins to read {GAUGE_READS_HIGHER:g} bar too high",
    }


def _faults(pump: str, true: FloatArray, row: int) -> dict[str, bool]:
    """Return which faults `pump` has at `row`, by the `true` values of its sensors."""
    pressure, flow, temperature, vibration = true.tolist()
    return {
        "leak": pressure < LOW_PRESSURE and flow > HIGH_FLOW,
        "overheating": temperature > (HOT if row < LIMIT_MOVES else HOT_LATER),
        "wear": vibration > SHAKING and temperature > WARM and pump == PUMPS[2],
    }
