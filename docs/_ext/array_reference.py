"""The page of the arrays in a model file, from the schemas that declare them."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator

import numpy as np

from evolabel.active.query import DRAWN_LABELS, LABEL_SCORES, PENDING_ARRAYS, SAMPLE_SCORE
from evolabel.active.query_context import CONTEXT_ARRAYS, NO_ANSWERS
from evolabel.active.scoring.second_moments import MOMENT_COUNTS, WAITING_ROWS
from evolabel.active.selection import SELECTORS
from evolabel.core.schema import Declaration, Schema
from evolabel.core.stored_checks import LARGEST, MOST
from evolabel.model.seen_ranges import SEEN_ARRAYS
from evolabel.model.warm_up import WARM_UP_ARRAYS
from evolabel.paper.rules.arrays import PAPER_ARRAYS
from evolabel.stages.answered_forest.arrays import FOREST_ARRAYS
from evolabel.stages.calibration.arrays import CALIBRATION_ARRAYS
from evolabel.stages.decisions.arrays import KNOWN_SETS, LABEL_COUNTS, OUTPUT_COUNTS
from evolabel.stages.drift.arrays import MEMBER_ARRAYS
from evolabel.stages.feedback.arrays import INITIAL_ERRORS, RECENT_ERRORS
from evolabel.stages.first_tree.arrays import FIRST_TREE_ARRAYS
from evolabel.stages.last_answers.arrays import LAST_ANSWER_ARRAYS
from evolabel.stages.rules.arrays import RULE_ARRAYS
from evolabel.stages.rules.weights import MOMENTS
from evolabel.stages.scaling.arrays import SCALER_ARRAYS
from evolabel.stages.sensors.arrays import SENSOR_ARRAYS
from evolabel.stages.threshold_rules.arrays import TREE_ARRAYS
from evolabel.stages.written_rules.arrays import WRITTEN_ARRAYS

_HEAD = """Arrays of a model file
======================

Made from the schemas of the stages, which allocate the arrays, fit them to new labels and features, and check them
when a file is loaded; :doc:`/reference/model-file` describes the file. An axis is a name or a length: ``feature`` (p),
``regressor`` (p + 1; the intercept is the last), ``label`` (K), ``slot`` (the rules; slot 0 is the whole stream),
``row`` and ``place`` (samples that are kept). An array is *exact* where it cannot be derived from others, *derived*
where it can, a *bound* of something derived, a *policy* where only the time of a rare step depends on it, *written*
where a person has written it.

An edit that can be undone adds ``change.0``, ``change.1``, ... with the former slots of the rules, their counters and,
if they differ, the former written rules. ``N`` stands for the number of a pending question. ``active.selector`` has the
arrays of the selector that is used.
"""

PARTS: dict[str, tuple[str, tuple[Schema[object], ...]]] = {
    "": ("What was seen", (SEEN_ARRAYS,)),
    "warm_up": ("Samples of a warm-up", (WARM_UP_ARRAYS,)),
    "sensors": ("Sensors", (SENSOR_ARRAYS,)),
    "scaler": ("Scaling", (SCALER_ARRAYS,)),
    "rules": ("Rules; from ``F`` on of a PaperClassifier alone", (RULE_ARRAYS, PAPER_ARRAYS)),
    "members": ("Fast and linear member, alarms", (MEMBER_ARRAYS,)),
    "thresholds": ("Threshold rules", (TREE_ARRAYS,)),
    "answered_forest": ("Forest of answered rows, of an active learner", (FOREST_ARRAYS,)),
    "first_tree": ("First tree, while it answers", (FIRST_TREE_ARRAYS,)),
    "last_answers": ("Last answers", (LAST_ANSWER_ARRAYS,)),
    "written": ("Written rules", (WRITTEN_ARRAYS,)),
    "calibration": ("Calibration", (CALIBRATION_ARRAYS,)),
    "decisions": ("Decisions: thresholds, balanced, label sets", (OUTPUT_COUNTS, LABEL_COUNTS, KNOWN_SETS)),
    "following.calibration": ("Calibration of outputs that follow the last answers", (CALIBRATION_ARRAYS,)),
    "following.decisions": ("Decisions on them", (OUTPUT_COUNTS, LABEL_COUNTS, KNOWN_SETS)),
    "feedback": ("Error feedback of the initial batch", (INITIAL_ERRORS,)),
    "active.context.feedback": ("Error feedback of a learner", (INITIAL_ERRORS, RECENT_ERRORS)),
    "active.selector": ("Selectors", tuple(dict.fromkeys(kind.schema for kind in SELECTORS.values()))),
    "active.pending.N": ("Pending questions", (PENDING_ARRAYS, DRAWN_LABELS)),
    "active.pending.N.scores": ("Their scores, by the name of the criterion", (LABEL_SCORES, SAMPLE_SCORE)),
    "active.context": ("Context of questions", (CONTEXT_ARRAYS,)),
    "active.context.new_labels": ("Labels without answers", (NO_ANSWERS,)),
    "active.unlabelled": ("Rows that wait", (WAITING_ROWS,)),
    "active.unlabelled.moments": ("Second moments of all rows", (MOMENT_COUNTS, MOMENTS)),
}
"""Title and schemas of each part of a file, by the prefix of its arrays."""


_STORED_AS = {"thresholds.Y": "bool"}


def arrays_page() -> str:
    """Return the page: a table for each part of a file."""
    lines = [_HEAD]
    for prefix, (title, schemas) in PARTS.items():
        lines += ["", title, "-" * len(title), "", ".. list-table::", "   :header-rows: 1", "   :widths: auto", ""]
        lines += _row("array", "axes", "type", "values", "kind", "meaning")
        for schema in schemas:
            meanings = _meanings(schema.kind)
            for name in schema.stored:
                declared, dtype = schema.declarations[name], schema.dtypes[name]
                axes, full = ", ".join(map(str, declared.axes)), f"{prefix}.{name}".strip(".")
                stored = _STORED_AS.get(full, np.dtype(dtype).name)
                lines += _row(f"``{full}``", axes, stored, _values(declared, dtype), declared.kind, meanings[name])
    return "\n".join(lines) + "\n"


def _row(*cells: str) -> Iterator[str]:
    for place, cell in enumerate(cells):
        yield f"   {'*' if place == 0 else ' '} - {cell}"


def _values(declared: Declaration, dtype: type) -> str:
    """Return the range of stored values as text; "" where every number is allowed that can be squared."""
    if dtype is np.bool_:
        return ""
    is_whole = np.issubdtype(dtype, np.integer)
    low, high = (default if end is None or abs(end) >= MOST else end for end, default in _ends(declared, is_whole))
    start = "above 0" if declared.positive else "" if low == -LARGEST else f"from {low:.6g}"
    end = "" if high in (LARGEST, MOST) else f"to {high:.6g}"
    return ", ".join(filter(None, [" ".join(filter(None, [start, end])), "NaN" if declared.missing else ""]))


def _ends(declared: Declaration, is_whole: bool) -> tuple[tuple[float | None, float], tuple[float | None, float]]:
    return (declared.low, 0.0 if is_whole else -LARGEST), (declared.high, MOST if is_whole else LARGEST)


def _meanings(kind: type) -> dict[str, str]:
    """Return the docstring of each field of the class `kind`, by name, as reStructuredText on one line."""
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, text in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            line = " ".join(str(text.value.value).split())
            found[ast.unparse(field.target)] = re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", line).replace("|", r"\|")
    return found
