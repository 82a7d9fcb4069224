"""
A stage of your own: the last answers of the same machine
=========================================================

A machine that was faulty a minute ago is likely to be faulty now, whatever its sensors show. A stage adds to every
output the mean error of the last answers of the same machine.
"""

from typing import Annotated, NamedTuple

import matplotlib.pyplot as plt
import numpy as np

from evolabel import EvolvingFuzzyClassifier
from evolabel.checks import check_stage
from evolabel.stages import OwnStage, Schema, array
from evolabel.typing import FloatArray


class Errors(NamedTuple):
    mean: Annotated[FloatArray, array("machine", "label")]
    n: Annotated[FloatArray, array("machine", "label")]


class MachineErrors(OwnStage):
    name, schema = "machine_errors", Schema(Errors)

    def __init__(self, column, machines, rate=0.2):
        self.column, self.rate, self.sizes = column, rate, {"machine": machines}

    def answer(self, rows):
        rows.outputs += self.arrays.mean[self._machines(rows)]

    def learn_row(self, row, log):  # `row.outputs` are those of all stages so far, this one included
        self.arrays.mean[self._machines(row)] += self.rate * np.nan_to_num(row.Y - row.outputs)
        self.arrays.n[self._machines(row)] += ~np.isnan(row.Y)

    def merge(self, other, labels):
        (mean, n), theirs = self.arrays, self.placed(other, labels)
        mean[:], n[:] = (n * mean + theirs.n * theirs.mean) / np.maximum(n + theirs.n, 1.0), n + theirs.n

    def _machines(self, rows):
        return np.nan_to_num(rows.read[:, self.column]).astype(int) % self.sizes["machine"]


# Twenty machines: each is worn for a while, and then it is not. Worn machines leak at a lower pressure.
rng, n = np.random.default_rng(0), 6000
machine, sensors, worn = rng.integers(0, 20, n), rng.normal(size=(n, 3)), rng.random(20) < 0.3
states = np.array([worn := worn ^ (rng.random(20) < 0.002) for _ in range(n)])[np.arange(n), machine]
Y = np.column_stack([sensors[:, 0] + 2.0 * states > 1.2, sensors[:, 1] + rng.normal(0.0, 0.3, n) > 0.5])
X = np.column_stack([machine, sensors])
check_stage(MachineErrors(0, 20))
fig, ax = plt.subplots(figsize=(6, 4))
for name, stages in {"without": [], "with the stage": [MachineErrors(0, 20)]}.items():
    outputs = EvolvingFuzzyClassifier(stages=stages).test_then_train(X, Y)
    right = (outputs[:, 0] >= 0.5) == Y[:, 0]
    print(f"{name}: {right[1000:].mean():.1%} of the leaks are predicted right")
    ax.plot(np.convolve(right, np.ones(500) / 500, "valid"), label=name)
ax.set(xlabel="row", ylabel="right among 500 rows")
ax.legend()
