"""The accuracy study: pairs are paired rightly, the driver resumes, and its own learners do what they say."""

import numpy as np
import pytest
import studied
import study
import study_sets
from committees import Committee
from kernel_ridge import KernelRidge
from local_press import WEAKER, LocalPress
from low_rank import LowRank
from other_structures import Changed, Seeded, Splitting, farthest_first
from pairing import Gap, default_row, gap_row, verdict
from variants import DEFAULT, PARTS, VARIANTS

from evolabel.streams import DriftingStream


def scores(*values):
    return {"pa": list(values), "ap": list(values)}


def test_a_gap_is_the_mean_of_paired_differences_with_its_standard_error():
    gap = Gap([0.5, 0.7, 0.6], [0.4, 0.5, 0.6])
    assert gap.mean == pytest.approx(0.1)
    assert gap.error == pytest.approx(np.std([0.1, 0.2, 0.0], ddof=1) / np.sqrt(3))
    assert not gap.starred


def test_only_gaps_beyond_two_and_a_half_errors_are_starred():
    assert str(Gap([0.5020, 0.5022], [0.5, 0.5])) == "+.0021*"
    assert str(Gap([0.502, 0.4978], [0.5, 0.5])) == "-.0001"
    assert not Gap([0.9], [0.1]).starred, "one shuffle tells nothing about chance"


def test_gaps_use_the_seeds_both_have():
    assert Gap([0.5, 0.6], [0.4, 0.5, 0.9]).seeds == 2
    assert Gap([0.5, 0.6], [0.4, 0.5, 0.9]).mean == pytest.approx(0.1)


def test_rows_name_the_sets_that_were_not_run():
    default = {"a": scores(0.5, 0.6), "b": scores(0.7, 0.7)}
    assert default_row(default, ["a", "b"])[-1] == ".6250 / .6250"
    assert gap_row({"a": scores(0.6, 0.7)}, default, ["a", "b"]) == [
        "+.1000* / +.1000*", "not run", "+.1000 / +.1000 (1 sets)",
    ]  # fmt: skip


def test_the_verdict_lists_what_is_beyond_noise():
    default = {"a": scores(0.5, 0.6), "b": scores(0.7, 0.7)}
    found = verdict({"a": scores(0.6, 0.7), "b": scores(0.6, 0.61)}, default, ["a", "b"])
    assert found["better"] == ["a pa", "a ap"]
    assert found["worse"] == ["b pa", "b ap"]
    assert found["mean"] == pytest.approx([0.0025, 0.0025])


@pytest.fixture
def tiny(stream, monkeypatch):
    """The driver sees one small stream under every name; the list says what was loaded."""
    loaded = []

    def load(name, seed, nominal="codes"):
        loaded.append((name, seed))
        return study_sets.Split(*stream, 60)

    monkeypatch.setattr(study_sets, "load", load)
    return loaded


def test_the_driver_runs_what_is_missing_and_nothing_twice(tiny, tmp_path):
    variants, sets = [DEFAULT, "max_rules=5"], ["tiny", study.LARGE]
    study.run(variants, sets, 2, study.Store(tmp_path / "study.json"), large_seeds=1)
    assert len(tiny) == 6
    again = study.Store(tmp_path / "study.json")
    study.run(variants, sets, 3, again, large_seeds=1)
    assert tiny[6:] == [("tiny", 2), ("tiny", 2)]
    assert again.done("max_rules=5", "tiny") == 3
    assert again.done("max_rules=5", study.LARGE) == 1
    lines = study.table(["max_rules=5"], ["tiny"], again).splitlines()
    assert len(lines) == 4
    assert lines[-1].startswith("| max_rules=5 | ")


def test_a_cold_start_is_scored_on_the_same_rows(stream):
    X, Y = stream
    found = study.score(VARIANTS["no batch, warm_up=40"], study_sets.Split(X, Y, 60), 0)
    outputs = studied.classifier(warm_up=40).test_then_train(X, Y)[60:]
    assert found["pa"] == pytest.approx(((outputs >= 0.5) == Y[60:]).mean())


def test_every_variant_of_every_part_can_be_made():
    names = [name for part in PARTS.values() for name in part]
    assert all(hasattr(VARIANTS[name].make(0), "test_then_train") for name in names)


def test_sets_beyond_the_five_have_rows_and_labels():
    for name in ("wine", "solar-flare", "drift-new_label"):
        X, Y, initial = study_sets.load(name, 0)
        assert len(X) == len(Y) > 2 * initial > 0
        assert np.nanmin(Y) == 0
        assert np.nanmax(Y) == 1


def test_unknown_arff_files_in_the_data_folder_are_found_and_read(tmp_path, monkeypatch):
    (tmp_path / "yeast").mkdir()
    (tmp_path / "yeast" / "yeast.arff").write_text("")
    own = tmp_path / "own.arff"
    own.write_text("@relation 'own: -C 1'\n@attribute y {0,1}\n@attribute x numeric\n@data\n" + "1,2\n0,3\n" * 5)
    monkeypatch.setenv("EVOLABEL_DATA", str(tmp_path))
    assert study.chosen_sets(["files", "wine"]) == [str(own), "wine"]
    assert study_sets.load(str(own), 0).initial == 2


# ---------------------------------------------------------------------- the study's own learners


def answers(learner, stream, first=60):
    X, Y = stream
    return learner.fit(X[:first], Y[:first]).test_then_train(X[first:], Y[first:])


def test_the_frame_of_changed_models_changes_nothing_itself(stream):
    assert np.array_equal(answers(Changed(max_rules=6), stream), answers(studied.classifier(max_rules=6), stream))


@pytest.mark.compiled
@pytest.mark.slow  # its kernels are compiled in every run
@pytest.mark.parametrize("novel_z", [6.0, 0.5])
def test_local_models_of_full_rank_are_the_packages_own(stream, novel_z):
    options = {"max_rules": 6, "novel_z": novel_z}
    expected = answers(studied.classifier(**options), stream)
    np.testing.assert_allclose(answers(LowRank(4, **options), stream), expected, rtol=0, atol=1e-10)


def test_seeded_rules_start_apart_and_splitting_keeps_the_number_of_rules(stream):
    X = stream[0]
    chosen = farthest_first(X, 3, 0)
    assert len(np.unique(chosen, axis=0)) == 3
    for learner in (Seeded(farthest_first, max_rules=6), Splitting(10, 1.5, max_rules=6)):
        assert np.isfinite(answers(learner, stream)).all()
        assert learner.model.trained().n_rules == 6
    assert any(event.kind == "joined" for event in learner.model.trained().events)


def test_a_leader_answers_as_the_best_so_far_and_the_default_first(stream):
    change = {"max_rules": 1}
    led = answers(Committee(change, leader=True), stream)
    default, other = answers(studied.classifier(), stream), answers(studied.classifier(**change), stream)
    Y = stream[1][60:]
    losses = [np.cumsum(((one - Y) ** 2).sum(axis=1))[:-1] for one in (default, other)]
    expected = np.where((losses[1] < losses[0])[:, None], other[1:], default[1:])
    assert np.array_equal(led[0], default[0])
    assert np.array_equal(led[1:], expected)


def test_kernel_ridge_learns(stream):
    Y = stream[1][60:]
    prior = np.tile(stream[1][:60].mean(axis=0), (len(Y), 1))
    assert ((answers(KernelRidge(), stream) - Y) ** 2).mean() < 0.9 * ((prior - Y) ** 2).mean()


def test_the_chosen_local_ridge_is_a_parameter_of_the_package(stream):
    learner = LocalPress(max_rules=6)
    found = answers(learner, stream)
    local = learner.chosen[-1]
    assert local in WEAKER
    expected = answers(studied.classifier(max_rules=6, local_ridge=local), stream)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_where_regions_differ_the_local_ridge_gives_way():
    X, Y = DriftingStream(n_features=6, n_labels=3, n_regions=4, drift="none", noise=0.0, seed=0).take(300)
    learner = LocalPress()
    learner.fit(X, Y)
    assert learner.chosen[-1] < 0.2


def test_without_an_initial_batch_changed_models_take_the_first_rows_as_one(stream):
    X, Y = stream
    expected = studied.classifier(warm_up=40).test_then_train(X, Y)[40:]
    assert np.array_equal(Changed(warm_up=40).test_then_train(X, Y)[40:], expected)
