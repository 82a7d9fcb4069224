"""The rules stage of the paper's formulas, which `PaperModel` has in the place of `stages.rules`."""
