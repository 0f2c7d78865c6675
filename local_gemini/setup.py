"""The first Live message: strict reading of `setup` into what the session needs. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from local_gemini.models import live_traits
from local_gemini.wire import Json, WireError, camel, check_fields, text_of

# Used when the client leaves automatic activity detection to the service.
DEFAULT_SILENCE_MS = 500
DEFAULT_PREFIX_MS = 100
MAX_SILENCE_MS = 10_000

CONTENT: Mapping[str, Any] = {"role": None, "parts": None}
TRANSCRIPTION: Mapping[str, Any] = dict.fromkeys(
    (
        "languageCodes",
        "languageAuto",
        "languageHints",
        "customVocabulary",
        "adaptationPhrases",
        "wordTimestamp",
        "diarization",
        "mode",
    )
)
GENERATION: Mapping[str, Any] = {
    **dict.fromkeys(
        (
            "responseModalities",
            "temperature",
            "topP",
            "topK",
            "candidateCount",
            "maxOutputTokens",
            "stopSequences",
            "seed",
            "presencePenalty",
            "frequencyPenalty",
            "responseLogprobs",
            "logprobs",
            "responseMimeType",
            "responseSchema",
            "responseJsonSchema",
            "mediaResolution",
            "enableAffectiveDialog",
            "translationConfig",
            "imageConfig",
            "audioTimestamp",
            "routingConfig",
            "modelSelectionConfig",
            "enableEnhancedCivicAnswers",
            "responseFormat",
            "audioTranscriptionConfig",
        )
    ),
    "speechConfig": {
        "voiceConfig": None,
        "languageCode": None,
        "multiSpeakerVoiceConfig": None,
    },
    "thinkingConfig": {"includeThoughts": None, "thinkingBudget": None, "thinkingLevel": None},
}
SETUP: Mapping[str, Any] = {
    "model": None,
    "generationConfig": GENERATION,
    "systemInstruction": CONTENT,
    "tools": None,
    "safetySettings": None,
    "labels": None,
    "avatarConfig": None,
    "sessionResumption": {"handle": None, "transparent": None},
    "inputAudioTranscription": TRANSCRIPTION,
    "outputAudioTranscription": TRANSCRIPTION,
    "realtimeInputConfig": {
        "automaticActivityDetection": {
            "disabled": None,
            "startOfSpeechSensitivity": None,
            "endOfSpeechSensitivity": None,
            "prefixPaddingMs": None,
            "silenceDurationMs": None,
        },
        "activityHandling": None,
        "turnCoverage": None,
    },
    "contextWindowCompression": {
        "triggerTokens": None,
        "slidingWindow": {"targetTokens": None},
    },
    "proactivity": {"proactiveAudio": None},
    "historyConfig": {"initialHistoryInClientContent": None},
}


@dataclass(frozen=True, slots=True)
class Setup:
    """What a Live session runs on. `raw` is the whole setup in camelCase."""

    raw: Json
    model: str
    instruction: str
    automatic: bool
    silence_ms: int
    prefix_ms: int
    interrupts: bool
    input_text: bool
    output_text: bool
    resumption: bool
    handle: str | None
    compression: tuple[int, int] | None
    seeded: bool


def setup_message(message: Mapping[str, Any]) -> Json:
    """The setup object of the first message, checked field by field. Raises WireError."""
    if set(message) != {"setup"}:
        raise WireError("Request contains an invalid argument: setup must come first and alone.")
    setup = camel(message["setup"])
    check_fields(setup, SETUP, "setup")
    return dict(setup)


def setup_of(raw: Json) -> Setup:
    """Reads a checked setup. Raises WireError for what the model does not support."""
    model = raw.get("model")
    if not isinstance(model, str) or not model.startswith("models/"):
        raise WireError("Request contains an invalid argument: setup.model must be models/….")
    traits = live_traits(model)
    generation = raw.get("generationConfig") or {}
    modalities = generation.get("responseModalities") or ["AUDIO"]
    if modalities != ["AUDIO"]:
        raise WireError(f"The requested combination of response modalities {modalities} fails.")
    if "thinkingConfig" in generation and not traits.thinking:
        raise WireError(f"Thinking is not supported for {model}.")
    level = (generation.get("thinkingConfig") or {}).get("thinkingLevel")
    if level == "MINIMAL" and traits.status:
        raise WireError(f"Thinking level MINIMAL is not supported for {model}.")
    if (raw.get("proactivity") or {}).get("proactiveAudio") is False and not traits.thinking:
        raise WireError(f"proactiveAudio cannot be turned off for {model}.")
    resumption = raw.get("sessionResumption")
    if (resumption or {}).get("transparent"):
        raise WireError("Transparent session resumption is not supported.")
    realtime = raw.get("realtimeInputConfig") or {}
    detection = realtime.get("automaticActivityDetection") or {}
    silence_ms = _whole(detection.get("silenceDurationMs"), DEFAULT_SILENCE_MS, "silenceDurationMs")
    prefix_ms = _whole(detection.get("prefixPaddingMs"), DEFAULT_PREFIX_MS, "prefixPaddingMs")
    return Setup(
        raw=raw,
        model=model,
        instruction=text_of(raw.get("systemInstruction")),
        automatic=not detection.get("disabled", False),
        silence_ms=silence_ms,
        prefix_ms=prefix_ms,
        interrupts=realtime.get("activityHandling") != "NO_INTERRUPTION",
        input_text="inputAudioTranscription" in raw,
        output_text="outputAudioTranscription" in raw,
        resumption=resumption is not None,
        handle=(resumption or {}).get("handle") or None,
        compression=_compression(raw.get("contextWindowCompression")),
        seeded=bool((raw.get("historyConfig") or {}).get("initialHistoryInClientContent")),
    )


def _compression(value: Mapping[str, Any] | None) -> tuple[int, int] | None:
    """(trigger, target) in tokens; the target defaults to half the trigger."""
    if value is None:
        return None
    trigger = _whole(value.get("triggerTokens"), 104_857, "triggerTokens", 2**31)
    window = value.get("slidingWindow") or {}
    return trigger, _whole(window.get("targetTokens"), trigger // 2, "targetTokens", 2**31)


def _whole(value: object, default: int, name: str, top: int = MAX_SILENCE_MS) -> int:
    """An int32, or an int64 that proto JSON writes as a string."""
    if value is None:
        return default
    if isinstance(value, str) and value.isdigit():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= top:
        raise WireError(f"Request contains an invalid argument: {name}={value!r}.")
    return value
