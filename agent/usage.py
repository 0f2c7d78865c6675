"""What one model call cost in tokens, and where that is reported. No I/O, no prices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from google.genai import types


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Token counts of one or more answers (AUTH-18); a count the service leaves out is 0."""

    input: int = 0
    output: int = 0
    thoughts: int = 0
    cached: int = 0
    total: int = 0

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            self.input + other.input,
            self.output + other.output,
            self.thoughts + other.thoughts,
            self.cached + other.cached,
            self.total + other.total,
        )


# Called with (handler, model, usage) once per grounding, turn or speech call, also when the answer
# was unusable: the tokens are spent either way. It must not block and must not raise.
UsageSink = Callable[[str, str, TokenUsage], None]


def usage_of(metadata: types.GenerateContentResponseUsageMetadata | None) -> TokenUsage:
    """Counts of one REST answer. Tool-use prompt tokens are input tokens."""
    if metadata is None:
        return TokenUsage()
    return TokenUsage(
        input=(metadata.prompt_token_count or 0) + (metadata.tool_use_prompt_token_count or 0),
        output=metadata.candidates_token_count or 0,
        thoughts=metadata.thoughts_token_count or 0,
        cached=metadata.cached_content_token_count or 0,
        total=metadata.total_token_count or 0,
    )
