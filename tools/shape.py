"""The shape of the source, in the few numbers by which a reader feels it: one column per checkout, one row per measure.

    python tools/shape.py                              # this checkout
    python tools/shape.py before=PATH after=. [--json] # checkouts side by side, of any commit since 1b10af46
    python tools/shape.py --list                       # the places behind the numbers
    python tools/shape.py --no-run                     # without the measures that import the library

How the measures are counted
- modules touched       by `tools/walk.py`, with the code of the checkout, interpreted
- order of stages       files with functions that call the answering or the learning of `SEVERAL` stages or more, or
                        with tuples, lists and dictionaries of objects of as many; `--list` prints each of these.
                        A call (`self.calibration.learn`, `learn_members`) belongs to the stage of its last name with a
                        word of `CALLED`, and to answering or learning if it has one of `VERBS`
- isinstance            calls of `isinstance`, and comparisons of `type(...)`, with a class of rule bases, or of stages:
                        `RuleBase`, classes derived from it, and classes of `stages/*/stage.py`
- branches on `paper`   conditions outside of `paper` and `reproduce` in which a name or a text has a word of `PAPER`
- declarations          of an array: its fields in schemas, where two of one folder share `ALIKE` names or more, and in
                        NamedTuples of arrays alone (one `arrays.py` or `state.py`, without scratch), and tables with
                        its name: two names or more of one such class in a constant of a module, `TABLE` or more as keys
                        of a dictionary in a function (in the files of state: as keyword arguments, too). A loop over
                        some names in a function is a use of them
- folders of a concept  folders with a file whose name has a word of `CONCEPTS`, what is below a folder of that name
                        counted as one; folders of `VIEWS` are left out
- import circles        as in `house_table.py`, imports under TYPE_CHECKING and inside functions counted
- parameters            of `EvolvingFuzzyClassifier`
"""

import argparse
import ast
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from house_table import FUNCTION, House, Module

_TOOLS = Path(__file__).resolve().parent
CALLS = ("partial_fit", "predict_proba", "query", "update", "explain", "save")
GOALS = {
    **{f"modules touched by {call}": goal for call, goal in zip(CALLS, (22, 14, 22, 32, 35, 22), strict=True)},
    "places that state the order of stages": 1,
    "isinstance on kinds of rule bases and stages": 0,
    "branches on `paper` outside of paper/": 0,
    "declarations per array, at most": 1,
    "arrays declared more than once": 0,
    "folders per concept, at most": 1,
    "files of concepts in other folders": 0,
    "import circles, TYPE_CHECKING counted (modules in them)": "0 (0)",
    "lines": 52_000,
    "parameters of the default classifier": 20,
    "files of 390 lines or more": 0,
}
LONG_FILE = 390
STATE_FILES = ("arrays.py", "state.py")
STATE_FOLDERS = {"active", "core", "kernels", "model", "paper", "persistence", "stages"}
SEVERAL = 3
TABLE = 4
ALIKE = 3  # arrays of one name from which on a schema declares those of another one again
CALLED = {
    "sensors": {"sensor", "sensors"},
    "scaling": {"scaler", "scaling", "transform", "scale"},
    "rules": {"rules", "rule", "memberships", "regressors", "consequents", "slow"},
    "drift": {"member", "members", "mixer", "mix", "mixed", "drift", "alarm", "fast", "linear"},
    "threshold_rules": {"thresholds", "trees", "tree", "refine", "refined", "refiner", "refiners"},
    "first_tree": set(),
    "answered_forest": {"forest"},
    "last_answers": {"memory"},
    "written_rules": {"written"},
    "calibration": {"calibration", "calibrator", "probabilities"},
    "decisions": {"decisions", "decide"},
    "feedback": {"feedback"},
}
VERBS = {
    "answer", "answers", "answered", "outputs", "output", "corrected", "correct", "transform", "memberships",
    "regressors", "mix", "mixed", "refine", "refined", "learn", "update", "decide", "probabilities", "part", "parts",
    "explain", "scale", "path", "gather",
}  # fmt: skip
CONCEPTS: dict[str, set[str]] = {  # words of file names that belong to one stage each, beside the name of its folder
    "sensors": {"sensor", "sensors"},
    "scaling": {"scaler", "scaling"},
    "rules": {"antecedents", "consequents", "memberships", "prototypes", "region", "regions"},
    "drift": {"drift", "member", "members", "mixer", "alarm", "alarms", "following", "reversal"},
    "threshold_rules": {"threshold", "thresholds", "tree", "trees", "leaf", "edges"},
    "answered_forest": {"forest"},
    "written_rules": {"written", "expert"},
    "calibration": {"calibration", "calibrated"},
    "decisions": {"decisions", "deciding"},
    "feedback": {"feedback"},
}
for _folder in (_TOOLS.parent / "src" / "evolabel" / "stages").glob("*/stage.py"):
    CONCEPTS.setdefault(_folder.parent.name, set())
# Rooms with views on all stages, streams and rivals: their files are named by what a user sees.
VIEWS = {"adapters", "baselines", "checks", "cli", "client", "evaluate", "paper", "reproduce", "server", "streams"}

# "paper", and what only its literal formulas switch on: rotated rules, iterated weights, coupled labels ...
PAPER = {
    "paper", "rotated", "iterated", "coupled", "coupling", "lipschitz", "literal", "prox", "rls", "touching",
    "covariance", "product", "consistency", "angle", "loose",
}  # fmt: skip

Places = list[str]


def main() -> None:
    """Measure the checkouts that are named, and print the table, as Markdown or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="*", default=["."], metavar="[NAME=]PATH")
    parser.add_argument("--json", action="store_true", help="print one JSON object, by checkout")
    parser.add_argument("--list", action="store_true", help="also print the places behind the numbers")
    parser.add_argument("--no-run", action="store_true", help="leave out what needs the library to be imported")
    chosen = parser.parse_args()
    shapes = {}
    for checkout in chosen.checkouts:
        name, _, path = checkout.rpartition("=")
        shapes[name or path] = Shape(Path(path).resolve())
    tables = {name: shape.measures(run=not chosen.no_run) for name, shape in shapes.items()}
    if chosen.json:
        print(json.dumps(tables))
        return
    print("| measure | " + " | ".join(tables) + " | goal |\n|---|" + "--:|" * (len(tables) + 1))
    for measure, goal in GOALS.items():
        print(f"| {measure} | " + " | ".join(str(table.get(measure, "")) for table in tables.values()) + f" | {goal} |")
    if chosen.list:
        for name, shape in shapes.items():
            for title, places in shape.places().items():
                print(f"\n{name}, {title}:", *places, sep="\n  ")


class Shape:
    """The source of one checkout, parsed."""

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout
        self.root = checkout / "src" / "evolabel"
        self.house = House(self.root, set())
        self.modules = list(self.house.modules.values())

    def measures(self, *, run: bool) -> dict[str, object]:
        """Return every row of the table; without `run` those that need the library to be imported are left out."""
        arrays, folders = self.declarations(), self.folders()
        circles = self.house.circles(lazy=True, typed=True)
        found: dict[str, object] = {
            "places that state the order of stages": len({place.split(": ")[0] for place in self.orders()}),
            "isinstance on kinds of rule bases and stages": len(self.kinds()),
            "branches on `paper` outside of paper/": len(self.branches()),
            "declarations per array, at most": max(map(len, arrays.values()), default=0),
            "arrays declared more than once": sum(len(places) > 1 for places in arrays.values()),
            "folders per concept, at most": max(map(len, folders.values())),
            "files of concepts in other folders": len(self.strays()),
            "import circles, TYPE_CHECKING counted (modules in them)": f"{len(circles)} ({sum(map(len, circles))})",
            "lines": sum(module.lines for module in self.modules),
            "files of 390 lines or more": sum(module.lines >= LONG_FILE for module in self.modules),
        }
        return found | (self.measures_of_a_run() if run else {})

    def measures_of_a_run(self) -> dict[str, object]:
        """Return the modules that each call touches, and the number of parameters of the classifier."""
        walked = json.loads(self._run(str(_TOOLS / "walk.py"), "--json"))
        count = "from evolabel import EvolvingFuzzyClassifier as C; print(len(C().get_params()))"
        touched = {f"modules touched by {call}": walk["modules"] for call, walk in walked.items()}
        return touched | {"parameters of the default classifier": int(self._run("-c", count))}

    def places(self) -> dict[str, Places]:
        """Return the places behind the numbers, by title."""
        return {
            "order of stages": self.orders(),
            "isinstance": self.kinds(),
            "branches on paper": self.branches(),
            "arrays declared more than once": [
                f"{name}: {', '.join(places)}" for name, places in self.declarations().items() if len(places) > 1
            ],
            "folders per concept": [f"{name}: {', '.join(folders)}" for name, folders in self.folders().items()],
            "files of concepts in other folders": self.strays(),
            "import circles": [", ".join(circle) for circle in self.house.circles(lazy=True, typed=True)],
            "long files": [f"{m.name}: {m.lines}" for m in self.modules if m.lines >= LONG_FILE],
        }

    def orders(self) -> Places:
        """Return the places that call or list several stages, with these stages."""
        found = []
        for module in self.modules:
            for node in ast.walk(module.tree):
                if isinstance(node, FUNCTION):
                    place = node.name
                    calls = [part for part in ast.walk(node) if isinstance(part, ast.Call)]
                    stages = {stage for call in calls for stage in called(call)}
                elif isinstance(node, (ast.Tuple, ast.List, ast.Dict)) and (listed := listed_stages(node)):
                    place, stages = f"line {node.lineno}", listed
                else:
                    continue
                if len(stages) >= SEVERAL:
                    found.append(f"{self.path_of(module)}: {place} ({', '.join(sorted(stages))})")
        return found

    def kinds(self) -> Places:
        """Return the calls of `isinstance` with a kind of rule base or a class of a stage."""
        classes = {"RuleBase"} | {
            node.name
            for module in self.modules
            if re.fullmatch(r"stages/\w+/stage\.py", self.path_of(module))
            for node in module.tree.body
            if isinstance(node, ast.ClassDef)
        }
        bases = {c.name: c.bases for c in self.house.classes}
        while derived := {name for name, of in bases.items() if of & classes and name not in classes}:
            classes |= derived
        return [
            f"{self.path_of(module)}:{node.lineno}"
            for module in self.modules
            for node in ast.walk(module.tree)
            if {name for part in compared_classes(node) for name in last_names(part)} & classes
        ]

    def branches(self) -> Places:
        """Return the conditions with the word "paper", outside of folders of that name."""
        found = []
        for module in self.modules:
            if "paper" in Path(self.path_of(module)).parent.parts or "reproduce" in self.path_of(module):
                continue
            for node in ast.walk(module.tree):
                tests = node.ifs if isinstance(node, ast.comprehension) else [getattr(node, "test", None)]
                if any(test is not None and is_of_paper(test) for test in tests):
                    found.append(f"{self.path_of(module)}:{getattr(node, 'lineno', 0)}")
        return found

    def declarations(self) -> dict[str, Places]:
        """Return the places where each array of the state is declared, by its file, class and name."""
        fields: dict[str, Places] = defaultdict(list)
        names: dict[str, set[str]] = defaultdict(set)  # by file
        kinds: dict[str, set[str]] = {}  # arrays by file and class
        for module in self.modules:
            path = self.path_of(module)
            is_state = module.path.name in STATE_FILES and path.split("/")[0] in STATE_FOLDERS
            for kind, declared in (array_fields(module.tree) if is_state else schema_fields(module.tree)).items():
                folder = f"{Path(path).parent}/"
                alike = (name for name, of in kinds.items() if name.startswith(folder) and len(of & declared) >= ALIKE)
                place = next(alike, f"{path} {kind}")
                for name in declared & kinds.setdefault(place, declared):
                    fields[f"{place}.{name}"].append(kind)
                    names[place.split()[0]].add(name)
        for module in self.modules:
            if self.path_of(module).split("/")[0] in STATE_FOLDERS:
                for line, found, least in tables(module.tree, calls=module.path.name in STATE_FILES):
                    path = max(names, key=lambda path, found=found: len(names[path] & found), default="")
                    if path and len(names[path] & found) >= least:
                        for place in fields:
                            if place.startswith(f"{path} ") and place.rpartition(".")[2] in found:
                                fields[place].append(f"{self.path_of(module)}:{line}")
        return dict(fields)

    def folders(self) -> dict[str, list[str]]:
        """Return the folders that have files of each concept."""
        found: dict[str, set[str]] = {concept: set() for concept in CONCEPTS}
        for path in map(self.path_of, self.modules):
            for concept in concepts_of(path):
                found[concept].add(home(path, concept))
        return {concept: sorted(folders) for concept, folders in found.items()}

    def strays(self) -> Places:
        """Return the files of concepts that are outside of the folders of their stages."""
        paths = map(self.path_of, self.modules)
        return [path for path in paths if any(home(path, c) != f"stages/{c}" for c in concepts_of(path))]

    def path_of(self, module: Module) -> str:
        """Return the path of `module` in the package."""
        return module.path.relative_to(self.root).as_posix()

    def _run(self, *arguments: str) -> str:
        """Return what Python prints that imports the library of this checkout, with loops interpreted."""
        environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(self.checkout / "src")}
        done = subprocess.run(
            [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"{self.checkout}: {done.stderr}")
        return done.stdout.splitlines()[-1]


def compared_classes(node: ast.AST) -> list[ast.expr]:
    """Return what `node` compares a kind with: in `isinstance`, `issubclass`, or a comparison of `type(...)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass"):
        return node.args[1:]
    sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
    of_type = [isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id == "type" for e in sides]
    return sides if any(of_type) else []


def last_names(node: ast.expr) -> Iterator[str]:
    """Yield the names in `node`, of `module.Name` the last one, too."""
    for part in ast.walk(node):
        if isinstance(part, (ast.Name, ast.Attribute)):
            yield part.id if isinstance(part, ast.Name) else part.attr


def called(node: ast.Call) -> set[str]:
    """Return the stage whose answering or learning is called by `node`, if there is one."""
    names = names_of(node.func)
    return stage_of(names) if set().union(*names) & VERBS else set()


def listed_stages(node: ast.Tuple | ast.List | ast.Dict) -> set[str]:
    """Return the stages of which objects or classes are in a tuple, a list or the values of a dictionary."""
    parts = node.values if isinstance(node, ast.Dict) else node.elts
    return {stage for part in parts for stage in stage_of(names_of(part))}


def stage_of(names: list[set[str]]) -> set[str]:
    """Return the stage of the first of `names` (sets of words) that has one; "corrected" is of the sensors."""
    found = ({stage for stage, of in CALLED.items() if words & of} for words in names)
    synonym = {"sensors"} if set().union(*names) & {"corrected", "correct"} else set()
    return next((stages for stages in found if len(stages) == 1), synonym)


def names_of(node: ast.expr) -> list[set[str]]:
    """Return the words of each name in a chain such as `self.model.learn`, the last name first."""
    names = []
    while isinstance(node, (ast.Attribute, ast.Call)):
        if isinstance(node, ast.Attribute):
            names.append(node.attr)
        node = node.value if isinstance(node, ast.Attribute) else node.func
    if isinstance(node, ast.Name):
        names.append(node.id)
    return [{word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)} for name in names]


def is_of_paper(test: ast.expr) -> bool:
    """Return whether a name or a text in `test` has a word of `PAPER`."""
    texts = [
        node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else node.value
        for node in ast.walk(test)
        if isinstance(node, (ast.Name, ast.Attribute, ast.Constant))
    ]
    return any(isinstance(text, str) and PAPER & set(re.split(r"\W|_", text.lower())) for text in texts)


def array_fields(tree: ast.Module) -> dict[str, set[str]]:
    """Return the names of the arrays of each schema, and NamedTuple of arrays alone without scratch, by its name."""
    found = schema_fields(tree)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any("NamedTuple" in ast.unparse(base) for base in node.bases):
            fields = [field for field in node.body if isinstance(field, ast.AnnAssign)]
            of_arrays = [re.search(r"\b(Float|Int|Bool|Any)Array\b", ast.unparse(f.annotation)) for f in fields]
            if all(of_arrays) and not re.search("Scratch|Work", node.name):
                found[node.name] = {ast.unparse(field.target) for field in fields}
    return found


def schema_fields(tree: ast.Module) -> dict[str, set[str]]:
    """Return the names of the arrays that each schema of a module declares, by its name."""
    found = {}
    for node in tree.body:
        fields = [field for field in getattr(node, "body", ()) if isinstance(field, ast.AnnAssign)]
        declared = {ast.unparse(f.target) for f in fields if re.search(r"\barray\(", ast.unparse(f.annotation))}
        if isinstance(node, ast.ClassDef) and declared:
            found[node.name] = declared
    return found


def tables(tree: ast.Module, *, calls: bool) -> Iterator[tuple[int, set[str], int]]:
    """Yield line, texts and least number of names of every table of texts, and of `calls` with keyword arguments."""
    constants = {
        id(node) for part in tree.body if isinstance(part, (ast.Assign, ast.AnnAssign)) for node in ast.walk(part)
    }
    for node in ast.walk(tree):
        is_constant = id(node) in constants
        parts: list[Any] = node.elts if is_constant and isinstance(node, (ast.Tuple, ast.List, ast.Set)) else []
        parts = node.keys if isinstance(node, ast.Dict) else parts
        found = {part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)}
        if calls and isinstance(node, ast.Call):
            found = {keyword.arg for keyword in node.keywords if keyword.arg}
        if found and isinstance(node, ast.expr):
            yield node.lineno, found, 2 if is_constant else TABLE


def concepts_of(path: str) -> set[str]:
    """Return the concepts that a file is named after: those of its own name, or of the nearest folder with one."""
    parts = Path(path).with_suffix("").parts
    if parts[0] in VIEWS:
        return set()
    if parts[0] == "stages" and len(parts) > 2 and parts[1] in CONCEPTS:
        return {parts[1]}
    for part in reversed(parts):
        if found := {concept for concept in CONCEPTS if is_named_after(part, concept)}:
            return found
    return set()


def is_named_after(name: str, concept: str) -> bool:
    """Return whether a file or folder of this `name` has the name of the `concept`, or one of its words, in it."""
    is_whole = "_" in concept and f"_{concept}_" in f"_{name}_"
    return is_whole or bool(set(name.split("_")) & CONCEPTS[concept])


def home(path: str, concept: str) -> str:
    """Return the folder of a file; below a folder that is named after its `concept`, that folder."""
    parts = Path(path).parent.parts
    for end, part in enumerate(parts, 1):
        if part == concept or is_named_after(part, concept):
            return "/".join(parts[:end])
    return "/".join(parts)


if __name__ == "__main__":
    main()
