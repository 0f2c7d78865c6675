"""Infrastructure settings: one frozen object from the environment, all mistakes told at once.

The only module of the server that reads the environment. Product behaviour is `config.py`.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from server.addresses import (
    host_and_port,
    host_names,
    ipv4_addresses,
    is_loopback,
    names,
    web_address,
    web_origin,
)
from server.email_address import email_address
from server.ice_servers import checked_ice_servers, checked_turn_urls, parsed

DEFAULT_PORT = 8080
# Firebase's own convention: no real project has such a name.
DEMO_PROJECTS = "demo-"
_PROJECT = re.compile(r"[a-z0-9][a-z0-9.:-]{2,62}\Z")
_API_KEY = re.compile(r"[A-Za-z0-9_-]{1,200}\Z")


class SettingsInvalid(Exception):
    """Every mistake in the environment, one sentence each; never contains a value of a secret."""

    def __init__(self, mistakes: list[str]) -> None:
        super().__init__("\n".join(mistakes))
        self.mistakes = mistakes


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
    udp_host_override: str | None = Field(
        default=None, validation_alias="PIDJIN_UDP_HOST", description="default: host"
    )
    # Addresses a peer may reach this machine under, when they differ from its own (1:1 NAT).
    public_ip: Annotated[
        tuple[str, ...], NoDecode, BeforeValidator(names), AfterValidator(ipv4_addresses)
    ] = Field(default=(), validation_alias="PIDJIN_PUBLIC_IP")
    allowed_hosts: Annotated[
        tuple[str, ...], NoDecode, BeforeValidator(names), AfterValidator(host_names)
    ] = Field(default=(), validation_alias="PIDJIN_ALLOWED_HOSTS")
    data_dir: Path = Field(default=Path(".pidjin"), validation_alias="PIDJIN_DATA_DIR")
    store: Literal["sqlite", "firestore"] = Field(default="sqlite", validation_alias="PIDJIN_STORE")
    identity: Literal["local", "firebase"] = Field(
        default="local", validation_alias="PIDJIN_IDENTITY"
    )
    firebase_project: str | None = Field(
        default=None,
        validation_alias=AliasChoices("PIDJIN_FIREBASE_PROJECT", "GOOGLE_CLOUD_PROJECT"),
        validate_default=True,
    )
    firebase_check_revoked: bool = Field(
        default=False, validation_alias="PIDJIN_FIREBASE_CHECK_REVOKED"
    )
    # The web API key of the project: it names the project to Google and opens nothing by itself.
    firebase_api_key: str | None = Field(
        default=None, validation_alias="PIDJIN_FIREBASE_API_KEY", repr=False
    )
    # Scheme, host and port in the address bar: where Google sends a browser back to.
    public_url: Annotated[str, AfterValidator(web_origin)] | None = Field(
        default=None, validation_alias="PIDJIN_PUBLIC_URL"
    )
    firestore_emulator_host: Annotated[str, AfterValidator(host_and_port)] | None = Field(
        default=None, validation_alias="FIRESTORE_EMULATOR_HOST"
    )
    firebase_auth_emulator_host: Annotated[str, AfterValidator(host_and_port)] | None = Field(
        default=None, validation_alias="FIREBASE_AUTH_EMULATOR_HOST"
    )
    local_llm_url: Annotated[str, AfterValidator(web_address)] | None = Field(
        default=None, validation_alias="PIDJIN_LOCAL_LLM_URL"
    )
    admin_email: Annotated[str, AfterValidator(email_address)] | None = Field(
        default=None, validation_alias="PIDJIN_ADMIN_EMAIL", max_length=254
    )
    dev_token: str | None = Field(default=None, validation_alias="PIDJIN_DEV_TOKEN", repr=False)
    ice_servers: Annotated[
        tuple[dict[str, Any], ...],
        NoDecode,
        BeforeValidator(parsed),
        AfterValidator(checked_ice_servers),
    ] = Field(default=(), validation_alias="PIDJIN_ICE_SERVERS")
    turn_url: Annotated[str, AfterValidator(checked_turn_urls)] | None = Field(
        default=None, validation_alias="PIDJIN_TURN_URL"
    )
    turn_secret: str | None = Field(default=None, validation_alias="PIDJIN_TURN_SECRET", repr=False)
    tls_cert: Path | None = Field(default=None, validation_alias="PIDJIN_TLS_CERT")
    tls_key: Path | None = Field(default=None, validation_alias="PIDJIN_TLS_KEY")
    gemini_api_base: Annotated[str, AfterValidator(web_address)] | None = Field(
        default=None, validation_alias="GEMINI_API_BASE"
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="INFO", validation_alias="PIDJIN_LOG_LEVEL"
    )
    otlp_endpoint: Annotated[str, AfterValidator(web_address)] | None = Field(
        default=None, validation_alias="OTEL_EXPORTER_OTLP_ENDPOINT"
    )
    turn_logs: bool = Field(default=False, validation_alias="PIDJIN_TURN_LOGS")
    log_json: bool = Field(default=False, validation_alias="PIDJIN_LOG_JSON")

    @field_validator("firebase_project")
    @classmethod
    def _project(cls, value: str | None, info: ValidationInfo) -> str | None:
        for setting, choice in (("store", "firestore"), ("identity", "firebase")):
            if value is None and info.data.get(setting) == choice:
                raise ValueError(
                    f"PIDJIN_{setting.upper()}={choice} needs it: the id of the Firebase project"
                )
        if value is not None and not _PROJECT.match(value):
            raise ValueError("must be the id of a Firebase project, such as my-school-4f2a1")
        return value

    @field_validator("firebase_api_key")
    @classmethod
    def _api_key(cls, value: str | None) -> str | None:
        if value is not None and not _API_KEY.match(value):
            raise ValueError("must be the web API key of the Firebase project: letters and digits")
        return value

    @field_validator("log_level", mode="before")
    @classmethod
    def _upper(cls, value: object) -> object:
        return value.upper() if isinstance(value, str) else value

    @model_validator(mode="after")
    def _together(self) -> Settings:
        problems = []
        if self.dev_token is not None and not is_loopback(self.host):
            problems.append(
                "PIDJIN_DEV_TOKEN gives admin access to whoever knows it, so it is allowed on a "
                f"loopback PIDJIN_HOST only, not on {self.host}"
            )
        if self.identity == "firebase" and self.firebase_auth_emulator_host is not None:
            demo = (self.firebase_project or "").startswith(DEMO_PROJECTS)
            if not demo or not is_loopback(self.host):
                # firebase-admin checks no signature then (docs/notes/libraries.md).
                problems.append(
                    "FIREBASE_AUTH_EMULATOR_HOST makes anybody whoever they claim to be, so it is "
                    f"allowed for a project named {DEMO_PROJECTS}… on a loopback PIDJIN_HOST only"
                )
        problems += self._google_problems()
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

    def _google_problems(self) -> Iterator[str]:
        if self.firebase_api_key is None:
            return
        if self.identity != "firebase":
            yield "PIDJIN_FIREBASE_API_KEY needs PIDJIN_IDENTITY=firebase"
        if self.firebase_auth_emulator_host is not None:
            yield "PIDJIN_FIREBASE_API_KEY: FIREBASE_AUTH_EMULATOR_HOST has no sign-in with Google"
        if self.public_url is None:
            yield (
                "PIDJIN_FIREBASE_API_KEY needs PIDJIN_PUBLIC_URL: the address in the address bar, "
                "where Google sends people back to"
            )

    @property
    def udp_host(self) -> str:
        """Where lessons are listened for: a proxy on this machine carries TCP, never sound."""
        return self.udp_host_override or self.host

    @property
    def udp_port(self) -> int:
        return self.port if self.udp_port_override is None else self.udp_port_override

    @property
    def project(self) -> str:
        """The Firebase project, where a setting that needs it is chosen."""
        if self.firebase_project is None:
            raise ValueError("no Firebase project is set")
        return self.firebase_project

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
    if settings is not None:
        mistakes += _missing_packages(settings)
    if mistakes or settings is None:
        raise SettingsInvalid(mistakes)
    return settings


def _missing_packages(settings: Settings) -> Iterator[str]:
    firestore, firebase = settings.store == "firestore", settings.identity == "firebase"
    for chosen, setting, module, package in (
        (
            firestore,
            "PIDJIN_STORE=firestore",
            "google.cloud.firestore_v1",
            "google-cloud-firestore",
        ),
        (firebase, "PIDJIN_IDENTITY=firebase", "firebase_admin", "firebase-admin"),
    ):
        if chosen and not _installed(module):
            yield f"{setting} needs a package that is not installed: pip install {package}"


def _installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # not even its parent
        return False


def _variable(name: str) -> str:
    """The environment's name of a field that pydantic calls by its own (when it is not set)."""
    field = Settings.model_fields.get(name)
    alias = field.validation_alias if field else None
    if isinstance(alias, AliasChoices):
        alias = str(alias.choices[0])
    return alias if isinstance(alias, str) else name


def _sentence(detail: Any) -> str:
    name = _variable(str(detail["loc"][0])) if detail["loc"] else ""
    message = str(detail["msg"]).removeprefix("Value error, ")
    return f"{name}: {message}" if name else message
