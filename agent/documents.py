"""Grounds a document in itself: no search, no outside knowledge, a tier from its size."""

from __future__ import annotations

import hashlib

from google.genai import types

from agent.gemini import ModelGateway
from agent.grounding_answer import digest_of, points_of
from agent.pdf import DocumentUnreadable, PdfText
from agent.prompts.grounding import document_prompt
from agent.prompts.quoting import one_line
from agent.statements import count_list_items, expected_points
from agent.tiers import (
    DEFAULT_THRESHOLDS,
    DEFAULT_TIERS,
    ContextTiers,
    TierThresholds,
    clamp,
    tier_of_bytes,
    tier_of_text,
)
from agent.topic import Grounded, Source, Tier
from agent.usage import UsageSink

__all__ = [
    "DocumentUnreadable",
    "check_document",
    "document_fingerprint",
    "document_tier",
    "ground_document",
]

HANDLER = "groundDocument"
PDF_HEADER_WITHIN = 1024  # bytes; readers accept junk before the header
# Share of control or replacement characters above which text is taken for a binary file.
BINARY_SHARE = 0.02


def document_fingerprint(text: str | None, pdf: bytes | None) -> str:
    """Hex SHA-256 of the content, to tell a changed document from the same one (GRND-11)."""
    return hashlib.sha256(pdf if pdf is not None else (text or "").encode()).hexdigest()


def document_tier(
    text: str | None,
    pdf: bytes | None,
    *,
    file_bytes: int | None = None,
    tiers: ContextTiers = DEFAULT_TIERS,
    thresholds: TierThresholds = DEFAULT_THRESHOLDS,
) -> Tier:
    """The tier that `ground_document` will give; `file_bytes` is the size of an uploaded text."""
    if pdf is not None:
        return tier_of_bytes(len(pdf), 0, thresholds, tiers)
    statements = count_list_items(text or "")
    if file_bytes is not None:
        return tier_of_bytes(file_bytes, statements, thresholds, tiers)
    return tier_of_text(len(text or ""), statements, thresholds, tiers)


def check_document(text: str | None, pdf: bytes | None) -> None:
    """Raises DocumentUnreadable for what no reader could digest, ValueError for misuse."""
    if (text is None) == (pdf is None):
        raise ValueError("give either text or a PDF")
    if pdf is not None:
        if b"%PDF-" not in pdf[:PDF_HEADER_WITHIN]:
            raise DocumentUnreadable("This file is not a PDF.")
    elif text is not None:
        if not text.strip():
            raise DocumentUnreadable("The document is empty.")
        odd = sum(1 for c in text if c == "\ufffd" or (c < " " and c not in "\t\n\r\f\v"))
        if "\x00" in text or odd > len(text) * BINARY_SHARE:
            raise DocumentUnreadable("This does not look like readable text.")


async def ground_document(
    gateway: ModelGateway,
    *,
    title: str,
    text: str | None,
    pdf: bytes | None,
    tiers: ContextTiers = DEFAULT_TIERS,
    thresholds: TierThresholds = DEFAULT_THRESHOLDS,
    model: str,
    thinking_level: str,
    record: UsageSink,
    file_bytes: int | None = None,
    pdf_text: PdfText | None = None,
    handler: str = HANDLER,
) -> Grounded:
    """Digest and outline of one document; the PDF itself goes to the model.

    `pdf_text`: what `agent.pdf` read of `pdf`, for a model that reads no files; it goes instead.
    The tier stays the one of the file's bytes (GRND-6). Raises DocumentUnreadable, ModelError
    (nothing may be cached then).
    """
    check_document(text, pdf)
    name = one_line(title)
    if not name:
        raise ValueError("the title is empty")
    tier = document_tier(text, pdf, file_bytes=file_bytes, tiers=tiers, thresholds=thresholds)
    expected = expected_points(text or "")
    attachment = None
    if pdf_text is not None:
        text = pdf_text.material
    elif pdf is not None:
        attachment = types.Part.from_bytes(data=pdf, mime_type="application/pdf")
    answer = await gateway.generate_json(
        model=model,
        prompt=document_prompt(title=name, text=text, expected=expected, caps=tiers.deep),
        attachment=attachment,
        thinking_level=thinking_level,
        key="digest",
        handler=handler,
        record=record,
    )
    digest, outline = clamp(digest_of(answer.data), points_of(answer.data), tiers.caps(tier))
    return Grounded(
        topic=name,
        kind="document",
        digest=digest,
        needs_grounding=False,
        sources=(Source(name, "", None),),
        depth_tier=tier,
        outline=outline,
    )
