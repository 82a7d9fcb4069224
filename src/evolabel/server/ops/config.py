"""Configuration of the server: defaults < TOML file < environment < flags, as one frozen value."""

import ipaddress
import json
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from evolabel._utils.text import first_names
from evolabel._utils.validation import shown
from evolabel.errors import ParameterError
from evolabel.server.log.engines import check_external_checkpoint
from evolabel.server.project.settings import ProjectSettings, Retention, ServiceLimits

_PREFIX = "EVOLABEL_"
_PRIVATE = ("127.0.0.1", "localhost", "::1")
_LEVELS = ("debug", "info", "warning", "error")
_MOST = {
    "database.min_free_mb": 1_000_000,
    "limits.token_per_minute": 1_000_000,
    "limits.body_mb": 1024,
    "limits.model_mb": 1024,
    "limits.rows": 1000,
    "limits.queue": 1_000_000,
    "limits.sse": 100_000,
}
_FEWEST_DAYS = 31
_TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def _key(section: str, default: Any) -> Any:
    return field(default=default, metadata={"section": section})


@dataclass(frozen=True)
class ServerConfig:
    """What the server is started with.

    Parameters
    ----------
    host, port : str, int
        Where it listens. Another host than this machine's own needs TLS or a proxy.
    behind_proxy : bool
        Whether a proxy in front adds TLS; its headers are read.
    proxy : str
        Address of that proxy; headers from elsewhere are not read.
    tls_cert, tls_key : str
        Files of the certificate and its key; both or none.
    url : str
        The database.
    checkpoint : str
        "own", or "external" if another program moves SQLite's write-ahead log into the database.
    min_free_mb : int
        Megabytes left on the disk of a SQLite file, below which samples are refused; answers below a quarter of it.
    retain_days : int
        Days for which the values of samples stay in the database; 0: for ever. Then they go to files.
    archive : str
        Folder of these files.
    token_per_minute : int
        Requests of a token that has no limit of its own.
    body_mb, model_mb : int
        Largest body of a request, and largest model file, in MiB.
    rows : int
        Rows of a request at most.
    queue : int
        Requests that wait in a project at most.
    sse : int
        Open streams of server-sent events at most.
    addresses : str
        Addresses or networks, apart by commas, that may read /metrics.
    level, format : str
        The least level of messages that are logged; json or text.
    project : ProjectSettings
        Settings of new projects that name no other.
    """

    host: str = _key("server", "127.0.0.1")
    port: int = _key("server", 8080)
    behind_proxy: bool = _key("server", False)
    proxy: str = _key("server", "127.0.0.1")
    tls_cert: str = _key("server", "")
    tls_key: str = _key("server", "")
    url: str = _key("database", "sqlite:///evolabel-data/evolabel.db")
    checkpoint: str = _key("database", "own")
    min_free_mb: int = _key("database", 200)
    retain_days: int = _key("database", 0)
    archive: str = _key("database", "evolabel-data/archive")
    token_per_minute: int = _key("limits", 600)
    body_mb: int = _key("limits", 8)
    model_mb: int = _key("limits", 64)
    rows: int = _key("limits", 1000)
    queue: int = _key("limits", 2000)
    sse: int = _key("limits", 200)
    addresses: str = _key("metrics", "127.0.0.1, ::1")
    level: str = _key("log", "info")
    format: str = _key("log", "json")
    project: ProjectSettings = field(default_factory=ProjectSettings)

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise ParameterError(f"server.port is {self.port}; it must be from 0 to 65535")
        if bool(self.tls_cert) != bool(self.tls_key):
            raise ParameterError("a certificate and its key go together; give server.tls_cert and server.tls_key")
        for name in ("tls_cert", "tls_key"):
            path = getattr(self, name)
            if path and not Path(path).is_file():
                raise ParameterError(f"server.{name} is {path!r}; there is no such file")
        if self.host not in _PRIVATE and not self.behind_proxy and not self.tls_cert:
            raise ParameterError(
                f"--host {self.host} without TLS would send tokens in the clear; add --tls-cert and --tls-key, or "
                "--behind-proxy"
            )
        if self.level not in _LEVELS or self.format not in ("json", "text"):
            raise ParameterError(f"log.level is one of {', '.join(_LEVELS)}, log.format is json or text")
        for key, most in _MOST.items():
            value = getattr(self, key.partition(".")[2])
            if not 1 <= value <= most:
                raise ParameterError(f"{key} is {value}; it must be from 1 to {most}")
        if self.retain_days != 0 and not _FEWEST_DAYS <= self.retain_days <= 100_000:
            raise ParameterError(
                f"database.retain_days is {self.retain_days}; it must be 0, or from {_FEWEST_DAYS} to 100000, because "
                "acts of 30 days can be undone"
            )
        if self.checkpoint not in ("own", "external"):
            raise ParameterError(f"database.checkpoint is {self.checkpoint!r}; it must be own or external")
        if self.checkpoint == "external" and self.url.startswith("sqlite"):
            check_external_checkpoint()
        networks(self.addresses)
        networks(self.proxy)

    def retention(self) -> Retention | None:
        """Return how long payloads stay in the log, None for ever."""
        return Retention(self.retain_days, Path(self.archive)) if self.retain_days else None

    def limits(self) -> ServiceLimits:
        """Return the limits of the service."""
        return ServiceLimits.of(
            queue=self.queue, rows=self.rows, min_free_mb=self.min_free_mb, model_mb=self.model_mb, sse=self.sse
        )


class Loaded(NamedTuple):
    """A configuration, and where each of its values comes from, by key."""

    config: ServerConfig
    values: dict[str, Any]
    sources: dict[str, str]


def networks(text: str) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    """Return the networks in `text`, apart by commas; ParameterError for what is none."""
    try:
        return [ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip()]
    except ValueError as error:
        raise ParameterError(f"{error}; write addresses such as 127.0.0.1, 10.0.0.0/8") from None


def read_config(path: Path | None, environ: Mapping[str, str], flags: Mapping[str, Any]) -> Loaded:
    """Return the configuration by the TOML file at `path`, then `environ`, then `flags` by key (None: not given).

    ParameterError for unknown keys and values that cannot be used, with their source.
    """
    values = {key: default for key, (_, default) in _known().items()}
    sources = dict.fromkeys(values, "default")
    given = {key: (value, _flag(key)) for key, value in flags.items() if value is not None}
    for layer in (_from_file(path), _from_environment(environ), given):
        for key, (value, source) in layer.items():
            values[key], sources[key] = _checked(key, value, source), source
    project = ProjectSettings(**{key.partition(".")[2]: v for key, v in values.items() if key.startswith("project.")})
    others = {key.partition(".")[2]: v for key, v in values.items() if not key.startswith("project.")}
    return Loaded(ServerConfig(**others, project=project), values, sources)


def describe_config(loaded: Loaded) -> list[str]:
    """Return a line per key of `loaded`: the value and where it comes from; passwords are hidden."""
    shown = {**loaded.values, "database.url": _without_password(loaded.values["database.url"])}
    texts = {key: json.dumps(value) for key, value in shown.items()}
    width = max(len(f"{key} = {text}") for key, text in texts.items())
    return [f"{f'{key} = {text}':<{width}}  # {loaded.sources[key]}" for key, text in texts.items()]


def _known() -> dict[str, tuple[type, Any]]:
    """Return kind and default of every key, such as server.port."""
    own = {
        f"{item.metadata['section']}.{item.name}": (type(item.default), item.default)
        for item in fields(ServerConfig)
        if "section" in item.metadata
    }
    default = ProjectSettings()
    settings = {f"project.{item.name}": getattr(default, item.name) for item in fields(default)}
    return own | {key: (type(value), value) for key, value in settings.items()}


def _from_file(path: Path | None) -> dict[str, tuple[Any, str]]:
    """Return the values in the TOML file at `path`, by key, with the name of the file."""
    if path is None:
        return {}
    try:
        nested = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ParameterError(f"{path} cannot be read as TOML: {error}") from None
    found: dict[str, tuple[Any, str]] = {}
    for section, values in nested.items():
        if not isinstance(values, dict):
            raise _unknown(section, str(path))
        found |= {f"{section}.{name}": (value, str(path)) for name, value in values.items()}
    return found


def _from_environment(environ: Mapping[str, str]) -> dict[str, tuple[Any, str]]:
    """Return the values in `environ`, by key, with the name of the variable; other variables of evolabel are left."""
    sections = {key.partition(".")[0] for key in _known()}
    found = {}
    for name, text in environ.items():
        section, _, key = name.removeprefix(_PREFIX).lower().partition("_")
        if name.startswith(_PREFIX) and section in sections and key:
            found[f"{section}.{key}"] = (_read(f"{section}.{key}", text, name), name)
    return found


def _read(key: str, text: str, source: str) -> Any:
    """Return the value that `text` from `source` stands for."""
    kind = _kind(key, source)
    try:
        return _TRUTH[text.lower()] if kind is bool else kind(text)
    except (KeyError, ValueError):
        raise ParameterError(f"{key} is {text!r} ({source}); it must be of type {kind.__name__}") from None


def _checked(key: str, value: Any, source: str) -> Any:
    """Return `value` if it has the type that `key` needs."""
    kind = _kind(key, source)
    if kind is float and type(value) is int and abs(value) <= sys.float_info.max:
        value = float(value)
    if type(value) is not kind:
        raise ParameterError(f"{key} is {shown(value)} ({source}); it must be of type {kind.__name__}")
    return value


def _kind(key: str, source: str) -> type:
    known = _known()
    if key not in known:
        raise _unknown(key, source)
    return known[key][0]


def _unknown(key: str, source: str) -> ParameterError:
    section = key.partition(".")[0]
    sections = sorted({name.partition(".")[0] for name in _known()})
    near = [name for name in _known() if name.startswith(f"{section}.")] or sections
    return ParameterError(f"there is no key {key!r} ({source}); there are {first_names(near)}")


def _flag(key: str) -> str:
    return "--database" if key == "database.url" else "--" + key.partition(".")[2].replace("_", "-")


def _without_password(url: str) -> str:
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return "not a database URL"
