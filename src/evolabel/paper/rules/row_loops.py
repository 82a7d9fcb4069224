"""`PaperRowLoops`: the compiled loops over rows that are answered, by the paper's rules."""

from evolabel.engine.compile import direct
from evolabel.paper.rules.loops.answer import (
    add_paper_moments,
    paper_answer_block,
    paper_answer_rows,
    paper_variance_block,
    paper_variance_rows,
)
from evolabel.stages.rules.rule_state import RowLoops


class PaperRowLoops(RowLoops):
    """The loops for the packed `state` and `paper` of the paper's rules; rows are scaled."""

    _answer_rows = staticmethod(direct(paper_answer_rows))
    _answer_block = staticmethod(direct(paper_answer_block))
    _variance_rows = staticmethod(direct(paper_variance_rows))
    _variance_block = staticmethod(direct(paper_variance_block))
    _add_moment_rows = staticmethod(direct(add_paper_moments))
