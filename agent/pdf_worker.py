"""The process that opens one foreign PDF: reads it from stdin, writes one JSON object to stdout.

PDFium parses it, natively and fast; a file made to break it ends this process and nothing else.
Limits are set before the file is opened. Run by `agent.pdf`, never imported by the server.
"""

from __future__ import annotations

import ctypes
import json
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from agent.pdf_layout import in_reading_order, text_of, without_running_lines
from agent.pdf_runs import Glyph, Run, runs_of, scattered

MEMORY_BYTES = 768 * 1024 * 1024
CPU_S = 20
# Reading stops between two pages after this time, and what was read is kept.
READ_S = 8.0
# A damaged page tree may promise a billion pages.
PAGES_MAX = 5_000
# A page of more characters is a picture made of letters.
PAGE_CHARS_MAX = 60_000


def limit_resources() -> None:
    """Memory, time, files: on systems that know such limits."""
    if sys.platform != "win32":
        import resource

        for kind, limit in (
            (resource.RLIMIT_AS, MEMORY_BYTES),
            (resource.RLIMIT_CPU, CPU_S),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_FSIZE, 0),
        ):
            _, most = resource.getrlimit(kind)
            if most != resource.RLIM_INFINITY:
                limit = min(limit, most)
            try:
                resource.setrlimit(kind, (limit, limit))
            except (OSError, ValueError):
                continue  # macOS knows RLIMIT_AS by name only


def read(data: bytes, chars_max: int) -> dict[str, Any]:
    """`{text, pages, read, blank}`, or `{problem}`: locked or broken."""
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        locked = getattr(error, "err_code", None) == pdfium.FPDF_ERR_PASSWORD
        return {"problem": "locked" if locked else "broken"}
    total = len(document)
    until = time.monotonic() + READ_S
    pages: list[list[Run]] = []
    drawn: dict[int, str] = {}
    chars = damaged = 0
    for index in range(min(total, PAGES_MAX)):
        if chars >= chars_max or time.monotonic() > until:
            break
        try:
            runs, plain = _page(document, index)
        except pypdfium2.PdfiumError:
            runs, plain = [], ""
            damaged += 1
        if plain:
            drawn[index] = plain
        pages.append(runs)
        chars += sum(len(run.text) for run in runs) + len(plain)
    if damaged == len(pages):
        return {"problem": "broken"}
    texts = [
        drawn.get(index) or text_of(in_reading_order(runs))
        for index, runs in enumerate(without_running_lines(pages))
    ]
    whole = _whole(texts, chars_max)
    blank = sum(1 for i, runs in enumerate(pages[:whole]) if not runs and i not in drawn)
    text = "\n\n".join(filter(None, texts[:whole]))
    return {"text": text[:chars_max], "pages": total, "read": whole, "blank": blank}


def _whole(texts: Sequence[str], chars_max: int) -> int:
    """How many pages fit whole; at least the first, of which a part is better than nothing."""
    chars = 0
    for index, text in enumerate(texts):
        chars += len(text) + 2
        if chars > chars_max and index:
            return index
    return len(texts)


def _page(document: pypdfium2.PdfDocument, index: int) -> tuple[list[Run], str]:
    """The runs of a page, or its text where boxes tell nothing. Raises PdfiumError: damaged."""
    page = document[index]
    text_page = page.get_textpage()
    try:
        runs = runs_of(_glyphs(text_page))
        if scattered(runs):
            return [], str(text_page.get_text_range()).replace("\r\n", "\n").strip()
        return runs, ""
    finally:
        text_page.close()
        page.close()


def _glyphs(text_page: pypdfium2.PdfTextPage) -> Iterator[Glyph]:
    """The characters of a page, and the line feeds and spaces that PDFium puts in."""
    box, handle = pdfium.FS_RECTF(), text_page.raw
    where = ctypes.byref(box)
    high = 0  # PDFium gives what UTF-16 needs two units for in two characters
    for index in range(min(text_page.count_chars(), PAGE_CHARS_MAX)):
        code = pdfium.FPDFText_GetUnicode(handle, index)
        if 0xD800 <= code < 0xDC00:
            high = code
            continue
        if 0xDC00 <= code < 0xE000:
            code = 0x10000 + ((high - 0xD800) << 10) + code - 0xDC00 if high else 0xFFFD
        high = 0
        if code and pdfium.FPDFText_GetLooseCharBox(handle, index, where):
            yield Glyph(chr(code), box.left, box.bottom, box.right, box.top)


def main() -> None:
    limit_resources()
    result = read(sys.stdin.buffer.read(), int(sys.argv[1]))
    sys.stdout.buffer.write(json.dumps(result).encode())


if __name__ == "__main__":
    main()
