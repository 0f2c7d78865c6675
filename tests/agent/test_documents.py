"""Documents through the real gateway and wire."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from agent.documents import (
    DocumentUnreadable,
    check_document,
    document_fingerprint,
    document_tier,
    ground_document,
)
from agent.failures import ModelAnswerUnusable
from agent.topic import Grounded, Source
from tests.agent.conftest import Bench
from tests.agent.test_gateway import camel

pytestmark = pytest.mark.req("TEST-7")

STATEMENTS = "\n".join(f"{n}. Statement about thing {n}." for n in range(1, 16))
PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n..."


# The double cuts at 2048 tokens as the service does: about 8,000 characters.
def reply(points: int = 15, **changes: Any) -> str:
    outline = [{"id": "zz9", "title": f"Thing {n}", "summary": "s" * 20} for n in range(points)]
    outline[0]["summary"] = "s" * 700
    return json.dumps({"digest": "d" * 6100, "depth": "standard", "outline": outline} | changes)


async def ground(bench: Bench, **changes: Any) -> Grounded:
    fields: dict[str, Any] = {"title": "Notes", "text": STATEMENTS, "pdf": None} | changes
    return await ground_document(
        bench.gateway,
        model="gemini-3.8-flash",
        thinking_level="medium",
        record=bench.ledger,
        **fields,
    )


def prompt_of(bench: Bench) -> str:
    return str(bench.bodies[0]["contents"][0]["parts"][-1]["text"])


@pytest.mark.req("GRND-1", "GRND-3", "GRND-4", "GRND-6", "GRND-7", "API-13", "DATA-6")
async def test_fifteen_statements_are_deep(bench: Bench) -> None:
    bench.answers.append(reply())
    got = await ground(bench)
    assert (got.kind, got.depth_tier, got.needs_grounding) == ("document", "deep", False)
    assert got.sources == (Source("Notes", "", None),)
    assert [s.id for s in got.outline] == [f"s{n}" for n in range(1, 16)]
    assert len(got.digest) == 6000
    assert [len(s.summary) for s in got.outline] == [600] + [20] * 14
    assert len(bench.bodies) == 1


@pytest.mark.req("GRND-6", "GRND-10")
async def test_the_model_has_no_say_in_the_tier(bench: Bench) -> None:
    bench.answers.append(reply(depth="deep"))
    got = await ground(bench, text="A short text about currents.")
    assert got.depth_tier == "standard"
    assert len(got.outline) == 5
    assert len(got.digest) <= 2000


@pytest.mark.req("GRND-9", "GRND-10", "GRND-19", "PROMPT-13", "PROMPT-16")
async def test_the_prompt_of_a_list(bench: Bench) -> None:
    bench.answers.append(reply())
    await ground(bench)
    lines = prompt_of(bench).split("\n")
    assert lines[:4] == [
        "TASK ground-document",
        "TITLE: Notes",
        "BUDGET digestChars=6000 outlineMax=20 sectionDigestChars=600",
        "EXPECTED POINTS: 15",
    ]
    at = lines.index("DOCUMENT")
    assert lines[at + 1 :] == [f"| {line}" for line in STATEMENTS.split("\n")]
    assert "tools" not in bench.bodies[0]


@pytest.mark.req("GRND-9", "PROMPT-16")
async def test_prose_expects_no_number_of_points(bench: Bench) -> None:
    bench.answers.append(reply())
    await ground(bench, text="Plain prose. It goes on.")
    assert "EXPECTED POINTS" not in prompt_of(bench)


async def test_more_statements_than_points(bench: Bench) -> None:
    bench.answers.append(reply())
    await ground(bench, text="\n".join(f"- item {n}" for n in range(50)))
    assert "EXPECTED POINTS: 20" in prompt_of(bench).split("\n")


@pytest.mark.req("API-11")
async def test_a_pdf_travels_as_a_file(bench: Bench) -> None:
    bench.answers.append(reply())
    got = await ground(bench, text=None, pdf=PDF + b"x" * 200_000)
    assert got.depth_tier == "structured"
    file, prompt = camel(bench.bodies[0])["contents"][0]["parts"]
    assert file["inlineData"]["mimeType"] == "application/pdf"
    assert "| " not in prompt["text"].split("attached file")[1]


@pytest.mark.req("GRND-20", "GRND-21")
async def test_usage_level_and_cap(bench: Bench) -> None:
    bench.answers.append(reply())
    await ground(bench)
    assert [entry[0] for entry in bench.ledger.entries] == ["groundDocument"]
    generation = camel(bench.bodies[0])["generationConfig"]
    assert generation["thinkingConfig"]["thinkingLevel"] == "MEDIUM"
    assert generation["maxOutputTokens"] == 2048


@pytest.mark.req("GRND-2")
@pytest.mark.parametrize("wrap", ["```json\n{}\n```", "Here:\n{}", "{}"])
async def test_wrapped_answers(bench: Bench, wrap: str) -> None:
    bench.answers.append(wrap.replace("{}", reply(points=2, digest="All about it.")))
    assert (await ground(bench)).digest == "All about it."


@pytest.mark.req("GRND-2")
@pytest.mark.parametrize(
    "bad",
    ["garbage", "{}", '{"digest": ""}', '{"digest": " "}', '{"digest": 5}', '{"outline": []}'],
)
async def test_unusable_answers_are_errors(bench: Bench, bad: str) -> None:
    bench.answers.append(bad)
    with pytest.raises(ModelAnswerUnusable):
        await ground(bench)


@pytest.mark.req("DATA-58")
async def test_an_answer_cut_by_the_cap_keeps_its_finished_points(bench: Bench) -> None:
    bench.answers.append(reply(points=60))
    got = await ground(bench)
    assert len(got.digest) == 6000
    assert 5 < len(got.outline) < 20
    assert [s.title for s in got.outline] == [f"Thing {n}" for n in range(len(got.outline))]


@pytest.mark.parametrize("outline", [None, "x", [], [1, None, {"title": ""}, {"summary": "s"}]])
async def test_a_poor_outline_is_no_error(bench: Bench, outline: Any) -> None:
    bench.answers.append(reply(outline=outline))
    assert (await ground(bench)).outline == ()


@pytest.mark.parametrize("text", ["", "  \n\t ", "PK\x03\x04\x00\x00", "\ufffd" * 10 + "abc"])
async def test_unreadable_text_never_reaches_the_model(bench: Bench, text: str) -> None:
    with pytest.raises(DocumentUnreadable) as refusal:
        await ground(bench, text=text)
    assert str(refusal.value).endswith(".")
    assert not bench.bodies


def test_odd_but_readable_text_passes() -> None:
    check_document("Tabs\tand\x0cform feeds, “quotes”, 数学, 😀 and one \ufffd" + "." * 50, None)
    check_document(None, b"junk before" + PDF)
    with pytest.raises(DocumentUnreadable):
        check_document(None, b"PK\x03\x04")
    with pytest.raises(ValueError, match="either"):
        check_document("text", PDF)
    with pytest.raises(ValueError, match="either"):
        check_document(None, None)


@pytest.mark.req("GRND-11")
def test_the_fingerprint_follows_the_content() -> None:
    assert document_fingerprint("a", None) == hashlib.sha256(b"a").hexdigest()
    assert document_fingerprint("a", None) != document_fingerprint("b", None)
    assert document_fingerprint(None, b"a") == document_fingerprint("a", None)


@pytest.mark.req("GRND-6", "GRND-8", "GRND-11")
def test_the_tier_is_known_without_a_model() -> None:
    assert document_tier("x" * 7999, None) == "standard"
    assert document_tier("x" * 8000, None) == "structured"
    # An uploaded text is measured in bytes, and its statements still count.
    assert document_tier("x" * 8000, None, file_bytes=8000) == "standard"
    assert document_tier(STATEMENTS, None, file_bytes=400) == "deep"
    assert document_tier(None, PDF + b"1. x\n" * 100) == "standard"
