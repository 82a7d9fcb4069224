"""Take the pictures of docs/tutorials/first-project.md and own-file.md: the labelling service in a browser.

python tools/service_pictures.py        # needs the extras server and browser, and Chromium (EVOLABEL_CHROMIUM)
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "tutorials" / "pictures"
CHROMIUM = os.environ.get("EVOLABEL_CHROMIUM", "/usr/bin/chromium")
_COMMAND = "import sys; from evolabel.cli import main; sys.argv[1:] = 'serve --demo --port 8397'.split(); main()"
_PASSWORD = "nine grey herons at dawn"
_PAGES = {"overview": "/p/pumps", "answer": "/p/pumps/answer", "sample": "/p/pumps/samples/300"}
_FIRST_SAMPLES = 20  # seconds in which the demonstration sends its first samples
_PATIENCE = 120  # seconds until the service has printed its link


def main() -> None:
    """Start the demonstration in an empty folder, take the pictures, and stop it."""
    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder, (Path(folder) / "printed.txt").open("w+") as printed:
        service = subprocess.Popen([sys.executable, "-c", _COMMAND], cwd=folder, stdout=printed, stderr=printed)
        try:
            link = _first_link(Path(printed.name))
            with sync_playwright() as tool:
                browser = tool.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
                _take_pictures(browser.new_page(viewport={"width": 1100, "height": 760}), link)
                browser.close()
        finally:
            service.terminate()
            service.wait(30)


def _first_link(printed: Path) -> str:
    """Return the link in the file `printed`, as soon as the service has written it."""
    for _ in range(_PATIENCE):
        found = re.search(r"http://\S+/invite/\S+", printed.read_text())
        if found:
            return found[0]
        time.sleep(1)
    raise SystemExit(f"the service has printed no link: {printed.read_text()}")


def _take_pictures(page: Page, link: str) -> None:
    """Choose a password at `link`, and take a picture of each page that the lesson shows."""
    page.goto(link)
    page.locator("#password").fill(_PASSWORD)
    page.locator("main button").click()
    page.wait_for_url(lambda url: "/invite/" not in url)
    time.sleep(_FIRST_SAMPLES)
    for name, path in _PAGES.items():
        page.goto(link.split("/invite/")[0] + path)
        page.locator("#following").wait_for()  # it follows the stream
        page.screenshot(path=FOLDER / f"{name}.png")
        _print_size(name, page)
    _take_pictures_of_file(page, link.split("/invite/")[0])


def _take_pictures_of_file(page: Page, address: str) -> None:
    """Make a project of a file of 240 rows, and take a picture of its columns and of its page."""
    lines = [
        f"w{row},2026-03-{1 + row // 24:02d} {row % 24:02d}:00,{'north' if row % 3 else 'south'},"
        f"{(row * 37) % 100 / 10:.1f},{'' if row % 4 == 3 else int((row * 37) % 100 > 60)}"
        for row in range(240)
    ]
    text = "\n".join(["sample_id,taken,site,turbidity,murky", *lines])
    page.set_viewport_size({"width": 1100, "height": 1100})
    page.goto(f"{address}/new")
    page.locator("#file").set_input_files([{"name": "river.csv", "mimeType": "text/csv", "buffer": text.encode()}])
    page.locator("#send button").click()
    page.locator("#people").fill("mira")
    page.screenshot(path=FOLDER / "new-file.png")
    _print_size("new-file", page)
    page.locator("#choices .btn.main").click()
    page.set_viewport_size({"width": 1100, "height": 760})
    page.get_by_text("240 of 240").wait_for()
    page.screenshot(path=FOLDER / "file.png")
    _print_size("file", page)


def _print_size(name: str, page: Page) -> None:
    print(name, page.title(), (FOLDER / f"{name}.png").stat().st_size // 1000, "kB")


if __name__ == "__main__":
    main()
