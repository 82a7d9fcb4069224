"""The command that an error prints for a package that is missing installs evolabel from where it came."""

import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace

import pytest

from evolabel._utils import optional as module
from evolabel._utils.optional import install_command


def installed(monkeypatch, origin):
    """Evolabel is installed with this direct_url.json: a document, a text, or None where it came from an index."""
    text = json.dumps(origin) if isinstance(origin, dict) else origin
    monkeypatch.setattr(module, "distribution", lambda name: SimpleNamespace(read_text=lambda file: text))


def test_an_editable_checkout_is_named_by_its_path(monkeypatch, tmp_path):
    folder = tmp_path / "my evolabel"
    folder.mkdir()
    installed(monkeypatch, {"url": folder.as_uri(), "dir_info": {"editable": True}})
    assert install_command("cli") == f'pip install -e "{folder}[cli]"'
    assert install_command() == f'pip install -e "{folder}"'


def test_a_folder_is_named_by_its_path(monkeypatch, tmp_path):
    installed(monkeypatch, {"url": tmp_path.as_uri(), "dir_info": {}})
    assert install_command("cli", "report") == f'pip install "{tmp_path}[cli,report]"'


def test_a_wheel_is_named_by_its_address(monkeypatch, tmp_path):
    wheel = tmp_path / "evolabel-0.2.0-py3-none-any.whl"
    wheel.touch()
    installed(monkeypatch, {"url": wheel.as_uri(), "archive_info": {}})
    assert install_command("cli") == f'pip install "evolabel[cli] @ {wheel.as_uri()}"'
    address = "https://example.org/evolabel-0.2.0-py3-none-any.whl"
    installed(monkeypatch, {"url": address, "archive_info": {}})
    assert install_command("cli") == f'pip install "evolabel[cli] @ {address}"'


def test_a_repository_is_named_with_its_commit(monkeypatch):
    version = {"vcs": "git", "commit_id": "0a20809e"}
    installed(monkeypatch, {"url": "https://example.org/evolabel.git", "vcs_info": version})
    assert install_command("cli") == 'pip install "evolabel[cli] @ git+https://example.org/evolabel.git@0a20809e"'


@pytest.mark.parametrize(
    "origin", [None, "", "{", "[" * 100_000, "[]", '{"url": 1}', '{"url": "file:///nowhere/at/all", "dir_info": {}}']
)
def test_from_an_index_or_from_what_is_gone_the_name_is_enough(monkeypatch, origin):
    installed(monkeypatch, origin)
    assert install_command("cli") == 'pip install "evolabel[cli]"'


def test_a_checkout_found_by_its_path_is_named(monkeypatch):
    def absent(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(module, "distribution", absent)
    checkout = Path(module.__file__).parents[3]
    expected = f'pip install -e "{checkout}[cli]"' if (checkout / "pyproject.toml").is_file() else None
    assert install_command("cli") == (expected or 'pip install "evolabel[cli]"')


def test_the_errors_of_the_command_and_of_the_client_have_it():
    for package, call, extra in (
        ("cyclopts", "import sys; sys.argv = ['evolabel', 'run']; from evolabel.cli import main; main()", "cli"),
        ("httpx", "from evolabel.client import Client; Client('http://x', 'e', 'p')", "client"),
    ):
        code = f"import sys; sys.modules['{package}'] = None; {call}"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.stderr.splitlines()[-1].endswith(f"run: {install_command(extra)}")
