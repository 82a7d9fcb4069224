"""Names, types and shapes of all that model files hold, as lines.

`python tests/persistence/written_schema.py` writes them to the file of the present schema, once: a schema whose arrays
or facts change needs another number.
"""

import re
import sys
import warnings
from pathlib import Path

import numpy as np

from evolabel import EvolvingFuzzyClassifier
from evolabel.active import ActiveLearner
from evolabel.active.selection import SELECTORS
from evolabel.classifier.storage import classifier_bytes
from evolabel.paper import PaperClassifier
from evolabel.paper.rules.arrays import PaperArrays
from evolabel.persistence.model_file import read_model_bytes
from evolabel.persistence.schemas import SCHEMA
from evolabel.stages.rules.slots import PER_SLOT

FILE = Path(__file__).parent / f"files/schema-{SCHEMA}.txt"
P, K = 5, 3
NAMES = [f"x{i}" for i in range(P)], [f"y{k}" for k in range(K)]
_ROWS_FIRST = re.compile(
    r"(rules|written|change|warm_up|(following\.)?decisions|active\.(selector|unlabelled|context))\."
    r"|thresholds\.(X|Y|F|weights|rows)$|first_tree\.(X|Y|weights)$"
)
_BY_SLOT = {*PER_SLOT, *PaperArrays._fields}
_OPEN = {"names", "written", "reasons"}  # facts whose keys are those of users or of the stream


def stream(rows):
    """Rows of five features with three labels."""
    X = np.random.default_rng(0).integers(-20, 21, size=(rows, P)) / 10.0
    return X, np.stack([X[:, 0] > 0.0, X[:, 1] > 0.5, X[:, 2] > 0.1], axis=1).astype(float)


def fitted(n_labels=K, kind=EvolvingFuzzyClassifier, **parameters):
    """A classifier of `n_labels` labels, or of classes where it is 0."""
    X, Y = stream(60)
    return kind(max_rules=4, **parameters).fit(X, Y if n_labels else Y[:, :2].sum(axis=1))


def learner(selection, per, **parameters):
    """A learner with answered and pending questions, and rules that were written, locked and changed."""
    X, Y = stream(140)
    made = fitted(**parameters)
    if not parameters:
        made.name_columns(*NAMES)
        made.rulebook.add("IF x0 ABOVE 1.5 THEN y1 90%")
        made.rulebook.lock(made.rules_[0].identity)
    criteria = "ambiguity" if selection in ("first_come", "variable") else None
    asking = ActiveLearner(made, 0.5, per, selection=selection, criteria=criteria)
    for i in range(60, 140):
        query = asking.query(X[i])
        if query.asked and i % 2:
            asking.mark_pending(query)
        else:
            asking.update(query, Y[i] if query.asked else None)
    return asking.to_bytes()


def models():
    """Contents of files that together hold every array and every fact."""
    yield from (learner(name, per) for name in SELECTORS for per in ("samples", "labels"))
    for optimise in ("subset_accuracy", "macro_f1"):
        yield learner("quantile", "samples", optimise=optimise)
    yield classifier_bytes(fitted(0, optimise="balanced"))
    yield classifier_bytes(fitted(follow_drift=False, threshold_rules=False, memory=None))
    yield learner("quantile", "samples", kind=PaperClassifier)
    yield classifier_bytes(fitted(kind=PaperClassifier, rls=False, space="input", covariance="diag"))
    yield ActiveLearner.start(dict.fromkeys(NAMES[0]), NAMES[1], budget=0.5).to_bytes()


def lines():
    """One line per array or fact."""
    found = set()
    for contents in models():
        arrays, manifest = read_model_bytes(contents)
        found |= {_array(name, array) for name, array in arrays.items()}
        found |= {f"fact {path}" for path in _facts(manifest)}
    return sorted(found)


def _array(name, array):
    shape = [str(n) for n in array.shape]
    if _ROWS_FIRST.match(name) and shape and (name.removeprefix("rules.") in _BY_SLOT or "rules." not in name):
        shape[0] = "n"
    name = re.sub(r"[.]scores[.].*", ".scores.CRITERION", re.sub(r"[.][0-9]+[.]", ".N.", name))
    return f"array {name} {array.dtype} ({', '.join(shape)})"


def _facts(value, path=""):
    """Paths of all facts in `value`; entries of a list are one."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        yield from {each for entry in value for each in _facts(entry, f"{path}[]")}
    elif isinstance(value, dict) and value and path.rpartition(".")[2] not in _OPEN:
        for name, held in value.items():
            yield from _facts(held, f"{path}.{name}" if path else name)
    else:
        yield path


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with FILE.open("x") as file:
        file.write("\n".join(lines()) + "\n")
    sys.stdout.write(f"{FILE}\n")
