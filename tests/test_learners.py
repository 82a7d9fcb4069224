"""Short names of learners."""

import subprocess
import sys

import pytest
from choices import all_but

from evolabel import EvolvingFuzzyClassifier, baselines, paper
from evolabel.errors import ParameterError
from evolabel.learners import LEARNERS, make_learner

NAMES = [
    *(
        "evolabel",
        "macro-f1",
        "feedback",
        "paper",
        "tuned",
        "paper-tuned",
        "ovr",
        "chain",
        "static",
        "rfwls",
        "rls",
        "knn",
        "prior",
        "no-change",
    ),
    *("river-br-lr", "river-cc-lr", "river-br-ht", "river-cc-ht", "forest"),
]


def test_the_names_are_those_users_rely_on():
    assert list(LEARNERS) == NAMES
    descriptions = [kind.description for kind in LEARNERS.values()]
    assert len(set(descriptions)) == len(NAMES)
    assert all("\n" not in text and len(text) < 90 for text in descriptions)


@pytest.mark.parametrize("name", all_but(NAMES, "paper-tuned"))  # the same as tuned, but slower
def test_every_name_makes_a_learner_that_learns(name, stream):
    X, Y = stream
    learner = make_learner(name, seed=1).fit(X[:60], Y[:60])
    assert learner.test_then_train(X[60:70], Y[60:70]).shape == (10, 3)
    assert make_learner(name) is not make_learner(name)


def test_the_seed_arrives_where_there_is_chance():
    assert make_learner("forest", seed=7).seed == 7
    assert make_learner("chain", seed=7).seed == 7


def test_rfwls_is_the_paper_without_what_the_paper_adds():
    rfwls, paper = make_learner("rfwls").get_params(), make_learner("paper").get_params()
    assert {name for name in paper if rfwls[name] != paper[name]} == {"alpha", "beta", "prox_steps"}
    assert rfwls["alpha"] == rfwls["beta"] == rfwls["prox_steps"] == 0
    assert make_learner("evolabel").get_params() == EvolvingFuzzyClassifier().get_params()


def test_an_unknown_name_is_refused_with_all_known_ones():
    with pytest.raises(
        ParameterError, match=r"'svm' is unknown; use one of evolabel, macro-f1, feedback, paper, .*, forest"
    ):
        make_learner("svm")


def test_listing_the_names_loads_nothing_heavy():
    code = (
        "import sys; from evolabel.learners import LEARNERS; "
        "print([m for m in ('numba', 'sklearn', 'river', 'pandas') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("package", [baselines, paper])
def test_unknown_attributes_are_errors(package):
    with pytest.raises(AttributeError, match="no attribute 'SVM'"):
        _ = package.SVM
    assert set(dir(package)) == set(package.__all__)
    assert all(getattr(package, name) is not None for name in package.__all__)
