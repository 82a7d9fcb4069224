"""Means, spreads and differences over seeds."""

import numpy as np
import pytest

from evolabel.baselines import RunningPrior
from evolabel.errors import FileFormatError, ParameterError
from evolabel.evaluate import Repeated, Results, Spread, prequential, repeat
from evolabel.streams import DriftingStream


@pytest.fixture(scope="module")
def repeated():
    def run(seed):
        learners = {"slow": RunningPrior(), "same": RunningPrior()}
        return prequential(learners, DriftingStream(seed=seed), samples=120, metrics=("pa", "ap"), every=20)

    return repeat(run, range(3))


def test_standings_are_means_and_sample_deviations(repeated):
    values = [run.summary["slow"].metrics["pa"] for run in repeated.runs.values()]
    assert repeated.ranking()[0].metrics["pa"] == Spread(np.mean(values), np.std(values, ddof=1))


def test_learners_that_do_the_same_are_not_ahead(repeated):
    for row in repeated.ranking():
        assert row.ahead == {"pa": Spread(0.0, 0.0), "ap": Spread(0.0, 0.0)}


def test_trend_lines_hold_all_seeds(repeated):
    samples, values = repeated.trend("slow", "pa", "cumulative")
    assert samples == [20, 40, 60, 80, 96]
    assert [len(at) for at in values] == [3] * 5
    assert values[-1] == [run.summary["slow"].metrics["pa"] for run in repeated.runs.values()]


def test_every_seed_is_written_and_can_be_read(repeated, tmp_path):
    repeated.write(tmp_path / "out")
    again = Results.read(tmp_path / "out" / "seed-2")
    assert again.summary["slow"].metrics == repeated.runs[2].summary["slow"].metrics
    assert (tmp_path / "out" / "summary.json").is_file()


def test_results_of_other_seeds_go_and_files_of_the_user_stay(repeated, tmp_path):
    mine = [tmp_path / name for name in ("seed-corpus/results.json", "seed-7/mine.txt", "seed-8/mine.txt", "seed-x")]
    for file in mine:
        file.parent.mkdir(exist_ok=True)
        file.write_text("mine")
    (tmp_path / "seed-9").mkdir()
    for old in ("seed-5", "seed-7"):
        repeated.runs[0].write(tmp_path / old)
        (tmp_path / old / "scores.npz").touch()
    repeated.write(tmp_path)
    assert [file.read_text() for file in mine] == ["mine"] * 4
    assert [file.name for file in (tmp_path / "seed-7").iterdir()] == ["mine.txt"]
    assert not (tmp_path / "seed-5").exists()
    assert (tmp_path / "seed-9").is_dir()


def test_a_file_is_no_folder(repeated, tmp_path):
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(FileFormatError, match="give a folder"):
        repeated.write(tmp_path / "taken")
    assert (tmp_path / "taken").read_text() == "mine"


def test_spreads_are_written_shortly():
    assert f"{Spread(0.81234, 0.0):.3f}" == "0.812"
    assert f"{Spread(0.81234, 0.00456):.3f}" == "0.812 ± 0.005"


def test_no_runs_are_refused():
    with pytest.raises(ParameterError, match="at least one seed"):
        Repeated({})
