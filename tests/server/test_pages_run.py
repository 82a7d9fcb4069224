"""The pages on the service: their shell blocks run in one bash, one after the other, against a server on a real port.

Conventions of the pages: a block that is to be run begins with ```sh. The port 8080 stands for a free one, plant.csv
for a data set with the features pressure and flow and the labels leak and wear. A request must be answered with a
status below 400, unless a comment behind it begins with the status: `# 403 forbidden`.
"""

import contextlib
import io
import json
import os
import re
import shutil
import signal
import socketserver
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from evolabel.cli.app import run_command
from evolabel.server.people.accounts import create_token
from server.crash.processes import free_port
from server.listening import listening

DOCS = Path(__file__).parents[2] / "docs"
PAGES = (
    "tutorials/first-project.md",
    "how-to/service-programs.md",
    "label-studio.md",
    "how-to/service-people.md",
    "how-to/service-backup.md",
)
BEGIN = r"""
set -euo pipefail
trap 'echo "failed: $BASH_COMMAND" >&2' ERR
trap 'kill $SERVER 2>/dev/null || true' EXIT
curl() { if [ "$1" = -sf ]; then command curl "$@"; else command curl --fail-with-body "$@"; fi; }
refused() { local status; status=$(command curl -o /dev/null -w '%{http_code}' "${@:3}"); [ "$status" = "$1" ]; }
wait() { builtin wait "$@" || true; }
"""
EVOLABEL = """#!{python} -IS
import json, os, socket, sys
if sys.argv[1] == "serve" and (len(sys.argv) == 2 or sys.argv[2].startswith("-")):
    os.execv("{python}", ["{python}", "-m", "evolabel", *sys.argv[1:], "--port", "{port}"])
if sys.argv[1] == "label-studio":
    os.execv("{python}", ["{python}", "-m", "evolabel", *sys.argv[1:], "--port", "{bridge}"])
with socket.create_connection(("127.0.0.1", {commands})) as service:
    chosen = {{name: value for name, value in os.environ.items() if name.startswith("EVOLABEL_")}}
    service.sendall(json.dumps([sys.argv[1:], chosen]).encode() + b"\\n")
    code, out, err = json.loads(service.makefile().readline())
sys.stdout.write(out)
sys.stderr.write(err)
sys.exit(code)
"""


class Commands(socketserver.StreamRequestHandler):
    """Runs each command in this process, which has imported everything; only `evolabel serve` is one of its own."""

    def handle(self):
        words, chosen = json.loads(self.rfile.readline())
        out, err = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            for name, value in chosen.items():
                patch.setenv(name, value)
            code = run_command(words)
        self.wfile.write(json.dumps([code, out.getvalue(), err.getvalue()]).encode() + b"\n")


def shell_blocks(page):
    """The blocks of a page that are to be run, without their indent."""
    found = re.findall(r"^( *)```sh\n(.*?)^ *```$", (DOCS / page).read_text(), re.DOTALL | re.MULTILINE)
    return [re.sub(rf"^{indent}", "", block, flags=re.MULTILINE) for indent, block in found]


def script(port, bridge):
    """All blocks as one script for a server at `port` and a bridge to Label Studio at `bridge`."""
    parts = [BEGIN]
    for page in PAGES:
        blocks = shell_blocks(page)
        assert blocks, page
        if page != PAGES[0]:
            parts.append("until command curl -sf http://127.0.0.1:8080/readyz; do sleep 0.2; done\n")
        parts += blocks
    text = "\n".join(parts).replace("127.0.0.1:8080", f"127.0.0.1:{port}").replace(":9090", f":{bridge}")
    return re.sub(r"^(curl .*[^ ]) +# (4\d\d) .*$", r"refused \2 \1", text, flags=re.MULTILINE)


def data_set(file):
    """Write 60 rows of pressure and flow, which the labels leak and wear follow."""
    rng = np.random.default_rng(0)
    lines = ["pressure,flow,leak,wear"]
    for pressure, flow in rng.normal([4.0, 3.0], 1.0, (60, 2)):
        lines.append(f"{pressure:.3f},{flow:.3f},{int(pressure < 4)},{int(flow > 3.5)}")
    file.write_text("\n".join(lines) + "\n")


@contextlib.contextmanager
def in_group(command, environment, told):
    """A process of `command` that writes to the file `told`; all processes that it has started end with the block."""
    process = subprocess.Popen(command, env=environment, stdout=told, stderr=told, start_new_session=True)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.posix
def test_the_shell_blocks_of_the_pages_run_as_written(tmp_path, monkeypatch):
    if shutil.which("bash") is None or shutil.which("curl") is None:
        pytest.skip("needs bash and curl")
    monkeypatch.chdir(tmp_path)
    data_set(tmp_path / "plant.csv")
    port, bridge = free_port(), free_port()
    with socketserver.TCPServer(("127.0.0.1", 0), Commands) as commands:
        threading.Thread(target=commands.serve_forever, daemon=True).start()
        folder = tmp_path / "bin"
        folder.mkdir()
        shim = EVOLABEL.format(python=sys.executable, port=port, bridge=bridge, commands=commands.server_address[1])
        (folder / "evolabel").write_text(shim)
        (folder / "evolabel").chmod(0o755)
        environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
        with open("told", "w") as told, in_group(["bash", "-c", script(port, bridge)], environment, told) as process:
            code = process.wait(300)
        commands.shutdown()
    assert code == 0, Path("told").read_text()[-3000:]
    assert {"answers.csv", "predictions.parquet", "plant-copy.db"} <= {file.name for file in tmp_path.iterdir()}


def test_the_python_blocks_run_as_written(sqlite, start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "how-to/service-programs.md").read_text(), re.DOTALL)
    service, names = start(sqlite), {"token": create_token(sqlite, "root", None, None, "test")}
    with listening(service) as url:
        exec("".join(blocks).replace("http://127.0.0.1:8080", url), names)
    assert service.workers["pumps"].state.seen == 1
    assert names["learner"].bucket.seen == 1
