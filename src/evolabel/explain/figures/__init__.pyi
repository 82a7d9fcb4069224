from evolabel.explain.figures.budget import budget_use as budget_use
from evolabel.explain.figures.consequents import consequent_map as consequent_map
from evolabel.explain.figures.correlations import label_correlations as label_correlations
from evolabel.explain.figures.lives import life_lines as life_lines
from evolabel.explain.figures.memberships import membership_functions as membership_functions
from evolabel.explain.figures.novelty import novelty_map as novelty_map
from evolabel.explain.figures.regions import rule_map as rule_map
