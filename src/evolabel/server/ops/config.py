"""Configuration of the server: defaults < TOML file < environment < flags, as one frozen value."""

import ipaddress
import json
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self, cast

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model, model_validator
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from evolabel._utils.text import first_names
from evolabel._utils.validation import shown
from evolabel.errors import ParameterError
from evolabel.server.log.engines import check_external_checkpoint
from evolabel.server.project.settings import MEBIBYTE, MEGABYTE, ProjectSettings, Retention, ServiceLimits

_PREFIX = "EVOLABEL_"
_PRIVATE = ("127.0.0.1", "localhost", "::1")
_FEWEST_DAYS = 31
_TYPES = {"integer": "int", "number": "float", "boolean": "bool", "string": "str"}
Layer = dict[str, tuple[Any, str]]
"""Values by key, such as server.port, each with the name of its source."""


def networks(text: str) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    """Return the networks in `text`, apart by commas; ParameterError for what is none."""
    try:
        return [ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip()]
    except ValueError as error:
        raise ParameterError(f"{error}; write addresses such as 127.0.0.1, 10.0.0.0/8") from None


class Section(BaseModel):
    """Base of the sections: types are strict, unknown keys are errors."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class ServerSection(Section):
    """Where the server listens; another host than this machine's own needs TLS or a proxy that adds it.

    Headers of proxies are read from the address `proxy` alone.
    """

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8080
    behind_proxy: bool = False
    proxy: str = "127.0.0.1"
    tls_cert: str = ""
    tls_key: str = ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if bool(self.tls_cert) != bool(self.tls_key):
            raise ParameterError("a certificate and its key go together; give server.tls_cert and server.tls_key")
        for name, path in (("tls_cert", self.tls_cert), ("tls_key", self.tls_key)):
            if path and not Path(path).is_file():
                raise ParameterError(f"server.{name} is {path!r}; there is no such file")
        if self.host not in _PRIVATE and not self.behind_proxy and not self.tls_cert:
            raise ParameterError(
                f"--host {self.host} without TLS would send tokens in the clear; add --tls-cert and --tls-key, or "
                "--behind-proxy"
            )
        networks(self.proxy)
        return self


class DatabaseSection(Section):
    """The database, the megabytes of disk that stay free, and the days for which values of samples stay in it.

    `checkpoint` is "external" if another program moves SQLite's write-ahead log into the database.
    """

    url: str = "sqlite:///evolabel-data/evolabel.db"
    checkpoint: Literal["own", "external"] = "own"
    min_free_mb: Annotated[int, Field(ge=1, le=1_000_000)] = 200
    retain_days: Annotated[int, Field(ge=0, le=100_000)] = 0
    archive: str = "evolabel-data/archive"

    @model_validator(mode="after")
    def _check(self) -> Self:
        if 0 < self.retain_days < _FEWEST_DAYS:
            raise ParameterError(
                f"database.retain_days is {self.retain_days}; it must be 0, or from {_FEWEST_DAYS} to 100000, because "
                "acts of 30 days can be undone"
            )
        if self.checkpoint == "external" and self.url.startswith("sqlite"):
            check_external_checkpoint()
        return self


class LimitsSection(Section):
    """Requests of a token per minute, MiB of bodies, models and files, rows, waiting requests, open streams at most."""

    token_per_minute: Annotated[int, Field(ge=1, le=1_000_000)] = 600
    body_mb: Annotated[int, Field(ge=1, le=1024)] = 8
    model_mb: Annotated[int, Field(ge=1, le=1024)] = 64
    file_mb: Annotated[int, Field(ge=1, le=1024)] = 64
    rows: Annotated[int, Field(ge=1, le=1000)] = 1000
    queue: Annotated[int, Field(ge=1, le=1_000_000)] = 2000
    sse: Annotated[int, Field(ge=1, le=100_000)] = 200


class MetricsSection(Section):
    """Addresses or networks, apart by commas, that may read /metrics."""

    addresses: str = "127.0.0.1, ::1"

    @model_validator(mode="after")
    def _check(self) -> Self:
        networks(self.addresses)
        return self


class WebhooksSection(Section):
    """Networks, apart by commas, in which webhooks may reach addresses that are not public."""

    allow: str = ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        networks(self.allow)
        return self


class LogSection(Section):
    """The least level of messages that are logged, and how they are written."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["json", "text"] = "json"


_DEFAULTS = ProjectSettings()
ProjectSection: type[Section] = create_model(
    "ProjectSection",
    __base__=Section,
    **{item.name: (type(default := getattr(_DEFAULTS, item.name)), default) for item in fields(_DEFAULTS)},
)  # type: ignore[call-overload]
"""Settings of new projects that name no other, as `ProjectSettings` has them."""


class ServerConfig(BaseSettings):
    """What the server is started with, by section."""

    model_config = SettingsConfigDict(
        frozen=True, strict=True, extra="forbid", env_prefix=_PREFIX, env_nested_delimiter="_", env_nested_max_split=1
    )

    server: ServerSection = ServerSection()
    database: DatabaseSection = DatabaseSection()
    limits: LimitsSection = LimitsSection()
    metrics: MetricsSection = MetricsSection()
    webhooks: WebhooksSection = WebhooksSection()
    log: LogSection = LogSection()
    project: ProjectSection = ProjectSection()  # type: ignore[valid-type]

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, *others: Any, **named: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return `init_settings` of `settings_cls` alone; `read_config` reads the `others`, also `named`."""
        return (init_settings,)

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.project_settings()
        return self

    def project_settings(self) -> ProjectSettings:
        """Return the settings of new projects that name no other."""
        given: Any = self.project
        return ProjectSettings(**given.model_dump())

    def retention(self) -> Retention | None:
        """Return how long payloads stay in the log, None for ever."""
        days = self.database.retain_days
        return Retention(days, Path(self.database.archive)) if days else None

    def service_limits(self) -> ServiceLimits:
        """Return what a service of this configuration accepts at most: queued jobs, rows, sizes, open streams."""
        given, min_free = self.limits, self.database.min_free_mb * MEGABYTE
        bytes_of = {"model": given.model_mb * MEBIBYTE, "file": given.file_mb * MEBIBYTE}
        return ServiceLimits(given.queue, given.rows, min_free, sse=given.sse, **bytes_of)


class Loaded(NamedTuple):
    """A configuration, and where each of its values comes from, by key."""

    config: ServerConfig
    values: dict[str, Any]
    sources: dict[str, str]


def read_config(path: Path | None, environ: Mapping[str, str], flags: Mapping[str, Any]) -> Loaded:
    """Return the configuration by the TOML file at `path`, then `environ`, then `flags` by key (None: not given).

    ParameterError for unknown keys and values that cannot be used, with their source.
    """
    given: Layer = {key: (value, _flag(key)) for key, value in flags.items() if value is not None}
    found = _from_file(path) | _from_environment(environ) | given
    nested: dict[str, dict[str, Any]] = {}
    for key, (value, source) in found.items():
        if key not in _keys():
            raise _unknown(key, source)
        section, _, name = key.partition(".")
        nested.setdefault(section, {})[name] = value
    try:
        config = ServerConfig(**nested)  # type: ignore[arg-type]
    except ValidationError as error:
        key = ".".join(map(str, error.errors()[0]["loc"][:2]))
        raise _refused(key, *found.get(key, (None, "default")), error) from None
    values = {f"{section}.{name}": value for section, kept in config for name, value in kept}
    return Loaded(config, values, {key: found[key][1] if key in found else "default" for key in values})


def describe_config(loaded: Loaded) -> list[str]:
    """Return a line per key of `loaded`: the value and where it comes from; passwords are hidden."""
    shown = {**loaded.values, "database.url": _without_password(loaded.values["database.url"])}
    texts = {key: json.dumps(value) for key, value in shown.items()}
    width = max(len(f"{key} = {text}") for key, text in texts.items())
    return [f"{f'{key} = {text}':<{width}}  # {loaded.sources[key]}" for key, text in texts.items()]


@cache
def _keys() -> dict[str, TypeAdapter[Any]]:
    """Return what checks the value of every key, such as server.port."""
    return {
        f"{section}.{name}": TypeAdapter(cast(Any, Annotated[field.annotation, Field(), *field.metadata]))
        for section, part in ServerConfig.model_fields.items()
        for name, field in part.annotation.model_fields.items()  # type: ignore[union-attr]
    }


def _from_file(path: Path | None) -> Layer:
    """Return the values in the TOML file at `path`, by key, with the name of the file."""
    if path is None:
        return {}
    try:
        path.read_bytes()
        nested = TomlConfigSettingsSource(ServerConfig, toml_file=path)()
    except (OSError, ValueError, RecursionError) as error:
        raise ParameterError(f"{path} cannot be read as TOML: {error}") from None
    found: Layer = {}
    for section, values in nested.items():
        if not isinstance(values, dict):
            raise _unknown(section, str(path))
        found |= {f"{section}.{name}": (value, str(path)) for name, value in values.items()}
    return found


def _from_environment(environ: Mapping[str, str]) -> Layer:
    """Return the values in `environ`, by key, with the name of the variable; other variables of evolabel are left."""
    source = EnvSettingsSource(ServerConfig)
    source.env_vars = {name.lower(): text for name, text in environ.items()}
    found: Layer = {}
    for section, texts in source().items():
        for name in texts:
            key, variable = f"{section}.{name}", f"{_PREFIX}{section}_{name}".upper()
            text = source.env_vars[variable.lower()]
            if key not in _keys():
                raise _unknown(key, variable)
            try:
                found[key] = _keys()[key].validate_strings(text), variable
            except ValidationError as error:
                raise _refused(key, text, variable, error) from None
    return found


def _refused(key: str, value: Any, source: str, error: ValidationError) -> ParameterError:
    """Return the text about the first fault in `error`, in the `value` of `key` from `source`."""
    fault = error.errors()[0]
    if isinstance(cause := fault.get("ctx", {}).get("error"), ParameterError):
        return cause
    needs = _keys()[key].json_schema()
    if "enum" in needs:
        needed = f"one of {', '.join(needs['enum'])}"
    elif fault["type"] in ("greater_than_equal", "less_than_equal"):
        needed = f"from {needs['minimum']} to {needs['maximum']}"
    else:
        needed = f"of type {_TYPES[needs['type']]}"
    return ParameterError(f"{key} is {shown(value)} ({source}); it must be {needed}")


def _unknown(key: str, source: str) -> ParameterError:
    section = key.partition(".")[0]
    near = [name for name in _keys() if name.startswith(f"{section}.")] or sorted(ServerConfig.model_fields)
    return ParameterError(f"there is no key {key!r} ({source}); there are {first_names(near)}")


def _flag(key: str) -> str:
    return "--database" if key == "database.url" else "--" + key.partition(".")[2].replace("_", "-")


def _without_password(url: str) -> str:
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return "not a database URL"
