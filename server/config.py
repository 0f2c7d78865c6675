"""Product behaviour: the defaults of DATA-27 to DATA-57, overlaid by the stored `config/app`.

Only overrides are stored. A missing key yields its default, and so does an invalid one; a change
in the store is seen within CACHE_S, with no restart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from agent.tiers import ContextTiers, TierCaps, TierThresholds
from media.modes.voice_mode import Switches, VoiceMode, is_live_3_8, mode_of
from server.clock import Clock
from server.store.port import Store

CONFIG_PATH = "config/app"
CACHE_S = 2.0
# The Live service refuses an expiry of 20 hours or more (DATA-34).
LIVE_SESSION_MAX = timedelta(hours=20) - timedelta(minutes=1)

ThinkingLevel = Literal["low", "medium", "high"]


class _Part(BaseModel):
    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="ignore",
        alias_generator=to_camel,
        populate_by_name=True,
    )


class _Caps(_Part):
    agenda_max: int = Field(ge=1, le=100)
    outline_max: int = Field(ge=1, le=100)
    digest_chars: int = Field(ge=100, le=50_000)
    section_digest_chars: int = Field(ge=50, le=5_000)

    def domain(self) -> TierCaps:
        return TierCaps(
            self.agenda_max, self.outline_max, self.digest_chars, self.section_digest_chars
        )


def _caps(agenda: int, outline: int, digest: int, section: int) -> _Caps:
    return _Caps(
        agenda_max=agenda,
        outline_max=outline,
        digest_chars=digest,
        section_digest_chars=section,
    )


class _Tiers(_Part):
    standard: _Caps = _caps(5, 5, 2000, 400)
    structured: _Caps = _caps(12, 12, 4000, 600)
    deep: _Caps = _caps(20, 20, 6000, 600)

    def domain(self) -> ContextTiers:
        return ContextTiers(self.standard.domain(), self.structured.domain(), self.deep.domain())


class _Thresholds(_Part):
    structured_chars: int = Field(default=8_000, ge=1)
    deep_chars: int = Field(default=60_000, ge=1)
    structured_bytes: int = Field(default=200_000, ge=1)
    deep_bytes: int = Field(default=1_000_000, ge=1)

    def domain(self) -> TierThresholds:
        return TierThresholds(
            self.structured_chars, self.deep_chars, self.structured_bytes, self.deep_bytes
        )


# Deploy-managed: a stored `newsThemes` is ignored on purpose (DATA-47).
NEWS_THEMES = (
    "science news with sources",
    "climate news with sources",
    "AI news with sources",
    "politics & policy news with sources",
    "trending & viral news with sources",
)


class AppConfig(_Part):
    """One consistent reading of `config/app`. Wire and store names are the camelCase aliases."""

    ground_model: str = Field(default="gemini-3.8-flash", min_length=1)
    text_model: str = Field(default="gemini-3.8-flash", min_length=1)
    live_model: str = Field(default="gemini-3.8-live", min_length=1)
    tts_model: str = Field(default="gemini-3.1-flash-tts-preview", min_length=1)
    grounding_ttl_hours: float = Field(default=6, gt=0, le=24 * 365)
    live_token_uses: int = Field(default=5, ge=1, le=100)
    live_token_ttl_minutes: float = Field(default=5, gt=0, lt=20 * 60)
    live_session_minutes: float = Field(default=30, gt=0)
    admin_email: str | None = Field(default=None, min_length=3, max_length=254)
    live_vad_enabled: bool = True
    live_vad_silence_duration_ms: int = Field(default=1500, ge=0, le=10_000)
    live_vad_prefix_padding_ms: int = Field(default=300, ge=0, le=10_000)
    live_vad_start_of_speech_sensitivity: Literal[
        "START_SENSITIVITY_HIGH", "START_SENSITIVITY_LOW"
    ] = "START_SENSITIVITY_HIGH"
    live_vad_end_of_speech_sensitivity: Literal["END_SENSITIVITY_HIGH", "END_SENSITIVITY_LOW"] = (
        "END_SENSITIVITY_HIGH"
    )
    live_voice_name: str = ""
    live_output_audio_transcription_enabled: bool = True
    live_audio_output_enabled: bool = False
    live_agent_voice_enabled: bool = True
    live_native_reply: bool = True
    live_thinking_level: ThinkingLevel = "low"
    news_auto_publish: bool = False
    news_pipeline_enabled: bool = True
    news_candidates_per_theme: int = Field(default=3, ge=1, le=20)
    news_ttl_hours: float = Field(default=24, gt=0, le=24 * 365)
    daily_gemini_call_cap: int = Field(default=1000, ge=0)
    dialogue_thinking_level: ThinkingLevel = "low"
    grounding_thinking_level: ThinkingLevel = "low"
    context_tiers: _Tiers = _Tiers()
    context_tier_thresholds: _Thresholds = _Thresholds()
    enforce_agenda_completion: bool = False
    enforce_app_check: bool = False

    @property
    def news_themes(self) -> tuple[str, ...]:
        return NEWS_THEMES

    @property
    def tiers(self) -> ContextTiers:
        return self.context_tiers.domain()

    @property
    def thresholds(self) -> TierThresholds:
        return self.context_tier_thresholds.domain()

    @property
    def native_live_model(self) -> bool:
        """Whether `liveModel` is of the 3.8 Live family (VOICE-2)."""
        return is_live_3_8(self.live_model)

    def voice_mode(self, *, bound: bool = True) -> VoiceMode:
        """How a lesson that opens now sounds (VOICE-1); `bound`: session and topic are known."""
        return mode_of(
            Switches(
                native_reply=self.live_native_reply,
                agent_voice=self.live_agent_voice_enabled,
                audio_output=self.live_audio_output_enabled,
                model=self.live_model,
                bound=bound,
            )
        )

    @property
    def live_open_window(self) -> timedelta:
        """How long a minted token may open sessions (DATA-33)."""
        return timedelta(minutes=self.live_token_ttl_minutes)

    @property
    def live_session_lifetime(self) -> timedelta:
        """How long an opened session may run: longer than the window, under 20 h (DATA-34)."""
        wanted = timedelta(minutes=self.live_session_minutes)
        return min(max(wanted, self.live_open_window + timedelta(minutes=1)), LIVE_SESSION_MAX)

    def to_wire(self, *, for_admin: bool) -> dict[str, Any]:
        """Everything a reader may know; only admins see `adminEmail` (DATA-35)."""
        wire = self.model_dump(mode="json", by_alias=True)
        wire["newsThemes"] = list(self.news_themes)
        if not for_admin or self.admin_email is None:
            del wire["adminEmail"]
        return wire


_DEFAULTS: dict[str, Any] = AppConfig().model_dump(by_alias=True)


def overlay(stored: dict[str, Any]) -> AppConfig:
    """`stored` over the defaults, field by field; what does not validate keeps its default."""
    merged = _merge(_DEFAULTS, stored)
    for _ in range(2):
        try:
            return AppConfig.model_validate(merged)
        except ValidationError as error:
            for detail in error.errors(include_url=False, include_context=False):
                _reset(merged, [str(part) for part in detail["loc"]])
    return AppConfig()


def mistakes(stored: Mapping[str, Any]) -> list[str]:
    """What `overlay` would pass over: one sentence for each key that is unknown or invalid."""
    found = list(_unknown(stored, _DEFAULTS, ""))
    try:
        AppConfig.model_validate(_merge(_DEFAULTS, dict(stored)))
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_context=False):
            place = ".".join(str(part) for part in detail["loc"])
            found.append(f"{place}: {detail['msg']}, not {detail['input']!r}")
    return found


def _unknown(stored: Mapping[str, Any], known: Mapping[str, Any], place: str) -> Iterator[str]:
    for key, value in stored.items():
        if not place and key == "newsThemes":
            yield "newsThemes comes with the release and cannot be set"
        elif key not in known:
            near = get_close_matches(key, known, 1)
            yield f"there is no {place}{key}" + (f"; do you mean {place}{near[0]}?" if near else "")
        elif isinstance(value, dict) and isinstance(known[key], dict):
            yield from _unknown(value, known[key], f"{place}{key}.")


def _merge(defaults: dict[str, Any], stored: dict[str, Any]) -> dict[str, Any]:
    merged = deepcopy(defaults)
    for key, value in stored.items():
        if key not in merged:
            continue
        both_maps = isinstance(merged[key], dict) and isinstance(value, dict)
        merged[key] = _merge(merged[key], value) if both_maps else value
    return merged


def _reset(merged: dict[str, Any], path: list[str]) -> None:
    target, default = merged, _DEFAULTS
    while len(path) > 1 and isinstance(target.get(path[0]), dict):
        target, default = target[path[0]], default[path[0]]
        path = path[1:]
    target[path[0]] = deepcopy(default[path[0]])


class ConfigSource:
    """Reads `config/app` at most once per CACHE_S."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._cached: AppConfig | None = None
        self._read_at: datetime = clock.now()

    async def load(self) -> AppConfig:
        """The configuration of this moment. Raises StoreDown."""
        age = abs((self._clock.now() - self._read_at).total_seconds())
        if self._cached is None or age >= CACHE_S:
            doc = await self._store.get(CONFIG_PATH)
            self._cached = overlay(doc.data if doc else {})
            self._read_at = self._clock.now()
        return self._cached

    def forget(self) -> None:
        """The next `load` reads the store: called after an own write."""
        self._cached = None
