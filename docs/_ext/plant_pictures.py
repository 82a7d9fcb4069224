"""The pictures of docs/tutorials/plant-day.md, drawn by the commands of that page each time the site is built."""

from contextlib import chdir
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

import plant_day
from sphinx.application import Sphinx
from sphinx.config import Config

PICTURES = "threshold-tree-leak.svg", "threshold-edges-leak-pressure.svg"


def setup(app: Sphinx) -> dict[str, bool]:
    """Draw the pictures before Sphinx looks for its files."""
    app.connect("config-inited", _draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _draw(app: Sphinx, config: Config) -> None:
    """Run the page down to `evolabel figures`; copy its pictures to `docs/tutorials/generated`, which git ignores."""
    folder = Path(app.srcdir) / "tutorials" / "generated"
    folder.mkdir(exist_ok=True)
    with TemporaryDirectory() as temporary, chdir(temporary):
        for command, _, _ in plant_day.run_page(plant_day.PAGE.read_text(encoding="utf-8")):
            if command.startswith("$ evolabel figures"):
                break
        for name in PICTURES:
            copyfile(Path("pictures") / name, folder / name)
