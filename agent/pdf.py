"""The text of a PDF, for a model that reads none: in a process of its own, with a deadline."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import unicodedata
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)

PDF_CHARS_MAX = 120_000  # as much as a paste may have (API-10)
PDF_DEADLINE_S = 20.0
KILLED_S = 2.0
DETAIL_CHARS = 200
WORKER = "agent.pdf_worker"
# Documents read at once; each process may take 768 MiB. More wait for their turn.
PDF_READERS = 2
# Above this share of characters without a meaning the fonts hide the letters.
UNREADABLE_SHARE = 0.3
_ROOT = Path(__file__).resolve().parent.parent

_LOCKED = "This PDF is locked with a password."
_BROKEN = "This PDF is damaged or has no pages; it cannot be opened."
_SCAN = "This PDF holds no readable text; it seems to be a scan or a picture."
_FONTS = "The letters of this PDF cannot be read; its fonts do not say what they stand for."
_HEAVY = "This PDF is too complicated to be read."


class DocumentUnreadable(ValueError):
    """The document cannot be read; the message is a sentence for the learner."""


@dataclass(frozen=True, slots=True)
class PdfText:
    """`text` of the first `read` of `pages` pages; `blank` of those hold no text."""

    text: str
    pages: int
    read: int
    blank: int

    @property
    def material(self) -> str:
        """The text, and what of the document it leaves out (PROMPT-14)."""
        notes = []
        if self.read < self.pages:
            notes.append(f"[The document goes on: pages 1 to {self.read} of {self.pages} follow.]")
        if len(self.text) >= PDF_CHARS_MAX:
            notes.append(f"[The document goes on: its first {PDF_CHARS_MAX} characters follow.]")
        if self.blank:
            notes.append(f"[{self.blank} of {self.read} pages hold no readable text.]")
        return "\n".join([*notes, self.text])


async def read_pdf(
    pdf: bytes, *, chars_max: int = PDF_CHARS_MAX, deadline_s: float = PDF_DEADLINE_S
) -> PdfText:
    """Raises DocumentUnreadable: locked, damaged, without text, or too heavy to read."""
    async with _readers():
        result = await _in_process(pdf, chars_max, deadline_s)
    match result.get("problem"):
        case "locked":
            raise DocumentUnreadable(_LOCKED)
        case "broken":
            raise DocumentUnreadable(_BROKEN)
    found = PdfText(result["text"], result["pages"], result["read"], result["blank"])
    letters = "".join(found.text.split())
    if not letters:
        raise DocumentUnreadable(_SCAN)
    if sum(map(_is_meaningless, letters)) > UNREADABLE_SHARE * len(letters):
        raise DocumentUnreadable(_FONTS)
    return found


def _is_meaningless(char: str) -> bool:
    return char == "\ufffd" or unicodedata.category(char) in ("Cc", "Cn", "Co", "Cs")


_waiting: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
    weakref.WeakKeyDictionary()
)


def _readers() -> asyncio.Semaphore:
    return _waiting.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(PDF_READERS))


async def _in_process(pdf: bytes, chars_max: int, deadline_s: float) -> dict[str, Any]:
    """The worker's answer. Its environment holds no secret, only where to find itself."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        WORKER,
        str(chars_max),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={
            "PYTHONPATH": str(_ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            **{name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ},
        },
    )
    try:
        async with asyncio.timeout(deadline_s):
            answer, errors = await process.communicate(pdf)
    except TimeoutError:
        log.warning("pdf_timeout", extra={"bytes": len(pdf)})
        raise DocumentUnreadable(_HEAVY) from None
    finally:
        if process.returncode is None:
            process.kill()
            async with asyncio.timeout(KILLED_S):
                await process.wait()
    if process.returncode:
        last = errors.decode(errors="replace").strip().rpartition("\n")[2]
        log.warning(
            "pdf_reader_died",
            extra={"bytes": len(pdf), "code": process.returncode, "detail": last[:DETAIL_CHARS]},
        )
        raise DocumentUnreadable(_HEAVY)
    result: dict[str, Any] = json.loads(answer)
    return result
