"""Choosing what to remember: a concept in words, a pasted text, a file however it is brought."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Route, expect

from tests.browser.visit import TWENTY_POINTS, Visitor, Visits, words
from tests.rig import DOCUMENT

pytestmark = [
    pytest.mark.browser,
    pytest.mark.speech,
    pytest.mark.asyncio(loop_scope="session"),
]
KINDS = ["Core — learn a concept", "News — what’s current", "Document — file or paste"]
HINT = "e.g. the physics of ocean currents, or the latest space news"
CHOOSE = "Choose a file (.pdf, .txt, .md)"
PASTE = "…or paste the text here"


def _pdf() -> bytes:
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    canvas = Canvas(out)
    for row, line in enumerate(DOCUMENT.splitlines()):
        canvas.drawString(72, 760 - 18 * row, line)
    canvas.save()
    return out.getvalue()


async def _sent(visitor: Visitor, operation: str) -> list[dict[str, Any]]:
    """The bodies that this page posts to an operation, as they are sent."""
    bodies: list[dict[str, Any]] = []

    async def record(route: Route) -> None:
        bodies.append(route.request.post_data_json)
        await route.continue_()

    await visitor.page.route(f"**/api/{operation}", record)
    return bodies


async def _choose(visitor: Visitor, name: str, body: bytes, mime: str = "") -> None:
    await visitor.page.locator("input[type=file]").set_input_files(
        {"name": name, "mimeType": mime, "buffer": body}
    )


@pytest.mark.req("UI-7", "UI-8", "UI-9", "UI-13", "UI-14", "UI-15", "UI-35", "TEST-13")
@pytest.mark.parametrize("size", ["phone", "desktop"])
async def test_each_kind_shows_its_own_input(visit: Visits, size: str) -> None:
    async with visit(size=size) as visitor:
        page = visitor.page
        await expect(visitor.heading("What do you want to remember?")).to_be_visible()
        core, document = visitor.button(KINDS[0]), visitor.button(KINDS[2])
        # The local tutor knows nothing but a text that it is given.
        await expect(core).to_have_attribute("aria-pressed", "false")
        await expect(document).to_have_attribute("aria-pressed", "true")

        await core.click()
        await expect(core).to_have_attribute("aria-pressed", "true")
        await visitor.see(words()["coreLocal"])
        await expect(page.get_by_placeholder(HINT)).to_be_visible()
        await expect(visitor.button("Start Conversation")).to_be_disabled()
        await page.get_by_placeholder(HINT).fill("   ")
        await expect(visitor.button("Start Conversation")).to_be_disabled()
        await page.get_by_placeholder(HINT).fill("ocean currents")
        await expect(visitor.button("Start Conversation")).to_be_enabled()

        await document.click()
        await expect(document).to_have_attribute("aria-pressed", "true")
        await expect(core).to_have_attribute("aria-pressed", "false")
        await expect(page.get_by_placeholder(HINT)).to_have_count(0)
        await visitor.see(CHOOSE)
        await expect(page.get_by_placeholder(PASTE)).to_be_visible()
        await expect(visitor.button("Start Conversation")).to_be_disabled()

        styles = page.get_by_role("group", name="Style", exact=True)
        for style in ("Socratic", "Conversational", "Lecture"):
            await expect(styles.get_by_role("radio", name=style, exact=True)).to_be_attached()
        await expect(styles.get_by_role("radio", name="Socratic", exact=True)).to_be_checked()
        await page.get_by_role("button", name=re.compile("History", re.I)).first.click()
        await expect(visitor.heading("Past conversations")).to_be_visible()


@pytest.mark.req("UI-14", "UI-59")
async def test_a_concept_in_words(visit: Visits) -> None:
    async with visit() as visitor:
        page = visitor.page
        sent = await _sent(visitor, "groundTopic")
        await visitor.button(KINDS[0]).click()
        topic = page.get_by_placeholder(HINT)
        await topic.fill("  photosynthesis  ")
        await topic.press("Enter")
        await expect(visitor.tutor).to_have_count(1)
        assert sent == [{"topic": "photosynthesis", "kind": "core"}]


@pytest.mark.req("UI-14", "UI-12")
async def test_the_button_is_busy_while_the_topic_is_gathered(visit: Visits) -> None:
    async with visit() as visitor:

        async def late(route: Route) -> None:
            await visitor.see(words()["groundingDocument"])
            await expect(visitor.button("Start Conversation")).to_be_disabled()
            await expect(visitor.page.get_by_role("progressbar")).to_be_visible()
            await route.continue_()

        await visitor.page.route("**/api/groundDocument", late)
        await visitor.start()


@pytest.mark.req("UI-13", "UI-59")
async def test_a_pasted_text_is_a_document(visit: Visits) -> None:
    async with visit() as visitor:
        sent = await _sent(visitor, "groundDocument")
        await visitor.start()
        assert sent == [{"title": "How vaccines work", "text": DOCUMENT}]
        await expect(visitor.heading("How vaccines work")).to_be_visible()


@pytest.mark.req("UI-13", "UI-59")
@pytest.mark.parametrize("kind", ["txt", "md", "pdf"])
async def test_a_file_is_a_document(visit: Visits, kind: str) -> None:
    mime = {"txt": "text/plain", "md": "text/markdown", "pdf": "application/pdf"}[kind]
    async with visit() as visitor:
        sent = await _sent(visitor, "groundDocument")
        await visitor.button(KINDS[2]).click()
        body = _pdf() if kind == "pdf" else DOCUMENT.encode()
        await _choose(visitor, f"My vaccines.{kind.upper()}", body)
        await visitor.see(f"File: My vaccines.{kind.upper()}")
        # A file and a pasted text exclude each other.
        await expect(visitor.page.get_by_placeholder(PASTE)).to_have_count(0)
        await visitor.button("Start Conversation").click()
        await expect(visitor.tutor).to_have_count(1)
        assert {key for body in sent for key in body} == {"title", "mimeType", "base64"}
        assert (sent[0]["title"], sent[0]["mimeType"]) == ("My vaccines", mime)
        await visitor.page.locator("summary", has_text="Grounded context").click()
        await visitor.see(re.compile("harmless piece"))


@pytest.mark.req("UI-13")
async def test_a_file_can_be_dropped_and_removed(visit: Visits) -> None:
    drop = """([name, text]) => {
      const files = new DataTransfer();
      files.items.add(new File([text], name));
      const at = document.querySelector('.document');
      const how = {bubbles: true, cancelable: true, dataTransfer: files};
      for (const type of ['dragover', 'drop']) at.dispatchEvent(new DragEvent(type, how));
    }"""
    async with visit(size="desktop") as visitor:
        await visitor.button(KINDS[2]).click()
        await visitor.evaluate(drop, ["notes.md", DOCUMENT])
        await visitor.see("File: notes.md")
        await visitor.button(words()["removeFile"]).click()
        await expect(visitor.button("Start Conversation")).to_be_disabled()
        await visitor.evaluate(drop, ["notes.exe", DOCUMENT])
        await expect(visitor.page.get_by_role("alert")).to_have_text(words()["fileType"])
        await visitor.evaluate(drop, ["notes.md", DOCUMENT])
        await visitor.button("Start Conversation").click()
        await expect(visitor.tutor).to_have_count(1)


@pytest.mark.req("UI-13", "UI-60")
async def test_what_cannot_be_read_is_said_before_anything_is_sent(
    visit: Visits, tmp_path: Path
) -> None:
    async with visit() as visitor:
        sent = await _sent(visitor, "groundDocument")
        await visitor.button(KINDS[2]).click()
        alert = visitor.page.get_by_role("alert")
        for name, size, told in (
            ("picture.png", 10, "fileType"),
            ("empty.txt", 0, "fileEmpty"),
            ("huge.pdf", 5 * 1024 * 1024 + 1, "fileSize"),
        ):
            file = tmp_path / name
            file.write_bytes(b" " * size)
            await visitor.page.locator("input[type=file]").set_input_files(file)
            await expect(alert).to_have_text(words()[told])
            await expect(visitor.button("Start Conversation")).to_be_disabled()
        await visitor.page.get_by_placeholder(PASTE).fill("x" * 120_005)
        await visitor.button("Start Conversation").click()
        await expect(alert).to_contain_text("5 characters too long")
        assert sent == []


@pytest.mark.req("UI-13", "UI-60")
async def test_a_damaged_pdf_ends_in_a_sentence(visit: Visits) -> None:
    async with visit() as visitor:
        await visitor.button(KINDS[2]).click()
        await _choose(visitor, "broken.pdf", b"%PDF-1.7 nothing else")
        await visitor.button("Start Conversation").click()
        await visitor.see(re.compile("PDF"))
        await expect(visitor.button("Start Conversation")).to_be_enabled()
        await visitor.see("File: broken.pdf")


@pytest.mark.req("UI-13", "UI-60")
async def test_an_old_error_goes_with_its_source(visit: Visits) -> None:
    async with visit() as visitor:
        alert = visitor.page.get_by_role("alert")
        await visitor.paste("🐦 🐦 🐦")
        await visitor.button("Start Conversation").click()
        await expect(alert).to_have_text("There are no sentences to read in this text.")
        await _choose(visitor, "birds.txt", "🐦 🐦".encode())
        await visitor.see("File: birds.txt")
        await expect(alert).to_have_count(0)
        await visitor.button("Start Conversation").click()
        await expect(alert).to_be_visible()
        await visitor.button(words()["removeFile"]).click()
        await expect(alert).to_have_count(0)


@pytest.mark.req("UI-2", "UI-36")
async def test_new_topic_leads_back_to_an_empty_picker(visit: Visits) -> None:
    async with visit() as visitor:
        await visitor.paste(TWENTY_POINTS)
        await visitor.page.get_by_text("Lecture", exact=True).click()
        await visitor.button("Start Conversation").click()
        await expect(visitor.tutor).to_have_count(1)
        await visitor.button("New Topic").click()
        await expect(visitor.heading("What do you want to remember?")).to_be_visible()
        await expect(visitor.button("Start Conversation")).to_be_disabled()
        # A new conversation starts again from the preference.
        await expect(visitor.page.get_by_role("radio", name="Socratic")).to_be_checked()
