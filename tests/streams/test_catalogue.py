"""The table of named data sets is complete, and unknown names are reported."""

import re

import pytest

from evolabel.errors import DataError
from evolabel.streams.named.catalogue import dataset_names, find_entry, read_catalogue

ENTRIES = list(read_catalogue().values())
each_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)


@each_entry
def test_files_are_arff_parts_and_one_label_file(entry):
    assert all(re.search(r"\.arff(\.gz)?$", part.name) for part in entry.parts)
    assert entry.label_file is None if entry.counts else entry.label_file.name.endswith(".xml")
    assert len({file.name for file in entry.files}) == len(entry.files)


@each_entry
def test_a_split_comes_with_two_parts(entry):
    assert (entry.split is None) == (len(entry.parts) == 1)
    assert entry.split is None or 0 < entry.split < entry.rows


@each_entry
def test_digests_are_sha256(entry):
    assert all(file.sha256 is None or re.fullmatch("[0-9a-f]{64}", file.sha256) for file in entry.files)


@each_entry
def test_addresses_name_a_commit_or_are_explained(entry):
    if entry.can_be_fetched:
        assert all(re.match(r"https://github\.com/[\w.-]+/[\w.-]+/raw/[0-9a-f]{40}/", f.address) for f in entry.files)
        assert len({file.address for file in entry.files}) == len(entry.files)
    else:
        assert entry.note
        assert not any(file.address for file in entry.files)


@pytest.mark.parametrize("name", ["birds", "emotions", "water-quality", "yeast", "mediamill"])
def test_all_sets_of_the_paper_can_be_fetched(name):
    entry = find_entry(name)
    fetched = entry if entry.stand_in is None else find_entry(entry.stand_in)
    assert fetched.can_be_fetched
    assert (fetched.rows, fetched.features, fetched.labels) == (entry.rows, entry.features, entry.labels)


def test_different_files_have_different_digests():
    by_digest = {file.sha256: file.name for entry in ENTRIES for file in entry.files if file.sha256}
    names = {file.name for entry in ENTRIES for file in entry.files if file.sha256}
    assert len(by_digest) == len(names)


def test_names_are_sorted_and_include_the_paper_s_sets():
    names = dataset_names()
    assert names == sorted(names)
    assert {"birds", "emotions", "water-quality", "yeast", "mediamill", "mediamill-5k"} <= set(names)


def test_names_may_be_written_in_capitals():
    assert find_entry("CAL500") is find_entry("cal500")


def test_names_of_proteins_are_no_features():
    assert find_entry("genbase").drop == ("protein",)
    assert find_entry("yeast").drop == ()


@pytest.mark.parametrize(("wrong", "meant"), [("emotion", "emotions"), ("waterquality", "water-quality")])
def test_an_unknown_name_is_reported_with_near_matches_and_all_names(wrong, meant):
    with pytest.raises(DataError, match=f"no data set named '{wrong}'; did you mean '{meant}'") as reported:
        find_entry(wrong)
    assert all(name in str(reported.value) for name in dataset_names())


def test_an_outlandish_name_gets_no_guess():
    with pytest.raises(DataError, match="named '%%%'; the names are bibtex, birds"):
        find_entry("%%%")
