"""No kernel of the threshold rules calls itself, directly or through others: no tree is too deep for the stack."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

from evolabel.stages.threshold_rules import loops


def calls():
    """Each function of the package with the functions of the package that it calls."""
    functions = {}
    for file in sorted(Path(loops.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                assert node.name not in functions, f"{node.name} is defined twice: the graph by names would be wrong"
                functions[node.name] = node
    return {
        name: {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and part.id in functions} - {"inner"}
        for name, node in functions.items()
    }


def test_no_kernel_calls_itself():
    graph = calls()
    assert "try_leaf" in graph["try_leaves"]
    TopologicalSorter(graph).prepare()  # CycleError names the functions of a circle
