"""The configuration: defaults < TOML < environment < flags, and what it refuses."""

import json
import logging
import socket
import sys

import pytest

from evolabel.errors import ParameterError
from evolabel.server.ops.config import ServerConfig, describe_config, networks, read_config
from evolabel.server.ops.messages import JsonLines, PlainLines, notify
from evolabel.server.run import run_server, take_port


def write(tmp_path, text):
    path = tmp_path / "evolabel.toml"
    path.write_text(text)
    return path


def test_later_sources_win_and_are_named(tmp_path):
    path = write(
        tmp_path, '[server]\nport = 1\nbehind_proxy = true\n[project]\nmax_open = 7\nbudget = 1\n[log]\nlevel = "error"'
    )
    environ = {
        "EVOLABEL_SERVER_PORT": "2",
        "EVOLABEL_PROJECT_MAX_OPEN": "8",
        "EVOLABEL_DATA": "/elsewhere",
        "HOME": "/",
    }
    loaded = read_config(path, environ, {"server.port": 3, "server.host": None})
    config, sources = loaded.config, loaded.sources
    assert (config.server.port, config.server.behind_proxy, config.project.max_open, config.log.level) == (
        3,
        True,
        8,
        "error",
    )
    assert (config.project.budget, config.project.overlap, config.server.host) == (1.0, 0.1, "127.0.0.1")
    assert sources["server.port"] == "--port"
    assert sources["project.max_open"] == "EVOLABEL_PROJECT_MAX_OPEN"
    assert sources["server.behind_proxy"] == str(path)
    assert sources["server.host"] == "default"


def test_passwords_are_hidden():
    loaded = read_config(None, {"EVOLABEL_DATABASE_URL": "postgresql://eva:quiet@db/plant"}, {})
    lines = describe_config(loaded)
    assert "quiet" not in "\n".join(lines)
    shown = next(line for line in lines if line.startswith("database.url"))
    assert shown.split() == ["database.url", "=", '"postgresql://eva:***@db/plant"', "#", "EVOLABEL_DATABASE_URL"]
    assert loaded.config.database.url == "postgresql://eva:quiet@db/plant"


@pytest.mark.parametrize(
    ("text", "said"),
    [("[server]\nprot = 1", "server.prot"), ("[sever]\nport = 1", "sever.port"), ("port = 1", "'port'"),
     ("[server]\nport = '1'", "of type int"), ("[server]\nport = true", "of type int"),
     ("[server]\nport = 70000", "0 to 65535"), ("[server", "cannot be read as TOML"),
     ("[project]\nbudget = 2", "budget is 2"), ("[log]\nlevel = 'loud'", "log.level"),
     ("[metrics]\naddresses = 'all'", "write addresses"), ("[limits]\nbody_mb = 0", "limits.body_mb"),
     ("[server]\nhost = '0.0.0.0'", "in the clear"), ("[server]\ntls_cert = 'a.pem'", "go together"),
     ("[server]\ntls_cert = 'a.pem'\ntls_key = 'b.pem'", "no such file")],
)  # fmt: skip
def test_what_cannot_be_used_is_refused(tmp_path, text, said):
    with pytest.raises(ParameterError, match=said):
        read_config(write(tmp_path, text), {}, {})


@pytest.mark.parametrize(("name", "text"), [("PORT", "x"), ("PROT", "1"), ("BEHIND_PROXY", "perhaps")])
def test_variables_are_checked(name, text):
    with pytest.raises(ParameterError, match=f"EVOLABEL_SERVER_{name}"):
        read_config(None, {f"EVOLABEL_SERVER_{name}": text}, {})


def test_another_address_needs_tls_or_a_proxy(tmp_path):
    for name in ("cert.pem", "key.pem"):
        (tmp_path / name).touch()
    assert ServerConfig(server={"host": "0.0.0.0", "behind_proxy": True})
    files = {"tls_cert": str(tmp_path / "cert.pem"), "tls_key": str(tmp_path / "key.pem")}
    assert ServerConfig(server={"host": "0.0.0.0", **files})
    assert [str(network) for network in networks("10.0.0.0/8, ::1")] == ["10.0.0.0/8", "::1/128"]


def test_responses_are_sent_at_once():
    """asyncio sets TCP_NODELAY only where the protocol is named; without it a response waits 40 ms for the client."""
    listener = take_port("127.0.0.1", 0)
    try:
        assert listener.proto == socket.IPPROTO_TCP
    finally:
        listener.close()


def test_a_port_in_use_leaves_no_database(tmp_path, monkeypatch):
    monkeypatch.setattr("evolabel.server.run.set_up_logging", lambda *_: None)
    taken = take_port("127.0.0.1", 0)
    server, database = {"port": taken.getsockname()[1]}, {"url": f"sqlite:///{tmp_path}/data/evolabel.db"}
    with taken, pytest.raises(ParameterError, match="cannot be listened on"):
        run_server(ServerConfig(server=server, database=database))
    assert list(tmp_path.iterdir()) == []


def test_the_command_prints_the_configuration(command, tmp_path):
    path = write(tmp_path, "[server]\nport = 9090")
    told = command("serve", "config", "--config", str(path))
    assert "server.port = 9090" in told.out
    assert f"# {path}" in told.out
    assert command("serve", "--config", str(tmp_path / "none.toml")).code == 2


def test_systemd_is_told(tmp_path, monkeypatch):
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    assert not notify("READY=1")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.bind(str(tmp_path / "notify"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        assert notify("READY=1")
        assert told.recv(100) == b"READY=1"


def test_lines_of_the_log_are_json_without_secrets():
    secrets = "ev_" + "a" * 43, "/invite/" + "b" * 43, "postgresql://eva:quiet@db/plant"
    record = logging.LogRecord("evolabel", logging.ERROR, "", 0, "failed: %s %s %s", secrets, None)
    record.request_id, record.status = "abc", 500
    line = json.loads(JsonLines().format(record))
    assert (line["level"], line["request_id"], line["status"]) == ("error", "abc", 500)
    assert line["time"].endswith("Z")
    assert line["event"] == "failed: [hidden] /invite/[hidden] postgresql://[hidden]@db/plant"


def test_lines_for_people_hide_secrets_as_well():
    try:
        raise ValueError("ev_" + "a" * 43)
    except ValueError:
        fault = sys.exc_info()
    record = logging.LogRecord("evolabel", logging.ERROR, "", 0, "at %s", ("/invite/" + "b" * 43,), fault)
    line = PlainLines().format(record)
    assert "ERROR evolabel at /invite/[hidden]" in line
    assert line.endswith("ValueError: [hidden]")
