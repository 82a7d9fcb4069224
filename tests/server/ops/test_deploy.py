"""The files in deploy/: read as far as that is possible without systemd and a builder of containers."""

import configparser
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from images import count_compiled, lock, run

from evolabel.cli.serve import serve
from evolabel.server.ops.config import read_config
from evolabel.server.ops.demo import warm_up

DEPLOY = Path(__file__).parents[3] / "deploy"
INSTRUCTIONS = {"FROM", "ENV", "COPY", "RUN", "USER", "WORKDIR", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK",
                "ENTRYPOINT", "CMD"}  # fmt: skip


def test_the_unit(tmp_path):
    parser = configparser.ConfigParser(strict=True, interpolation=None)
    parser.optionxform = str
    parser.read(DEPLOY / "evolabel.service")
    unit = parser["Service"]
    assert unit["Type"] == "notify"
    assert (unit["DynamicUser"], unit["ProtectSystem"], unit["NoNewPrivileges"]) == ("yes", "strict", "yes")
    program, *words = shlex.split(unit["ExecStart"])
    assert program.endswith("/bin/evolabel")
    assert words[:2] == ["serve", "--config"]
    _, bound, _ = serve.parse_args([words[1], str(DEPLOY / "evolabel.toml")])  # the command takes this flag
    assert bound.arguments["config"] == DEPLOY / "evolabel.toml"
    if shutil.which("systemd-analyze") is None:
        return
    copy = (DEPLOY / "evolabel.service").read_text().replace(program, shutil.which("true"))
    (tmp_path / "evolabel.service").write_text(copy)
    told = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", tmp_path / "evolabel.service"], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert "Unknown" not in told.stderr


def test_the_configuration_of_the_unit():
    config = read_config(DEPLOY / "evolabel.toml", {}, {}).config
    assert (config.server.behind_proxy, config.server.host) == (True, "127.0.0.1")
    assert config.database.url == "sqlite:////var/lib/evolabel/evolabel.db"


def test_the_container():
    text = re.sub(r"\\\n\s*", "", (DEPLOY / "Containerfile").read_text())
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line.strip() and not line.startswith("#")]
    assert {word for word, _ in lines} <= INSTRUCTIONS
    found = dict(lines)
    assert found["USER"] == "10001:10001"
    assert (found["VOLUME"], found["STOPSIGNAL"]) == ("/data", "SIGTERM")
    assert "/livez" in found["HEALTHCHECK"]
    environ = dict(word.split("=", 1) for word in found["ENV"].split())
    assert "evolabel ready --into-package" in text
    assert read_config(None, environ, {}).config.server.host == "0.0.0.0"
    root = DEPLOY.parent
    for sources in (value.split()[:-1] for word, value in lines if word == "COPY"):
        assert all((root / name).exists() for name in sources)


def test_the_kernels_are_compiled_by_a_small_project(tmp_path):
    assert warm_up(tmp_path) >= 1


USED = """
import tempfile, threading
from evolabel.server.ops.demo import SLUG, Demo
from evolabel.server.project.service import Service
from evolabel.server.project.values import read_cells
from evolabel.server.log.engines import read_url
with tempfile.TemporaryDirectory() as folder:
    service = Service(read_url(f"sqlite:///{folder}/used.db"))
    service.start()
    demo = Demo(service, pause=0.0)
    demo.start()
    worker, pause = service.workers[SLUG], threading.Event()
    while worker.head.seq < 400:
        pause.wait(0.05)
    demo.stop()
    sample = {"pressure": 5.0, "pump": "P-01"}
    worker.call(lambda batch: batch.state.explain(read_cells(batch.state.features, sample), 3))
    service.stop()
"""


READY = "import sys; sys.argv[1:] = ['ready']; from evolabel.cli import main; main()"


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.skipif(sys.platform != "linux", reason="containers are those of Linux")
def test_a_service_in_a_read_only_image_compiles_nothing(tmp_path):
    image = tmp_path / "image"
    assert run(READY, NUMBA_CACHE_DIR=str(image)).returncode == 0
    here = {"NUMBA_CACHE_DIR": str(image), "HOME": str(image)}
    done = run(count_compiled(USED), *lock(image), **here)
    assert (done.stdout.split(), done.returncode) == (["0"], 0), done.stderr[-2000:]
