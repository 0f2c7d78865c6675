"""`groundDocument`: a paste or an upload of the learner's own becomes a topic (API-10 to 13)."""

from __future__ import annotations

import asyncio
import base64
import binascii
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from pydantic import Field, model_validator

from agent.documents import (
    DocumentUnreadable,
    check_document,
    document_fingerprint,
    document_tier,
)
from agent.documents import ground_document as ground
from agent.pdf import PdfText, read_pdf
from agent.prompts.quoting import one_line
from agent.tiers import ContextTiers, TierThresholds
from agent.topic import Tier
from server.callers import Caller
from server.context import Context
from server.errors import Refused, invalid
from server.operations.fields import NotBlank, check_words
from server.operations.topics import GroundedResponse
from server.registry import MODEL_DEADLINE_S, Operation, Wire
from server.roles import Role
from server.store.records import StoredTopic, document_topic_id, topic_path
from server.usage import Tally

TEXT_MAX_CHARS = 120_000
FILE_MAX_BYTES = 5 * 1024 * 1024
# Base64 of the largest file, the title and the JSON around them.
DOCUMENT_BODY_MAX = int(7.2 * 1024 * 1024)
PDF = "application/pdf"
TEXT_TYPES = ("text/plain", "text/markdown")


class GroundDocumentRequest(Wire):
    title: Annotated[str, Field(max_length=300), NotBlank]
    text: Annotated[str, Field(max_length=TEXT_MAX_CHARS)] | None = None
    mime_type: Annotated[str, Field(max_length=100)] | None = None
    base64: str | None = None

    @model_validator(mode="after")
    def _one_source(self) -> GroundDocumentRequest:
        pasted = self.text is not None
        uploaded = self.mime_type is not None and self.base64 is not None
        halves = (self.mime_type is None) != (self.base64 is None)
        if halves or pasted == uploaded or (pasted and self.mime_type is not None):
            raise ValueError("either text is needed, or mimeType together with base64")
        return self


@dataclass(frozen=True, slots=True)
class Material:
    """What is read: a text or a PDF; `file_bytes` is the size of an uploaded text file."""

    text: str | None
    pdf: bytes | None
    file_bytes: int | None
    fingerprint: str
    tier: Tier


async def ground_document(
    ctx: Context, caller: Caller, request: GroundDocumentRequest
) -> GroundedResponse:
    config = await ctx.config.load()
    # Decoding, hashing and counting take half a second for the largest file: one of a person at a
    # time, and few of all, so that lessons keep their share of the machine.
    async with ctx.locks.of(f"read:{caller.uid}"), ctx.reading:
        material = await asyncio.to_thread(_read, request, config.tiers, config.thresholds)
    title = one_line(request.title)
    topic_id = document_topic_id(title, caller.uid)
    stored = await ctx.store.get(topic_path(topic_id))
    if stored is not None:
        cached = StoredTopic.from_store(topic_id, stored.data)
        same = cached.content_hash == material.fingerprint
        if same and cached.grounded.depth_tier == material.tier:
            return GroundedResponse.of(cached, from_cache=True)
    pdf_text = await _read_here(material.pdf) if ctx.local_tutor else None
    await ctx.quota.admit(caller.uid)
    tally = Tally(ctx.rates)
    at = ctx.clock.now()
    try:
        grounded = await ground(
            ctx.gateway,
            title=title,
            text=material.text,
            pdf=material.pdf,
            file_bytes=material.file_bytes,
            pdf_text=pdf_text,
            tiers=config.tiers,
            thresholds=config.thresholds,
            model=config.ground_model,
            thinking_level=config.grounding_thinking_level,
            record=tally.sink,
        )
    finally:
        await ctx.usage.add(caller.uid, tally.bill)
    topic = StoredTopic(
        topic_id,
        caller.uid,
        grounded,
        at,
        at + timedelta(hours=config.grounding_ttl_hours),
        material.fingerprint,
    )
    await ctx.store.set(topic_path(topic_id), topic.to_store())
    return GroundedResponse.of(topic, from_cache=False)


async def _read_here(pdf: bytes | None) -> PdfText | None:
    """The local tutor reads no files: this server does. Raises `invalid-argument`."""
    if pdf is None:
        return None
    try:
        return await read_pdf(pdf)
    except DocumentUnreadable as error:
        raise invalid(f"{error} Please paste its text instead.", reason="unreadable") from None


def _read(
    request: GroundDocumentRequest, tiers: ContextTiers, thresholds: TierThresholds
) -> Material:
    """Decodes and checks the material. Raises `invalid-argument` with what to do about it."""
    text, pdf, file_bytes = request.text, None, None
    if request.mime_type not in (None, PDF, *TEXT_TYPES):
        raise invalid(
            "Only PDF, plain text and Markdown files can be read. Please send one of these, "
            "or paste the text.",
            reason="wrong-kind",
        )
    if request.base64 is not None:
        data = _decoded(request.base64)
        if request.mime_type == PDF:
            pdf = data
        else:
            text, file_bytes = _text_of(data), len(data)
    try:
        check_document(text[:TEXT_MAX_CHARS] if text is not None else None, pdf)
    except DocumentUnreadable as error:
        raise _unreadable(str(error)) from None
    if text is not None:
        check_words(text[:TEXT_MAX_CHARS])
    return Material(
        text=_readable_part(text),
        pdf=pdf,
        file_bytes=file_bytes,
        fingerprint=document_fingerprint(text, pdf),
        tier=document_tier(
            _readable_part(text), pdf, file_bytes=file_bytes, tiers=tiers, thresholds=thresholds
        ),
    )


def _decoded(encoded: str) -> bytes:
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise invalid(
            "The file arrived damaged (it is not valid base64). Please send it again.",
            reason="damaged",
        ) from None
    if len(data) > FILE_MAX_BYTES:
        raise invalid(
            "The file is larger than 5 MB. Please send a smaller file or a part of it.",
            reason="too-large",
        )
    if not data:
        raise invalid("The file is empty. Please choose another one.", reason="empty")
    return data


def _text_of(data: bytes) -> str:
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        raise _unreadable("This does not look like readable text.") from None


def _readable_part(text: str | None) -> str | None:
    """An uploaded text may be longer than a paste: its beginning is read, and that is said."""
    if text is None or len(text) <= TEXT_MAX_CHARS:
        return text
    note = f"[The document goes on: {TEXT_MAX_CHARS} of {len(text)} characters are shown.]"
    return f"{text[:TEXT_MAX_CHARS]}\n{note}"


def _unreadable(reason: str) -> Refused:
    return invalid(
        f"{reason} Please paste its text, or send a PDF, plain text or Markdown file.",
        reason="unreadable",
    )


GROUND_DOCUMENT = Operation(
    name="groundDocument",
    summary="Grounds a pasted text, or an uploaded PDF, plain text or Markdown file.",
    request=GroundDocumentRequest,
    response=GroundedResponse,
    role=Role.APPROVED,
    run=ground_document,
    quota=True,
    deadline_s=MODEL_DEADLINE_S,
    body_max=DOCUMENT_BODY_MAX,
)
