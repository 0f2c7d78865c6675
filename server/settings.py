"""Infrastructure settings: one frozen object from the environment, all mistakes told at once.

The only module of the server that reads the environment. Product behaviour is `config.py`.
"""

from __future__ import annotations

import ipaddress
import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

DEFAULT_PORT = 8080
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


class SettingsInvalid(Exception):
    """Every mistake in the environment, one sentence each; never contains a value of a secret."""

    def __init__(self, mistakes: list[str]) -> None:
        super().__init__("\n".join(mistakes))
        self.mistakes = mistakes


def is_loopback(host: str) -> bool:
    """Whether binding to `host` is reachable from this machine only."""
    if host in LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _names(value: object) -> object:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


class Settings(BaseSettings):
    """Names of DESIGN 4. Tests pass fields by name; the process uses `load_settings`."""

    model_config = SettingsConfigDict(
        frozen=True, extra="ignore", populate_by_name=True, env_ignore_empty=True
    )

    host: str = Field(default="127.0.0.1", validation_alias="PIDJIN_HOST")
    port: int = Field(default=DEFAULT_PORT, validation_alias="PIDJIN_PORT", ge=0, le=65535)
    udp_port_override: int | None = Field(
        default=None,
        validation_alias="PIDJIN_UDP_PORT",
        ge=0,
        le=65535,
        description="default: port",
    )
    # Addresses a peer may reach this machine under, when they differ from its own (1:1 NAT).
    public_ip: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), validation_alias="PIDJIN_PUBLIC_IP"
    )
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), validation_alias="PIDJIN_ALLOWED_HOSTS"
    )
    data_dir: Path = Field(default=Path(".pidjin"), validation_alias="PIDJIN_DATA_DIR")
    store: Literal["sqlite"] = Field(default="sqlite", validation_alias="PIDJIN_STORE")
    identity: Literal["local"] = Field(default="local", validation_alias="PIDJIN_IDENTITY")
    local_llm_url: str | None = Field(default=None, validation_alias="PIDJIN_LOCAL_LLM_URL")
    admin_email: str | None = Field(
        default=None, validation_alias="PIDJIN_ADMIN_EMAIL", max_length=254
    )
    dev_token: str | None = Field(default=None, validation_alias="PIDJIN_DEV_TOKEN", repr=False)
    ice_servers: tuple[dict[str, Any], ...] = Field(
        default=(), validation_alias="PIDJIN_ICE_SERVERS"
    )
    turn_url: str | None = Field(default=None, validation_alias="PIDJIN_TURN_URL")
    turn_secret: str | None = Field(default=None, validation_alias="PIDJIN_TURN_SECRET", repr=False)
    tls_cert: Path | None = Field(default=None, validation_alias="PIDJIN_TLS_CERT")
    tls_key: Path | None = Field(default=None, validation_alias="PIDJIN_TLS_KEY")
    gemini_api_base: str | None = Field(default=None, validation_alias="GEMINI_API_BASE")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="INFO", validation_alias="PIDJIN_LOG_LEVEL"
    )
    log_json: bool = Field(default=False, validation_alias="PIDJIN_LOG_JSON")

    @field_validator("public_ip", "allowed_hosts", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return _names(value)

    @field_validator("public_ip")
    @classmethod
    def _addresses(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for address in value:
            try:
                ipaddress.ip_address(address)
            except ValueError:
                raise ValueError(f"{address!r} is not an IP address") from None
        return value

    @field_validator("ice_servers")
    @classmethod
    def _ice(cls, value: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
        if any("urls" not in server for server in value):
            raise ValueError('every entry needs "urls"')
        return value

    @field_validator("log_level", mode="before")
    @classmethod
    def _upper(cls, value: object) -> object:
        return value.upper() if isinstance(value, str) else value

    @field_validator("local_llm_url", "gemini_api_base")
    @classmethod
    def _web_address(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("http://", "https://")):
            raise ValueError("must start with http:// or https://")
        return value

    @model_validator(mode="after")
    def _together(self) -> Settings:
        problems = []
        if self.dev_token is not None and not is_loopback(self.host):
            problems.append(
                "PIDJIN_DEV_TOKEN gives admin access to whoever knows it, so it is allowed on a "
                f"loopback PIDJIN_HOST only, not on {self.host}"
            )
        if (self.turn_url is None) != (self.turn_secret is None):
            problems.append("PIDJIN_TURN_URL and PIDJIN_TURN_SECRET must be set together")
        if (self.tls_cert is None) != (self.tls_key is None):
            problems.append("PIDJIN_TLS_CERT and PIDJIN_TLS_KEY must be set together")
        for name, file in (("PIDJIN_TLS_CERT", self.tls_cert), ("PIDJIN_TLS_KEY", self.tls_key)):
            if file is not None and not file.is_file():
                problems.append(f"{name}: there is no file {file}")
        if problems:
            raise ValueError("; ".join(problems))
        return self

    @property
    def udp_port(self) -> int:
        return self.port if self.udp_port_override is None else self.udp_port_override

    @property
    def loopback(self) -> bool:
        return is_loopback(self.host)


def gemini_api_key() -> str:
    """The key, read anew at each use so that rotating it needs no restart; empty if there is none
    (AUTH-15)."""
    return os.environ.get("GEMINI_API_KEY", "").strip()


def load_settings() -> Settings:
    """Settings of this process. Raises SettingsInvalid with every mistake."""
    mistakes: list[str] = []
    settings: Settings | None = None
    try:
        settings = Settings()
    except ValidationError as error:
        mistakes += [_sentence(detail) for detail in error.errors(include_url=False)]
    if settings is not None and settings.gemini_api_base and not gemini_api_key():
        mistakes.append(
            "GEMINI_API_BASE is set but GEMINI_API_KEY is not: that service needs a key"
        )
    if mistakes or settings is None:
        raise SettingsInvalid(mistakes)
    return settings


_FIRST_RELEASE_CHOICES = {
    "PIDJIN_STORE": "the store 'sqlite' (the default) is the only one in this version",
    "PIDJIN_IDENTITY": "the sign-in 'local' (the default) is the only one in this version",
}


def _sentence(detail: Any) -> str:
    name = str(detail["loc"][0]) if detail["loc"] else ""
    if name in _FIRST_RELEASE_CHOICES:
        return f"{name}={detail['input']} is not available: {_FIRST_RELEASE_CHOICES[name]}"
    message = str(detail["msg"]).removeprefix("Value error, ")
    return f"{name}: {message}" if name else message
