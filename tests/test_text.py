"""Words of messages follow the numbers and names in them."""

import pytest

from evolabel import EvolvingFuzzyClassifier
from evolabel._utils.text import counted, with_article
from evolabel.active import ActiveLearner
from evolabel.errors import ModelFileError
from evolabel.streams import Dataset


def test_one_thing_is_not_many():
    assert [counted(number, "label") for number in (0, 1, 2)] == ["0 labels", "1 label", "2 labels"]
    assert repr(Dataset([[1.0]], [[0.0]])).endswith("1 label)")


def test_an_article_goes_by_the_first_letter():
    assert [with_article(name) for name in ("ActiveLearner", "Pipeline", "int")] == [
        "an ActiveLearner",
        "a Pipeline",
        "an int",
    ]


def test_a_file_of_something_else_is_reported_by_its_kind(tmp_path, stream):
    classifier = EvolvingFuzzyClassifier().fit(stream[0][:60], stream[1][:60])
    classifier.save(tmp_path / "classifier")
    ActiveLearner(classifier).save(tmp_path / "learner")
    with pytest.raises(ModelFileError, match="holds an ActiveLearner, not a classifier"):
        EvolvingFuzzyClassifier.load(tmp_path / "learner")
    with pytest.raises(ModelFileError, match="holds an EvolvingFuzzyClassifier, not an active learner"):
        ActiveLearner.load(tmp_path / "classifier")
