"""Searches run on clusters by the name of a joblib backend."""

import re

import pytest
from joblib import delayed

from evolabel import EvolvingFuzzyClassifier
from evolabel._utils import optional
from evolabel._utils.optional import install_command
from evolabel.errors import MissingDependencyError, ParameterError
from evolabel.paper import PaperGridSearch
from evolabel.paper.tuning.parallel import run_all
from evolabel.streams import DriftingStream

GRID = {"vigilance": [0.5, 1.0], "alpha": [0.0, 0.1]}


def test_a_dask_cluster_finds_the_same():
    distributed = pytest.importorskip("distributed")
    X, Y = DriftingStream(seed=0).take(90)
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):
        there = PaperGridSearch(EvolvingFuzzyClassifier.paper(), GRID, cv=2, n_jobs=2, backend="dask").fit(X, Y)
    here = PaperGridSearch(EvolvingFuzzyClassifier.paper(), GRID, cv=2).fit(X, Y)
    assert there.surface_ == here.surface_


def test_dask_without_a_cluster_says_what_to_start():
    pytest.importorskip("distributed")
    with pytest.raises(ParameterError, match=r"(?s)^backend='dask' cannot be used [^\n]*Client first$"):
        list(run_all([delayed(abs)(-1)], 2, "dask"))


def test_an_unknown_backend_is_refused():
    with pytest.raises(ParameterError, match="backend='cloud' cannot be used"):
        list(run_all([delayed(abs)(-1)], 2, "cloud"))


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(optional, "import_module", absent)
    with pytest.raises(MissingDependencyError, match=re.escape(install_command("ray"))):
        list(run_all([delayed(abs)(-1)], 2, "ray"))
