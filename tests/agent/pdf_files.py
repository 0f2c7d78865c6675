"""PDF files for tests: by ReportLab, and by hand where no decent tool would write such a file."""

from __future__ import annotations

import io
import random
import zlib
from collections.abc import Sequence

from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph

BODY = ParagraphStyle("body", fontName="Times-Roman", fontSize=11, leading=13, spaceAfter=8)


def article(
    paragraphs: Sequence[str],
    *,
    columns: int = 1,
    header: str = "",
    encrypt: StandardEncryption | None = None,
) -> bytes:
    """Paragraphs set in columns; `header` and a page number on every page."""
    file = io.BytesIO()
    width, height = A4
    gap, margin = 30, 60
    column = (width - 2 * margin - (columns - 1) * gap) / columns
    frames = [
        Frame(margin + n * (column + gap), margin, column, height - 2 * margin, 0, 0, 0, 0)
        for n in range(columns)
    ]

    def furnish(canvas: Canvas, document: BaseDocTemplate) -> None:
        if header:
            canvas.drawString(margin, height - 30, header)
            canvas.drawCentredString(width / 2, 24, f"Page {canvas.getPageNumber()}")

    document = BaseDocTemplate(file, pagesize=A4, encrypt=encrypt)
    document.addPageTemplates(PageTemplate(frames=frames, onPage=furnish))
    document.build([Paragraph(text, BODY) for text in paragraphs])
    return file.getvalue()


def lines(*texts: str, step: float = 14) -> bytes:
    """One page, one line of text after the other."""
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=A4)
    for number, text in enumerate(texts):
        canvas.drawString(72, 760 - number * step, text)
    canvas.save()
    return file.getvalue()


def locked(text: str, *, user: str) -> bytes:
    """Encrypted with 128 bits; the owner's password is never the reader's."""
    return article([text], encrypt=StandardEncryption(user, ownerPassword="owner", strength=128))


def scattered_words(count: int, chance: random.Random) -> bytes:
    """One page with words anywhere, as on a map."""
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=A4)
    canvas.setFont("Helvetica", 1)
    for _ in range(count):
        canvas.drawString(chance.uniform(10, 560), chance.uniform(10, 830), "word")
    canvas.save()
    return file.getvalue()


def scan(pages: int = 2, text_on: Sequence[int] = ()) -> bytes:
    """Pages that are pictures; those in `text_on` have a line of text as well."""
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=A4)
    picture = ImageReader(Image.new("L", (60, 80), 180))
    for page in range(pages):
        canvas.drawImage(picture, 40, 40, 500, 700)
        if page in text_on:
            canvas.drawString(72, 790, f"Only page {page + 1} has a line of text.")
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def raw(*objects: bytes, root: int = 1) -> bytes:
    """A file of these numbered objects, with a correct cross-reference table."""
    out = bytearray(b"%PDF-1.7\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root %d 0 R >>\n" % (len(objects) + 1, root)
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)


def stream(data: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), entries, data)


CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
TEXT = b"BT /F 12 Tf 72 700 Td (Only a page that can be read.) Tj ET"


def one_page(contents: bytes, font: bytes) -> bytes:
    return raw(
        CATALOG,
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        b"/Resources << /Font << /F 5 0 R >> >> >>",
        contents,
        font,
    )


HELVETICA = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def without_pages() -> bytes:
    return raw(CATALOG, b"<< /Type /Pages /Kids [] /Count 0 >>")


def promising_pages(count: int) -> bytes:
    """One page, and a page tree that says there are `count`."""
    return raw(
        CATALOG,
        b"<< /Type /Pages /Kids [3 0 R] /Count %d >>" % count,
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        b"/Resources << /Font << /F 5 0 R >> >> >>",
        stream(TEXT),
        HELVETICA,
    )


def bomb(gigabytes: int = 8) -> bytes:
    """A page whose contents unpack, twice packed, to so many gigabytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(b" " * (1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    once = b"\x78\xda" + block * (gigabytes << 10) + b"\x03\x00"
    return one_page(
        stream(zlib.compress(once, 9), b"/Filter [/FlateDecode /FlateDecode]"), HELVETICA
    )


def dense(pages: int, *, lines: int = 50, header: str = "") -> bytes:
    """Pages full of lines; each says which it is."""
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=A4)
    for page in range(1, pages + 1):
        if header:
            canvas.drawString(72, 815, header)
            canvas.drawString(280, 20, str(page))
        for line in range(lines):
            canvas.drawString(
                72, 770 - 14 * line, f"Line {line} of page {page} goes on and on here"
            )
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def circling() -> bytes:
    """A page tree that contains itself."""
    return raw(CATALOG, b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>")


def drawing_itself(depth: int = 30) -> bytes:
    """Form objects, each drawn ten times by the one before it."""
    forms = [
        stream(
            b"/X Do " * 10,
            b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] "
            b"/Resources << /XObject << /X %d 0 R >> >>" % (number + 6),
        )
        for number in range(depth)
    ]
    leaf = stream(TEXT, b"/Type /XObject /Subtype /Form /BBox [0 0 595 842]")
    return raw(
        CATALOG,
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        b"/Resources << /XObject << /X 5 0 R >> >> >>",
        stream(b"/X Do"),
        *forms,
        leaf,
    )


def hidden_letters() -> bytes:
    """A font of drawings whose codes stand for nothing outside of it."""
    glyph = stream(b"500 0 d0 0 0 400 500 re f")
    text = stream(b"BT /F 12 Tf 72 700 Td <0102030401020304010203040102> Tj ET")
    return raw(
        CATALOG,
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        b"/Resources << /Font << /F 5 0 R >> >> >>",
        text,
        b"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 500 500] /FontMatrix [.001 0 0 .001 0 0] "
        b"/FirstChar 1 /LastChar 4 /Widths [500 500 500 500] /CharProcs << /g1 6 0 R >> "
        b"/Encoding << /Type /Encoding /Differences [1 /g1 /g1 /g1 /g1] >> >>",
        glyph,
    )
