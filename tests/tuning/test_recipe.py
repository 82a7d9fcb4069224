"""The search over all parameters in docs/how-to/tuning.md runs as written."""

import re
from pathlib import Path

from evolabel.streams import DriftingStream

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "tuning.md"


def test_the_halving_search_of_the_docs_runs():
    X, Y = DriftingStream(seed=0).take(200)
    names = {"X_initial": X, "Y_initial": Y}
    page = PAGE.read_text()
    block = next(block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "Halving" in block)
    exec(block.replace("n_candidates=54", "n_candidates=4"), names)
    assert names["search"].best_params_.keys() == names["values"].keys()
    defaults = names["EvolvingFuzzyClassifier"]().get_params()
    assert all(defaults[name] in values for name, values in names["values"].items())
    compare = re.search(r"`(cross_val_score\(.*?\.mean\(\))`", page, re.DOTALL)
    assert 0.5 < eval(compare[1].replace("\n", " "), names) <= 1.0
