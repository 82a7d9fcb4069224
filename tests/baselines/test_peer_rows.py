"""The simple rivals, and river's, reach what was measured for them: benchmark protocol, seed 0, three decimals."""

import numpy as np
import pytest

from evolabel.baselines import GlobalRLS, RiverLearner, RunningPrior, SlidingKNN, river_model
from evolabel.evaluate import prequential
from evolabel.streams import load_dataset

LEARNERS = {
    "prior": lambda: RunningPrior(),
    "rls": lambda: GlobalRLS(),
    "rls, ridge 10": lambda: GlobalRLS(ridge=10.0),
    "rls, forgetting": lambda: GlobalRLS(forgetting=0.999),
    "knn, window 1000": lambda: SlidingKNN(),
    "knn, window 5000": lambda: SlidingKNN(window=5000),
    "river, per output": lambda: RiverLearner(river_model("per_output", "logistic")),
    "river, chain": lambda: RiverLearner(river_model("chain", "logistic")),
}

# data set, learner: PA, AP, macro-F1, subset accuracy
ROWS = [
    ("emotions", "rls", 0.7890, 0.7862, 0.626, 0.264),
    ("emotions", "rls, ridge 10", 0.7887, 0.7895, 0.572, 0.232),
    ("emotions", "rls, forgetting", 0.7859, 0.7849, 0.623, 0.253),
    ("emotions", "knn, window 1000", 0.7922, 0.7839, 0.624, 0.302),
    ("emotions", "knn, window 5000", 0.7922, 0.7839, 0.624, 0.302),
    ("emotions", "river, per output", 0.7595, 0.7653, 0.626, 0.224),
    ("emotions", "river, chain", 0.7686, 0.7694, 0.625, 0.222),
    ("yeast", "rls", 0.7959, 0.7504, 0.351, 0.144),
    ("yeast", "rls, ridge 10", 0.7997, 0.7561, 0.332, 0.148),
    ("yeast", "rls, forgetting", 0.7926, 0.7446, 0.350, 0.142),
    ("yeast", "knn, window 1000", 0.8004, 0.7573, 0.397, 0.191),
    ("yeast", "knn, window 5000", 0.8017, 0.7577, 0.408, 0.199),
    ("water-quality", "rls", 0.6958, 0.6796, 0.356, 0.006),
    ("water-quality", "rls, ridge 10", 0.6889, 0.6648, 0.272, 0.007),
    ("water-quality", "rls, forgetting", 0.6947, 0.6769, 0.359, 0.006),
    ("water-quality", "knn, window 1000", 0.7053, 0.6885, 0.484, 0.018),
    ("water-quality", "knn, window 5000", 0.7053, 0.6883, 0.484, 0.017),
    ("water-quality", "river, per output", 0.6923, 0.6798, 0.401, 0.008),
    ("water-quality", "river, chain", 0.6936, 0.6760, 0.366, 0.009),
    ("birds", "rls", 0.9432, 0.6009, 0.327, 0.483),
    ("birds", "rls, ridge 10", 0.9508, 0.6321, 0.195, 0.483),
    ("birds", "rls, forgetting", 0.9429, 0.5923, 0.324, 0.479),
    ("birds", "knn, window 1000", 0.9526, 0.5822, 0.131, 0.488),
    ("birds", "knn, window 5000", 0.9526, 0.5822, 0.131, 0.488),
    ("mediamill-5k", "prior", 0.9679, 0.6530, 0.017, 0.041),
    ("mediamill-5k", "rls", 0.9721, 0.7498, 0.036, 0.086),
    ("mediamill-5k", "rls, ridge 10", 0.9712, 0.7362, 0.031, 0.077),
    ("mediamill-5k", "rls, forgetting", 0.9724, 0.7505, 0.040, 0.093),
    ("mediamill-5k", "knn, window 1000", 0.9710, 0.7184, 0.074, 0.114),
    ("mediamill-5k", "knn, window 5000", 0.9733, 0.7523, 0.122, 0.157),
]

SLOW = ("yeast", "birds", "mediamill-5k")  # the others show the same learners


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "learner", "pa", "ap", "macro_f1", "subset"),
    [pytest.param(*row, marks=pytest.mark.slow if row[0] in SLOW else ()) for row in ROWS],
)
def test_reaches_the_measured_row(name, learner, pa, ap, macro_f1, subset):
    stream = load_dataset(name, nominal="codes").shuffled(0)
    metrics = ("pa", "ap", "macro_f1", "subset_accuracy")
    reached = prequential({"it": LEARNERS[learner]()}, stream, initial=0.2, metrics=metrics).summary["it"].metrics
    np.testing.assert_allclose(list(reached.values()), [pa, ap, macro_f1, subset], rtol=0.0, atol=0.00051)
