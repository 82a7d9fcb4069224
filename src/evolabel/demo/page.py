"""The page of the demonstration: rules beside the truth, what changed and when, one alarm, scores; one file."""

from collections.abc import Sequence
from pathlib import Path

from evolabel import __version__
from evolabel._utils.files import write_atomically
from evolabel._utils.optional import load
from evolabel._utils.text import visible
from evolabel.demo.learning import Learned, found_rules
from evolabel.demo.standing import SCORED_FROM, Standing
from evolabel.demo.timeline import draw_timeline
from evolabel.report.page import STYLE
from evolabel.streams import Dataset
from evolabel.streams.synthetic.plant import plant_changes, truths
from evolabel.words.figures.canvas import as_svg, figure_of

_TEMPLATE_FILE = Path(__file__).with_name("page.html.jinja")


def write_demo_page(rows: Dataset, learned: Learned, standings: Sequence[Standing], folder: Path) -> Path:
    """Write `report.html` into `folder` and return it: what was `learned` from `rows`, and the `standings` of all."""
    Y = rows.Y[SCORED_FROM:]
    timeline = draw_timeline(learned.decided, Y, rows.label_names, plant_changes(), learned.shifts)
    found = found_rules(learned.classifier)
    environment = load("jinja2", "report", "an HTML report").Environment(autoescape=True, trim_blocks=True)
    text = environment.from_string(_TEMPLATE_FILE.read_text("utf-8")).render(
        style=STYLE,
        rows=rows,
        shares=dict(zip(rows.label_names, rows.Y.mean(axis=0).tolist(), strict=True)),
        truths=truths(),
        found=found,
        story=_story(learned),
        timeline=as_svg(figure_of(timeline)),
        alarm=learned.alarm,
        faults=[name for name, on in zip(rows.label_names, rows.Y[learned.alarm], strict=True) if on],
        explanation=learned.explanation,
        standings=standings,
        best_f1=max(one.macro_f1.value for one in standings),
        best_accuracy=max(one.accuracy.value for one in standings),
        scored_from=SCORED_FROM,
        version=__version__,
    )
    page = folder / "report.html"
    write_atomically(page, visible(str(text)).encode())
    return page


def _story(learned: Learned) -> list[tuple[int, str, str]]:
    """Return what happened in the order of time: the row, what changed in the plant, and what was reported."""
    changed = [(row, what, "") for row, what in plant_changes().items()]
    reported = [(event.sample, "", str(event).partition(": ")[2]) for event in learned.shifts]
    return sorted([*changed, *reported], key=lambda line: line[0])
