"""`HalvingSearch`: all parameters at once, for users who will not wait: random points, the worse ones dropped early."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from evolabel._utils.text import call_of
from evolabel._utils.validation import check_number
from evolabel.errors import DivergenceError
from evolabel.tuning.batch import check_search, check_values, read_batch, read_estimator
from evolabel.tuning.folds import Score, check_judgeable, folds, judges_decisions, read_score, scored
from evolabel.tuning.grid import Grid
from evolabel.tuning.shared import separate_answers
from evolabel.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from evolabel.classifier.estimator import EvolvingFuzzyClassifier

KEPT = 3  # of so many points, one goes on
MOST_CUT = 10  # no round sees less than this share of the batch

# Values worth trying for every parameter that shapes the default profile.
ALL_PARAMETERS: dict[str, tuple[Any, ...]] = {
    "scaling": ("quantile", "standard"),
    "max_rules": (10, 20, 30, 50),
    "vigilance": (0.25, 0.5, 1.0),
    "prior_count": (10.0, 31.0, 100.0),
    "temperature": ("0.05p", "0.1p", "0.2p", "sqrt"),
    "global_ridge": (0.5, 1.5, 5.0),
    "local_ridge": (0.05, 0.2, 0.5, 1.0),
    "alpha": (0.0, 0.0, 0.0, 0.01, 0.1),  # most points without: iterated weights take longer
    "beta": (0.0, 0.0, 0.0, 0.1, 1.0),
}


class HalvingSearch:
    """Draw points at random, try them on a part of the batch, keep the best third, try these on more of it.

    Early rounds see few rows and err. So the estimator's own parameters take part in every round, and what is found is
    never worse, by the score on all rows, than the estimator as it was given.

    Parameters
    ----------
    estimator : EvolvingFuzzyClassifier, optional
        Where all other parameters come from; the default if not given. Its own parameters are always among the points.
    values : dict of str to sequence, optional
        What to draw from; the parameters that shape the default profile if not given.
    candidates : int
        Points at the start.
    cv : int
        Folds.
    score : str or callable
        As in `GridSearch`.
    seed : int
    n_jobs : int
        Processes; -1 for all cores.

    Attributes
    ----------
    best_params_ : dict
    best_score_ : float
    best_estimator_ : EvolvingFuzzyClassifier, trained on the whole batch
    surface_ : list of dict, one per point and round: its parameters, the rows it was tried on, the score

    See Also
    --------
    GridSearch : every point of a grid; it tunes the paper's profile, not the default, where no estimator is given.
    TunedClassifier : a small grid around the default, tuned and then learning on.

    Examples
    --------
    >>> from evolabel.streams import DriftingStream
    >>> X, Y = DriftingStream(seed=0).take(150)
    >>> search = HalvingSearch(candidates=9, values={"max_rules": [1, 5, 10, 20], "local_ridge": [0.1, 1.0]}).fit(X, Y)
    >>> search.best_params_["max_rules"] > 1
    True
    """

    best_params_: dict[str, Any]
    best_score_: float
    best_estimator_: "EvolvingFuzzyClassifier"
    surface_: list[dict[str, Any]]

    def __init__(
        self,
        estimator: "EvolvingFuzzyClassifier | None" = None,
        values: Mapping[str, Sequence[Any]] | None = None,
        *,
        candidates: int = 54,
        cv: int = 3,
        score: str | Score = "pa",
        seed: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.estimator = estimator
        self.values = values
        self.candidates = candidates
        self.cv = cv
        self.score = score
        self.seed = seed
        self.n_jobs = n_jobs

    def fit(self, X: object, y: object) -> Self:
        """Search on the initial batch X, y (a label matrix), then train the best on all of it."""
        from sklearn.base import clone

        check_search(self.cv, self.seed, self.n_jobs)
        check_number("candidates", self.candidates, 1, whole=True)
        base = read_estimator(self.estimator, paper=False)
        values = Grid.of(ALL_PARAMETERS if self.values is None else self.values).values
        check_values(base, values, decided=judges_decisions(self.score))
        rows, labels = read_batch(base, X, y)
        order = np.random.default_rng(self.seed).permutation(len(rows))
        own, *drawn = self._points(base, values)
        surface: list[dict[str, Any]] = []
        best, best_score = own, float("nan")
        for size in _sizes(len(rows), 1 + len(drawn), 2 * int(self.cv)):
            points = [own, *drawn]  # the first of equals is the best
            scores = self._scores(base, points, rows[order[:size]], labels[order[:size]])
            surface += [{**p, "rows": size, "score": s} for p, s in zip(points, scores, strict=True)]
            ranked = sorted(range(len(points)), key=lambda n: -np.nan_to_num(scores[n], nan=-np.inf))
            best, best_score = points[ranked[0]], scores[ranked[0]]
            drawn = [points[n] for n in ranked if points[n] is not own][: -(-len(drawn) // KEPT)]
        if np.isnan(best_score):
            raise DivergenceError("no point gave finite answers; use a safe coupling, or smaller values")
        self.best_estimator_ = clone(base).set_params(**best).fit(X, y)
        self.surface_, self.best_params_, self.best_score_ = surface, best, best_score
        return self

    def _scores(
        self, base: "EvolvingFuzzyClassifier", points: list[dict[str, Any]], rows: FloatArray, labels: FloatArray
    ) -> list[float]:
        """Mean score of every point over the folds."""
        held_out = list(folds(len(rows), int(self.cv), self.seed))
        check_judgeable(read_score(self.score), labels, held_out)
        calls = (delayed(_cross_validated)(base, point, rows, labels, held_out, self.score) for point in points)
        return list(Parallel(n_jobs=self.n_jobs)(calls))

    def _points(self, base: "EvolvingFuzzyClassifier", values: dict[str, tuple[Any, ...]]) -> list[dict[str, Any]]:
        """The estimator's own parameters, and as many random ones as asked for, each once."""
        rng = np.random.default_rng(self.seed)
        points = [{name: base.get_params()[name] for name in values}]
        for _ in range(10 * self.candidates):
            point = {name: given[int(rng.integers(len(given)))] for name, given in values.items()}
            if point not in points:
                points.append(point)
            if len(points) >= self.candidates:
                break
        return points

    def __repr__(self) -> str:
        return call_of(self)


def _sizes(rows: int, points: int, least: int) -> list[int]:
    """Rows of each round: the last has all, each before it a third; as many rounds as there are thirds of points."""
    rounds = max(math.ceil(math.log(points, KEPT)), 1)
    return sorted({max(rows // KEPT**back, min(least, rows), rows // MOST_CUT) for back in range(rounds)})


def _cross_validated(
    base: "EvolvingFuzzyClassifier",
    point: dict[str, Any],
    rows: FloatArray,
    labels: FloatArray,
    held_out: list[BoolArray],
    score: str | Score,
) -> float:
    scores: list[float] = []
    with threadpool_limits(1):
        for out in held_out:
            batch = rows[~out], labels[~out]
            answers = separate_answers(base, [point], batch, rows[out], judges_decisions(score))
            scores += scored(read_score(score), labels[out], answers)
    return float(np.mean(scores))
