"""Reads a generateContent answer: text, finish reason, part kinds, search evidence. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from google.genai import types

from agent.failures import EmptyAnswer, ModelRefused


@dataclass(frozen=True, slots=True)
class SearchEvidence:
    """What the service says about a web search: queries run and pages used, (title, url)."""

    queries: tuple[str, ...] = ()
    pages: tuple[tuple[str, str], ...] = ()

    @property
    def used(self) -> bool:
        return bool(self.queries or self.pages)


def parts_of(response: types.GenerateContentResponse) -> list[types.Part]:
    content = response.candidates[0].content if response.candidates else None
    return list(content.parts or ()) if content is not None else []


def plain_text(response: types.GenerateContentResponse) -> str:
    """The words of the answer without thoughts; may be empty."""
    return "".join(part.text or "" for part in parts_of(response) if not part.thought)


def answer_text(response: types.GenerateContentResponse) -> str:
    """As `plain_text`. Raises EmptyAnswer when there is none, ModelRefused for a blocked prompt."""
    refuse_blocked(response)
    text = plain_text(response)
    if not text.strip():
        raise empty(response)
    return text


def empty(response: types.GenerateContentResponse) -> EmptyAnswer:
    kinds = tuple(_kind(part) for part in parts_of(response))
    return EmptyAnswer(finish_reason(response), kinds)


def refuse_blocked(response: types.GenerateContentResponse) -> None:
    """Raises ModelRefused when the service blocked the prompt itself."""
    feedback = response.prompt_feedback
    if not response.candidates and feedback is not None and feedback.block_reason:
        reason = feedback.block_reason.value
        raise ModelRefused("The model service declined this content.", reason)


def finish_reason(response: types.GenerateContentResponse) -> str:
    reason = response.candidates[0].finish_reason if response.candidates else None
    return reason.value if reason is not None else "NONE"


def search_evidence(response: types.GenerateContentResponse) -> SearchEvidence:
    metadata = response.candidates[0].grounding_metadata if response.candidates else None
    if metadata is None:
        return SearchEvidence()
    webs = [chunk.web for chunk in metadata.grounding_chunks or () if chunk.web is not None]
    return SearchEvidence(
        tuple(metadata.web_search_queries or ()),
        tuple((web.title or "", web.uri) for web in webs if web.uri),
    )


def sound_of(response: types.GenerateContentResponse) -> bytes:
    """The audio parts joined; whole 16 bit samples; empty when there are none."""
    blobs = [part.inline_data for part in parts_of(response) if part.inline_data is not None]
    pcm = b"".join(b.data or b"" for b in blobs if (b.mime_type or "").startswith("audio/"))
    return pcm[: len(pcm) & ~1]


def _kind(part: types.Part) -> str:
    if part.thought:
        return "thought"
    return next(iter(sorted(part.model_dump(exclude_none=True))), "empty")
