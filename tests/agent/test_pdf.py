"""Real PDF files through the real reader process."""

from __future__ import annotations

import asyncio
import logging
import random
import re
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from agent.documents import document_tier, ground_document
from agent.pdf import PDF_CHARS_MAX, DocumentUnreadable, PdfText, read_pdf
from tests.agent import pdf_files
from tests.agent.conftest import Bench
from tests.agent.test_documents import reply

FILES = Path(__file__).parent / "data" / "pdf"
PARAGRAPHS = [
    f"Paragraph {n} is about thing {n}. It says why thing {n} matters, at some length, so that "
    f"it fills more than one line, and then it ends with mark{n}."
    for n in range(60)
]


def marks(text: str) -> list[int]:
    return [int(n) for n in re.findall(r"mark(\d+)", text)]


async def text_of(pdf: bytes) -> str:
    return (await read_pdf(pdf)).text


async def refusal(pdf: bytes, **options: Any) -> str:
    with pytest.raises(DocumentUnreadable) as refused:
        await read_pdf(pdf, **options)
    return str(refused.value)


@pytest.mark.req("API-11", "GRND-23")
async def test_paragraphs_come_back_whole() -> None:
    assert (await text_of(pdf_files.article(PARAGRAPHS[:8]))).split("\n\n") == PARAGRAPHS[:8]


@pytest.mark.req("API-11")
@pytest.mark.parametrize("columns", [1, 2, 3])
async def test_columns_are_read_one_after_the_other(columns: int) -> None:
    text = await text_of(pdf_files.article(PARAGRAPHS, columns=columns))
    assert marks(text) == list(range(60))
    assert " ".join(text.split()) == " ".join(PARAGRAPHS)


async def test_an_article_printed_by_a_browser() -> None:
    text = await text_of((FILES / "two_columns_chromium.pdf").read_bytes())
    blocks = text.split("\n\n")
    assert blocks[:2] == ["The water cycle in eight paragraphs", "## Evaporation"]
    assert [b for b in blocks if b.startswith("## ")] == [
        "## Evaporation", "## Condensation", "## Precipitation", "## Storage",
    ]  # fmt: skip
    assert len(blocks) == 13
    # Hyphens of the line ends are gone; the font subset says what its glyphs stand for.
    assert "the vapour condenses on specks of dust, salt and soot" in text
    assert text.endswith("FINIS is the last sentence of the article.")


async def test_columns_drawn_across_are_parted() -> None:
    text = await text_of((FILES / "two_columns_ghostscript_by_rows.pdf").read_bytes())
    title, left, right = text.split("\n\n")
    assert title == "## A title that goes across both of the columns"
    assert left.startswith("ALPHA opens the left column, which a typesetter has drawn")
    assert left.endswith("it ends with the word OMEGA.")
    assert right.startswith("BETA")
    assert right.endswith("is FINIS.")


async def test_many_scripts() -> None:
    text = await text_of((FILES / "many_scripts_chromium.pdf").read_bytes())
    assert text.split("\n\n") == [
        "Größe und Maß; finden und fließen. Élève, señor, Łódź. E = mc², “quotes” — dashes…",
        "Вода испаряется с поверхности моря, поднимается и остывает.",
        "Το νερό εξατμίζεται από την επιφάνεια της θάλασσας.",
        "يتبخر الماء من سطح البحر ثم يبرد في الجو ويعود مطرا عام 2024 إلى الأرض.",
        "המים מתאדים מן הים ויורדים שוב כגשם.",
        "水从海面蒸发，上升后冷却凝结，然后以雨的形式落回地面，如此循环往复，"
        "这就是我们所说的水循环，它对气候有着重要的影响。",
    ]


async def test_a_table_keeps_its_rows() -> None:
    import io

    from reportlab.pdfgen.canvas import Canvas

    file = io.BytesIO()
    canvas = Canvas(file)
    for row in range(12):
        canvas.drawString(72, 760 - 14 * row, f"Metal {row}")
        canvas.drawString(300, 760 - 14 * row, f"{row * 100} degrees")
    canvas.save()
    text = " ".join((await text_of(file.getvalue())).split())
    assert "Metal 3 300 degrees Metal 4 400 degrees" in text


async def test_list_items_keep_their_lines() -> None:
    items = ["Notes on water", "1. Water is wet.", "2. Ice is cold", "3. Steam burns."]
    assert (await text_of(pdf_files.lines(*items))).split("\n") == items


async def test_what_stands_on_every_page_is_left_out() -> None:
    text = await text_of(pdf_files.dense(6, lines=3, header="A History of Things, volume 3"))
    assert "volume" not in text
    assert not re.search(r"(?m)^\d+$", text)
    assert [int(n) for n in re.findall(r"Line 2 of page (\d)", text)] == [1, 2, 3, 4, 5, 6]
    # Two pages are no pattern.
    assert "volume" in await text_of(pdf_files.dense(2, lines=3, header="A History, volume 3"))


async def test_a_scan_is_said_to_be_one() -> None:
    assert "no readable text" in await refusal(pdf_files.scan())


@pytest.mark.req("PROMPT-14")
async def test_pages_without_text_are_counted() -> None:
    found = await read_pdf(pdf_files.scan(4, text_on=[1]))
    assert found == PdfText("Only page 2 has a line of text.", 4, 4, 3)
    assert found.material.split("\n") == [
        "[3 of 4 pages hold no readable text.]",
        "Only page 2 has a line of text.",
    ]


async def test_locked_files() -> None:
    assert "locked with a password" in await refusal(pdf_files.locked("Secret.", user="pw"))
    assert await text_of(pdf_files.locked("For all.", user="")) == "For all."


@pytest.mark.req("GRND-19", "PROMPT-14")
async def test_three_hundred_pages_are_cut_and_it_is_said() -> None:
    pdf = pdf_files.dense(300)
    gaps: list[float] = []
    loop = asyncio.get_running_loop()

    async def tick() -> None:
        last = loop.time()
        while True:
            await asyncio.sleep(0.01)
            gaps.append(loop.time() - last)
            last = loop.time()

    ticker = asyncio.create_task(tick())
    started = time.perf_counter()
    found = await read_pdf(pdf)
    took = time.perf_counter() - started
    ticker.cancel()
    assert took < 15
    assert len(gaps) > 3, "the event loop stood still"
    assert (found.pages, found.blank) == (300, 0)
    assert 40 < found.read < 70
    assert PDF_CHARS_MAX * 0.9 < len(found.text) <= PDF_CHARS_MAX
    first = found.material.split("\n")[0]
    assert first == f"[The document goes on: pages 1 to {found.read} of 300 follow.]"
    assert found.text.endswith(f"Line 49 of page {found.read} goes on and on here")


async def test_three_hundred_short_pages_are_read_to_the_end() -> None:
    found = await read_pdf(pdf_files.dense(300, lines=2))
    assert (found.pages, found.read) == (300, 300)
    assert found.text.endswith("Line 1 of page 300 goes on and on here")
    assert "goes on:" not in found.material
    pages = [int(n) for n in re.findall(r"Line 0 of page (\d+)", found.text)]
    assert all(b == a + 1 for a, b in pairwise(pages))


@pytest.mark.parametrize(
    "pdf",
    [
        pdf_files.article(PARAGRAPHS)[:500],
        b"%PDF-1.7\nnothing of the kind" * 50,
        pdf_files.without_pages(),
        pdf_files.circling(),
        b"%PDF-",
        b"",
    ],
    ids=["cut short", "junk", "no pages", "pages in a circle", "a header", "nothing"],
)
async def test_broken_files(pdf: bytes) -> None:
    assert "damaged or has no pages" in await refusal(pdf)


async def test_a_file_without_its_end_is_mended_when_it_can_be() -> None:
    pdf = pdf_files.dense(3)
    assert "Line 49 of page 1 " in await text_of(pdf[: pdf.rindex(b"xref")])


@pytest.mark.req("PROMPT-14")
async def test_one_page_that_is_too_long_is_cut() -> None:
    found = await read_pdf(pdf_files.lines(*["All on one page."] * 40), chars_max=100)
    assert (found.pages, found.read, len(found.text)) == (1, 1, 100)
    assert PdfText("x" * PDF_CHARS_MAX, 1, 1, 0).material.startswith(
        "[The document goes on: its first 120000 characters follow.]\n"
    )


async def test_a_page_tree_that_lies() -> None:
    found = await read_pdf(pdf_files.promising_pages(10**9))
    assert found.text == "Only a page that can be read."


@pytest.mark.parametrize("seed", range(6))
async def test_damage_anywhere_ends_in_text_or_a_sentence(seed: int) -> None:
    chance = random.Random(seed)
    pdf = bytearray((FILES / "two_columns_chromium.pdf").read_bytes())
    for _ in range(10 ** chance.randrange(4)):
        pdf[chance.randrange(len(pdf))] = chance.randrange(256)
    try:
        found = await read_pdf(bytes(pdf))
    except DocumentUnreadable as refused:
        said = str(refused)
    else:
        said = found.text
    assert said.strip()


async def test_a_page_of_scattered_words_is_read_in_time() -> None:
    chance = random.Random(1)
    started = time.perf_counter()
    found = await read_pdf(pdf_files.scattered_words(4_000, chance))
    assert len(found.text.split()) == 4_000
    assert time.perf_counter() - started < 15


async def test_fonts_that_hide_their_letters() -> None:
    assert "cannot be read" in await refusal(pdf_files.hidden_letters())


@pytest.mark.parametrize(
    "pdf", [pdf_files.bomb(), pdf_files.drawing_itself()], ids=["unpacks", "draws itself"]
)
async def test_a_bomb_goes_off_elsewhere(pdf: bytes) -> None:
    started = time.perf_counter()
    assert "too complicated" in await refusal(pdf)
    assert time.perf_counter() - started < 25


async def test_a_reader_that_dies_says_why(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.pdf.WORKER", "agent.no_such_worker")
    with caplog.at_level(logging.WARNING, "agent.pdf"):
        await refusal(pdf_files.lines("A line of text."))
    (record,) = caplog.records
    assert "no_such_worker" in vars(record)["detail"]


async def test_the_deadline_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    processes = watched(monkeypatch)
    assert "too complicated" in await refusal(pdf_files.dense(100), deadline_s=0.01)
    assert [p.returncode for p, _ in processes] == [-9]


async def test_who_leaves_takes_the_process_along(monkeypatch: pytest.MonkeyPatch) -> None:
    processes = watched(monkeypatch)
    task = asyncio.create_task(read_pdf(pdf_files.dense(300)))
    async with asyncio.timeout(10):
        while not processes:  # noqa: ASYNC110
            await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [p.returncode for p, _ in processes] == [-9]


@pytest.mark.req("AUTH-16")
async def test_the_reader_learns_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "not-a-real-key")
    processes = watched(monkeypatch)
    await read_pdf(pdf_files.lines("A line of text."))
    ((_, environment),) = processes
    assert "GEMINI_API_KEY" not in environment


async def test_no_more_than_two_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    processes = watched(monkeypatch)
    running: list[int] = []

    async def read() -> None:
        await read_pdf(pdf_files.lines("A line of text."))
        running.append(sum(1 for p, _ in processes if p.returncode is None))

    async with asyncio.TaskGroup() as group:
        for _ in range(5):
            group.create_task(read())
    assert len(processes) == 5
    assert max(running) <= 2


def watched(
    monkeypatch: pytest.MonkeyPatch,
) -> list[tuple[asyncio.subprocess.Process, dict[str, str]]]:
    """The processes started from now on, with their environments."""
    started: list[tuple[asyncio.subprocess.Process, dict[str, str]]] = []
    start = asyncio.create_subprocess_exec

    async def record(*command: str, **options: Any) -> asyncio.subprocess.Process:
        process = await start(*command, **options)
        started.append((process, options["env"]))
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", record)
    return started


# --- grounding -----------------------------------------------------------------------------------


@pytest.mark.req("GRND-6", "GRND-8", "GRND-23")
async def test_the_text_goes_instead_of_the_file(bench: Bench) -> None:
    items = [f"{n}. Statement about thing {n}." for n in range(1, 16)]
    pdf = pdf_files.lines(*items)
    bench.answers.append(reply())
    got = await ground_document(
        bench.gateway,
        title="Notes",
        text=None,
        pdf=pdf,
        pdf_text=await read_pdf(pdf),
        model="gemini-3.8-flash",
        thinking_level="medium",
        record=bench.ledger,
    )
    (part,) = bench.bodies[0]["contents"][0]["parts"]
    assert part["text"].endswith("DOCUMENT\n" + "\n".join(f"| {item}" for item in items))
    # Of a file only its bytes count: fifteen statements in it do not make it deep.
    assert got.depth_tier == document_tier(None, pdf) == "standard"
    assert len(got.outline) == 5
