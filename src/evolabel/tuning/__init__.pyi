from evolabel.tuning.heat_map_figure import heat_map as heat_map
from evolabel.tuning.stream_scorer import stream_score as stream_score
