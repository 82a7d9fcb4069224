"""A run that was interrupted goes on where its checkpoint stood, and ends as if nothing had happened."""

import os
from contextlib import suppress
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prequential_helpers import Echo, SwiftEcho, small_stream, without_times

from evolabel import EvolvingFuzzyClassifier
from evolabel.errors import CheckpointError
from evolabel.evaluate.prequential import prequential
from evolabel.streams import DriftingStream
from evolabel.streams.dataset import Dataset

CLOCK = "evolabel.evaluate.checkpoint.monotonic"
ROWS = 40
OPTIONS = {"initial": 6, "every": 4, "window": 9, "checkpoint_every": 0, "keep_scores": True}


class Killed(Exception):
    """What ends a run in these tests."""


def stop_after(steps):
    """A listener that ends the run after so many steps of a learner."""
    told = 0

    def listen(_):
        nonlocal told
        told += 1
        if told >= steps:
            raise Killed

    return listen


def learners():
    return {"slow": Echo(0.1), "swift": SwiftEcho(0.6)}


def interrupted(path, steps, stream=None, **changes):
    """Leave the checkpoint of a run that was killed."""
    options = {**OPTIONS, **changes}
    with pytest.raises(Killed):
        prequential(learners(), stream or small_stream(ROWS), checkpoint=path, progress=stop_after(steps), **options)
    return path


@settings(max_examples=40, deadline=None)
@given(
    steps=st.lists(st.integers(1, 18), min_size=1, max_size=4),
    delay=st.sampled_from([0, 3, (0, 7)]),
    annotated=st.sampled_from([0.5, 1.0]),
    initial=st.sampled_from([0, 6]),
    checkpoint_every=st.integers(0, 5),
)
def test_a_run_killed_at_any_steps_ends_like_one_that_never_was(
    tmp_path_factory, steps, delay, annotated, initial, checkpoint_every
):
    path = tmp_path_factory.mktemp("run") / "checkpoint"
    options = OPTIONS | {"delay": delay, "annotated": annotated, "initial": initial}
    expected = prequential(learners(), small_stream(ROWS), **options)
    options |= {"checkpoint": path, "checkpoint_every": checkpoint_every}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CLOCK, count().__next__)  # a second passes whenever it is looked at
        for step in steps:
            with suppress(Killed):
                prequential(learners(), small_stream(ROWS), progress=stop_after(step), **options)
        results = prequential(learners(), small_stream(ROWS), **options)
    assert without_times(results) == without_times(expected)
    assert repr(results.learners["slow"].memory) == repr(expected.learners["slow"].memory)


def test_the_classifier_goes_on_bit_for_bit(gappy_stream, tmp_path):
    def run(**options):
        learner = EvolvingFuzzyClassifier(max_rules=4, warm_up=20)
        return prequential(learner, gappy_stream, initial=0, every=10, delay=(0, 4), keep_scores=True, **options)

    saved = {"checkpoint": tmp_path / "run", "checkpoint_every": 0}
    with pytest.raises(Killed):
        run(progress=stop_after(5), **saved)
    assert without_times(run(**saved)) == without_times(run())


def test_a_resumed_run_does_not_begin_again(tmp_path):
    path = interrupted(tmp_path / "run", steps=9)
    events = []
    prequential(learners(), small_stream(ROWS), checkpoint=path, progress=events.append, **OPTIONS)
    assert [(event.learner, event.done) for event in events[:2]] == [("slow", 20), ("swift", 20)]


@pytest.mark.parametrize("seed", [1, 2])
def test_an_endless_stream_is_brought_to_where_it_was(tmp_path, seed):
    def run(**options):
        return prequential(learners(), DriftingStream(seed=seed), samples=ROWS, **OPTIONS, **options)

    with pytest.raises(Killed):
        run(checkpoint=tmp_path / "run", progress=stop_after(9))
    assert without_times(run(checkpoint=tmp_path / "run")) == without_times(run())


def test_the_checkpoint_is_gone_when_the_run_is_over(tmp_path):
    path = interrupted(tmp_path / "run", steps=9)
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]
    prequential(learners(), small_stream(ROWS), checkpoint=path, **OPTIONS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("checkpoint_every", [0, 1000])
def test_a_run_whose_checkpoint_is_kept_gives_its_results_again(tmp_path, checkpoint_every):
    saved = {"checkpoint": tmp_path / "run", "checkpoint_every": checkpoint_every, "keep_checkpoint": True}
    events = []
    runs = [
        prequential(learners(), small_stream(ROWS), progress=listener, **OPTIONS | saved)
        for listener in (None, events.append)
    ]
    assert events == []
    assert repr(runs[0].trend) == repr(runs[1].trend)
    assert repr(runs[0].learners["slow"].memory) == repr(runs[1].learners["slow"].memory)


def test_checkpoints_are_written_by_the_clock(tmp_path, monkeypatch):
    now, written = [0.0], []
    monkeypatch.setattr(CLOCK, lambda: now[0])
    path = tmp_path / "run"

    def listen(event):
        if path.exists():
            written.append(event.done)
            path.unlink()
        now[0] += 4.0

    prequential(Echo(), small_stream(ROWS), checkpoint=path, progress=listen, **OPTIONS | {"checkpoint_every": 10})
    assert written == [16, 28], "after the steps that ended at 12 and 24, three steps of 4 seconds each"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"seed": 3}, "seed was 0 and is 3 now"),
        ({"window": 10}, "window was 9 and is 10 now"),
        ({"delay": 2}, r"delay was \[0, 0\] and is \[2, 2\] now"),
        ({"annotated": 0.5}, "annotated was 1.0"),
        ({"metrics": "ap"}, "metrics was"),
        ({"initial": 7}, "initial was 6 and is 7 now"),
        ({"every": 5}, "every was 4"),
        ({"samples": 39}, "rows was 40 and is 39 now"),
        ({"keep_scores": False}, "keep_scores was True"),
    ],
)
def test_a_checkpoint_of_other_settings_is_refused_and_kept(tmp_path, changes, told):
    path = interrupted(tmp_path / "run", steps=9)
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=told):
        prequential(learners(), small_stream(ROWS), checkpoint=path, **OPTIONS | changes)
    assert path.read_bytes() == before


def test_a_checkpoint_of_other_learners_is_refused(tmp_path):
    path = interrupted(tmp_path / "run", steps=9)
    with pytest.raises(CheckpointError, match=r"learners was .*Echo\(0.1\).* and is .*Echo\(0.2\)"):
        prequential(learners() | {"slow": Echo(0.2)}, small_stream(ROWS), checkpoint=path, **OPTIONS)


def test_a_checkpoint_of_another_stream_is_refused(tmp_path):
    path = interrupted(tmp_path / "run", steps=9)
    X, Y = small_stream(ROWS)
    for other in (X + 1.0, Y), (X, 1.0 - Y), (X[::-1], Y[::-1]):
        with pytest.raises(CheckpointError, match="the first 22 rows of the stream differ"):
            prequential(learners(), other, checkpoint=path, **OPTIONS)
    with pytest.raises(CheckpointError, match="labels was 3 and is 2 now"):
        prequential(learners(), (X, Y[:, :2]), checkpoint=path, **OPTIONS)
    with pytest.raises(CheckpointError, match="stream was 'arrays' and is 'water' now"):
        prequential(learners(), Dataset(X, Y, name="water"), checkpoint=path, **OPTIONS)


def test_a_stream_that_is_used_up_cannot_be_resumed(tmp_path):
    pairs = zip(*small_stream(ROWS), strict=True)
    interrupted(tmp_path / "run", steps=9, stream=pairs, samples=ROWS)
    with pytest.raises(CheckpointError, match="rows of the stream differ"):
        prequential(learners(), pairs, samples=ROWS, checkpoint=tmp_path / "run", **OPTIONS)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_file_that_was_cut_or_altered_is_refused(tmp_path_factory, data):
    path = interrupted(tmp_path_factory.mktemp("run") / "checkpoint", steps=9)
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        del content[place:]
    else:
        content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="cut or altered; delete it to start anew"):
        prequential(learners(), small_stream(ROWS), checkpoint=path, **OPTIONS)


class Fickle(Echo):
    """Can be written but not read."""

    def __deepcopy__(self, memo):
        return Fickle()

    def __setstate__(self, state):
        raise KeyError("an attribute that has gone")


class Clinging(Echo):
    """Can be copied but not written."""

    def __deepcopy__(self, memo):
        return Clinging()

    def __getstate__(self):
        raise TypeError("cannot pickle this")


def test_a_checkpoint_that_cannot_be_unpickled_is_refused(tmp_path):
    saved = OPTIONS | {"checkpoint": tmp_path / "run"}
    with pytest.raises(Killed):
        prequential(Fickle(), small_stream(ROWS), progress=stop_after(5), **saved)
    with pytest.raises(CheckpointError, match=r"cannot be unpickled .*an attribute that has gone"):
        prequential(Fickle(), small_stream(ROWS), **saved)


def test_a_learner_that_cannot_be_pickled_runs_only_without_checkpoint(tmp_path):
    assert prequential(Clinging(), small_stream(ROWS)).summary["Clinging"].samples == 32
    with pytest.raises(CheckpointError, match=r"cannot be pickled .*; run without a checkpoint"):
        prequential(Clinging(), small_stream(ROWS), checkpoint=tmp_path / "run", **OPTIONS)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_or_read_is_told(tmp_path):
    with pytest.raises(CheckpointError, match=r"cannot write checkpoint .*nowhere"):
        prequential(Echo(), small_stream(ROWS), checkpoint=tmp_path / "nowhere" / "run", **OPTIONS)
    with pytest.raises(CheckpointError, match="cannot read checkpoint"):
        prequential(Echo(), small_stream(ROWS), checkpoint=tmp_path, **OPTIONS)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_checkpoint_before_it(tmp_path, monkeypatch, step):
    path = interrupted(tmp_path / "run", steps=9)
    before = path.read_bytes()

    def disk_full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, disk_full)
    with pytest.raises(CheckpointError, match="No space left"):
        prequential(learners(), small_stream(ROWS), checkpoint=path, **OPTIONS)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]
    results = prequential(learners(), small_stream(ROWS), checkpoint=path, **OPTIONS)
    assert without_times(results) == without_times(prequential(learners(), small_stream(ROWS), **OPTIONS))


class Plain(Echo):
    """Has no text of its own, only an address."""

    __repr__ = object.__repr__


def test_a_learner_without_a_text_of_its_own_is_known_by_its_kind(tmp_path):
    saved = OPTIONS | {"checkpoint": tmp_path / "run"}
    with pytest.raises(Killed):
        prequential(Plain(), small_stream(ROWS), progress=stop_after(5), **saved)
    results = prequential(Plain(), small_stream(ROWS), **saved)
    assert results.settings["learners"] == {"Plain": f"<{__name__}.Plain object>"}
