"""A server in this process, Debian's Chromium, and pages of people who are signed in.

Screenshots go to the folder EVOLABEL_SCREENSHOTS, if it is set.
"""

import os
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("playwright", reason="pip install 'evolabel[browser]' for tests in a browser")

import uvicorn
from playwright.sync_api import sync_playwright

from evolabel.server.app import create_app
from server.signed_in import add_person, browser

CHROMIUM = os.environ.get("EVOLABEL_CHROMIUM", "/usr/bin/chromium")
AXE = "axe-core@4.14.0"
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="module")
def chromium():
    """A headless Chromium with a user folder of its own.

    It ends with its module: while it runs, the thread has a running event loop, and asyncio.run of other tests fails.
    """
    if "EVOLABEL_CHROMIUM" not in os.environ and not Path(CHROMIUM).exists():
        pytest.skip(f"no Chromium at {CHROMIUM}; apt-get install chromium, or set EVOLABEL_CHROMIUM")
    with sync_playwright() as tool:
        started = tool.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """The text of axe-core, fetched from npm."""
    npm, folder = shutil.which("npm"), tmp_path_factory.mktemp("axe")
    if npm is None:
        pytest.skip("no npm to fetch axe-core with")
    packed = subprocess.run([npm, "pack", "--silent", AXE], cwd=folder, capture_output=True, text=True, check=False)
    if packed.returncode:
        pytest.skip(f"{AXE} cannot be fetched: {packed.stderr.strip()[-200:]}")
    shutil.unpack_archive(folder / packed.stdout.strip(), folder)
    return (folder / "package" / "axe.min.js").read_text("utf-8")


@pytest.fixture
def serve(sqlite, start):
    """Function that serves a service on a free port and returns it with the address."""
    running = []

    def serve(**settings):
        service = start(sqlite, **settings)
        server = uvicorn.Server(uvicorn.Config(create_app(service), port=0, log_level="warning", lifespan="off"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            thread.join(0.01)
        running.append((server, thread))
        return service, f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"

    yield serve
    for server, thread in running:
        server.should_exit = True
        thread.join(10)


@pytest.fixture
def visit(chromium):
    """Function that opens a page for a person; a message of the console or an error of a script fails the test."""
    contexts, complaints = [], []

    def visit(service, url, person=None, *, size=(1280, 900), **options):
        context = chromium.new_context(viewport={"width": size[0], "height": size[1]}, base_url=url, **options)
        contexts.append(context)
        if person is not None:
            client = browser(service, person)
            context.add_cookies([{"name": "evolabel", "value": client.cookies["evolabel"], "url": url}])
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.complaints = complaints
        return page

    yield visit
    for context in contexts:
        context.close()
    assert [text for text in complaints if "Failed to load resource" not in text] == []


@pytest.fixture
def anna(serve):
    """A service, its address, and the number of an annotator."""
    service, url = serve(hold_seconds=60)
    return service, url, add_person(service)


def picture(page, name):
    """Keep a screenshot if a folder for them is set."""
    folder = os.environ.get("EVOLABEL_SCREENSHOTS")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def check(page, axe, where):
    """No violation of axe-core on the page."""
    page.evaluate(axe)
    found = page.evaluate("axe.run().then(result => result.violations)")
    listed = [(v["id"], [node["html"][:120] for node in v["nodes"][:3]]) for v in found]
    assert listed == [], where
