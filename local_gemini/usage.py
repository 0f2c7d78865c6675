"""Honest token counts: the whole context is billed again with every turn. Pure.

About 4 characters a text token, 25 audio tokens a second (silence included), 258 an image.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from local_gemini.wire import Json

CHARS_PER_TOKEN = 4
AUDIO_TOKENS_PER_S = 25
IMAGE_TOKENS = 258


def text_tokens(text: str) -> int:
    return -(-len(text) // CHARS_PER_TOKEN)


def audio_tokens(ms: int) -> int:
    return -(-ms * AUDIO_TOKENS_PER_S // 1000)


def details(by_modality: dict[str, int]) -> list[Json]:
    return [
        {"modality": name, "tokenCount": count} for name, count in by_modality.items() if count > 0
    ]


@dataclass(slots=True)
class Context:
    """The context window of one Live session. `instruction` survives compression."""

    instruction: int = 0
    text: int = 0
    audio_ms: int = 0
    image: int = 0
    compressions: int = 0
    billed: dict[str, int] = field(default_factory=dict)

    def read(self, text: str) -> None:
        self.text += text_tokens(text)

    def prompt(self) -> dict[str, int]:
        return {
            "TEXT": self.instruction + self.text,
            "AUDIO": audio_tokens(self.audio_ms),
            "IMAGE": self.image,
        }

    def turn(self, reply_ms: int, compression: tuple[int, int] | None = None) -> Json:
        """The `usageMetadata` of a turn whose reply is `reply_ms` long; the reply joins the
        context afterwards."""
        if compression is not None:
            self._compress(*compression)
        prompt = self.prompt()
        response = audio_tokens(reply_ms)
        self.audio_ms += reply_ms
        counts = {
            "promptTokenCount": sum(prompt.values()),
            "responseTokenCount": response,
            "totalTokenCount": sum(prompt.values()) + response,
        }
        for name, count in counts.items():
            self.billed[name] = self.billed.get(name, 0) + count
        return {
            **counts,
            "promptTokensDetails": details(prompt),
            "responseTokensDetails": details({"AUDIO": response}),
        }

    def _compress(self, trigger: int, target: int) -> None:
        total = sum(self.prompt().values())
        if total <= trigger:
            return
        keep = max(0, target - self.instruction) / max(1, total - self.instruction)
        self.text = int(self.text * keep)
        self.audio_ms = int(self.audio_ms * keep)
        self.image = int(self.image * keep)
        self.compressions += 1
