"""Which models the double knows and how their Live behaviour differs. Pure.

Any other name is served too, with the traits of the newest family.
"""

from __future__ import annotations

from dataclasses import dataclass

from local_gemini.wire import Json

INPUT_TOKENS = 131_072
OUTPUT_TOKENS = 65_536

GENERATE = ("generateContent", "countTokens")
LIVE = ("bidiGenerateContent",)
EMBED = ("embedContent", "batchEmbedContents")

MODELS: dict[str, tuple[str, ...]] = {
    "gemini-3.8-live": LIVE,
    "gemini-3.8-live-extended-thinking": LIVE,
    "gemini-3.1-flash-live-preview": LIVE,
    "gemini-3.8-flash": GENERATE,
    "gemini-3.5-flash-lite": GENERATE,
    "gemini-2.5-flash": GENERATE,
    "gemini-3.1-flash-tts-preview": GENERATE,
    "gemini-2.5-flash-preview-tts": GENERATE,
    "gemini-embedding-001": EMBED,
    "gemini-embedding-2": EMBED,
    "text-embedding-004": EMBED,
}


@dataclass(frozen=True, slots=True)
class LiveTraits:
    """`context_mid_session`: clientContent after the first realtime input (3.1 refuses it with
    1007). `thinking`: thinkingConfig is allowed. `status`: turns carry interactionStatus.
    `flushes`: audioStreamEnd ends the utterance (3.8 ignores it)."""

    context_mid_session: bool = True
    thinking: bool = True
    status: bool = False
    flushes: bool = True


def bare(model: str) -> str:
    return model.removeprefix("models/")


def live_traits(model: str) -> LiveTraits:
    name = bare(model)
    if name.startswith("gemini-3.8-live-extended-thinking"):
        return LiveTraits(status=True, flushes=False)
    if name.startswith("gemini-3.8-live"):
        return LiveTraits(thinking=False, flushes=False)
    if name.startswith("gemini-3.1-flash-live"):
        return LiveTraits(context_mid_session=False)
    return LiveTraits()


def described(name: str) -> Json:
    """The resource that `models.get` answers."""
    return {
        "name": f"models/{name}",
        "version": "local",
        "displayName": f"{name} (local double)",
        "description": "Answered by a small local tutor, not by Google.",
        "inputTokenLimit": INPUT_TOKENS,
        "outputTokenLimit": OUTPUT_TOKENS,
        "supportedGenerationMethods": list(MODELS.get(name, GENERATE)),
    }
