from evolabel.paper.classifier import PaperClassifier as PaperClassifier
from evolabel.paper.rivals.chain import EvolvingChain as EvolvingChain
from evolabel.paper.rivals.one_vs_rest import EvolvingOneVsRest as EvolvingOneVsRest
from evolabel.paper.tuning.grid import PAPER_GRID as PAPER_GRID
from evolabel.paper.tuning.search import PaperGridSearch as PaperGridSearch
from evolabel.paper.tuning.tuned import SMALL_PAPER_GRID as SMALL_PAPER_GRID
from evolabel.paper.tuning.tuned import TunedClassifier as TunedClassifier
