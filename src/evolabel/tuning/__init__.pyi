from evolabel.tuning.grid import PAPER_GRID as PAPER_GRID
from evolabel.tuning.heat_map_figure import heat_map as heat_map
from evolabel.tuning.search import PaperGridSearch as PaperGridSearch
from evolabel.tuning.stream_scorer import stream_score as stream_score
from evolabel.tuning.tuned import SMALL_PAPER_GRID as SMALL_PAPER_GRID
from evolabel.tuning.tuned import TunedClassifier as TunedClassifier
