"""`tools/shape.py` counts what it says, in a small package with one of everything."""

import pytest
from shape import Shape

SOURCE = {
    "stages/rules/arrays.py": """
        class RuleArrays(NamedTuple):
            H: Annotated[FloatArray, array("rule")]
            G: FloatArray
        class Scratch(NamedTuple):
            G: FloatArray
    """,
    "stages/rules/stage.py": """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from evolabel.model.pipeline import Model
        class RuleBase: ...
        class FollowingRules(RuleBase): ...
        AXES = {"H": ("rule",), "G": ("rule",)}
    """,
    "model/pipeline.py": """
        from evolabel.stages.rules.stage import RuleBase
        class Model:
            def learn(self, row):
                self.rules.learn(row)
                self.calibration.learn(row)
                learn_members(row)
                self.names.append(row)
            def copied(self, rules):
                order = [Scaling(), RuleBase(), Calibration(), Decisions()]
                return order if isinstance(rules, FollowingRules) and isinstance(order, list) else None
            def step(self, paper):
                if paper is not None and self.rows:
                    return 1
    """,
    "model/label_drift.py": "n = 1\n" * 390,
    "paper/stage.py": "def f(paper):\n    return 1 if paper else 2\n",
    "streams/drift.py": "",
}


@pytest.fixture
def shape(tmp_path):
    for name, text in SOURCE.items():
        file = tmp_path / "src" / "evolabel" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = text.splitlines(keepends=True)
        file.write_text("".join(line.removeprefix("        ") for line in lines), encoding="utf-8")
    return Shape(tmp_path)


def test_calls_and_lists_of_several_stages_state_the_order(shape):
    assert [place.split(": ")[1] for place in shape.orders()] == [
        "learn (calibration, drift, rules)",
        "line 10 (calibration, decisions, rules, scaling)",
    ]


def test_kinds_of_rule_bases_and_conditions_of_the_paper_are_found(shape):
    assert shape.kinds() == ["model/pipeline.py:11"]
    assert shape.branches() == ["model/pipeline.py:13"]


def test_an_array_is_declared_by_its_field_and_by_tables(shape):
    table = "stages/rules/stage.py:7"
    assert shape.declarations() == {
        f"stages/rules/arrays.py RuleArrays.{name}": ["RuleArrays", table] for name in ("H", "G")
    }  # fmt: skip


def test_a_concept_is_at_home_in_the_folder_of_its_stage(shape):
    assert shape.strays() == ["model/label_drift.py"]
    assert (shape.folders()["drift"], shape.folders()["rules"]) == (["model"], ["stages/rules"])


def test_circles_count_imports_for_types_and_long_files_are_those_of_390_lines(shape):
    measures = shape.measures(run=False)
    assert measures["import circles, TYPE_CHECKING counted (modules in them)"] == "1 (2)"
    assert measures["files of 390 lines or more"] == 1
    assert shape.house.circles(lazy=True) == []
