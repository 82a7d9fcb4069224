"""What all searches share: checks of their options, and the points that they have scored."""

from typing import Any

from evolabel._utils.validation import check_number
from evolabel.errors import NotTrainedError


def check_search(cv: object, seed: object, n_jobs: object) -> None:
    """Raise ParameterError unless `cv` >= 2, `seed` >= 0 and `n_jobs` >= 1 (or -1) are whole numbers."""
    check_number("cv", cv, 2, whole=True)
    check_number("seed", seed, 0, whole=True)
    if n_jobs != -1:
        check_number("n_jobs", n_jobs, 1, whole=True, also=", or -1 for all cores")


def surface_of(search: object) -> list[dict[str, Any]]:
    """Return the points of `search` with their scores; NotTrainedError before `fit`."""
    if not hasattr(search, "surface_"):
        raise NotTrainedError("this search has not run yet; call fit first")
    surface: list[dict[str, Any]] = search.surface_
    return surface
