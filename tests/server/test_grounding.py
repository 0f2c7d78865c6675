"""`groundTopic` and `groundDocument`: caches, ownership, tiers, limits, and what is billed."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import pytest

from agent.topic import Grounded
from local_gemini.engine import Generated
from server.operations.documents import FILE_MAX_BYTES, TEXT_MAX_CHARS
from server.store.records import grounded_from, snapshot
from tests.agent import pdf_files
from tests.server.world import DOCUMENT, World, grounding

SEARCHED = {
    "webSearchQueries": ["tides"],
    "groundingChunks": [{"web": {"uri": "https://example.org/tides", "title": "Tides"}}],
}
FIFTEEN = "\n".join(f"{n}. Statement number {n} about the sea." for n in range(1, 16))
PDF = pdf_files.lines("The moon pulls the sea.")


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def encoded(data: bytes, mime: str = "application/pdf") -> dict[str, str]:
    return {"mimeType": mime, "base64": base64.b64encode(data).decode()}


# --- topics -------------------------------------------------------------------------------------


@pytest.mark.req("API-5", "DATA-3", "DATA-4", "DATA-7", "DATA-31", "GRND-1", "GRND-20")
async def test_a_topic_is_grounded_once_and_served_from_the_cache(world: World) -> None:
    learner = await world.learner()
    first = await learner.call("groundTopic", topic=" Ocean Currents ")
    assert set(first) == {
        "topic",
        "topicId",
        "digest",
        "needsGrounding",
        "sources",
        "groundedAt",
        "ttlExpiresAt",
        "fromCache",
        "kind",
        "depthTier",
        "outline",
    }
    assert first["topicId"] == sha256("ocean currents")
    assert (first["groundedAt"], first["ttlExpiresAt"]) == (
        "2026-01-15T12:00:00.000Z",
        "2026-01-15T18:00:00.000Z",
    )
    assert [section["id"] for section in first["outline"]] == ["s1", "s2", "s3"]
    assert (first["kind"], first["fromCache"]) == ("core", False)
    second = await learner.call("groundTopic", topic="ocean currents")
    assert second == {**first, "fromCache": True}
    assert await world.calls(learner) == 1
    usage = await world.stored(f"usage/{learner.uid}_20260115")
    assert usage is not None
    assert usage["geminiTotalTokens"] > 0
    stored = await world.stored(f"topics/{first['topicId']}")
    assert stored is not None
    assert set(stored) == set(first) - {"topicId", "fromCache"} | {"uid"}


@pytest.mark.req("GRND-13", "API-5")
async def test_the_cache_ends_with_its_lifetime_or_on_demand(world: World) -> None:
    learner = await world.learner()
    await learner.call("groundTopic", topic="Tides")
    world.clock.advance(hours=5, minutes=59)
    assert (await learner.call("groundTopic", topic="Tides"))["fromCache"] is True
    forced = await learner.call("groundTopic", topic="Tides", forceRefresh=True)
    assert forced["fromCache"] is False
    world.clock.advance(hours=6, minutes=1)
    token = await world.learner("Ada")  # her bearer is younger
    assert (await token.call("groundTopic", topic="Tides"))["fromCache"] is False
    assert len(world.model.requests) == 3


@pytest.mark.req("DATA-4", "DATA-5", "API-16")
async def test_two_people_can_choose_the_same_title(world: World) -> None:
    ada, bo = await world.learner("Ada"), await world.learner("Bo")
    first = await ada.call("groundTopic", topic="Tides")
    second = await bo.call("groundTopic", topic="TIDES")
    assert first["topicId"] == sha256("tides")
    assert second["topicId"] == sha256(f"tides:{bo.uid}")
    assert second["fromCache"] is True  # the content is shared, the document is not
    assert len(world.model.requests) == 1
    world.clock.advance(hours=7)
    fresh = await bo.call("groundTopic", topic="Tides")
    assert (fresh["topicId"], fresh["fromCache"]) == (second["topicId"], False)
    for person, own, other in ((ada, first, second), (bo, second, first)):
        assert (await person.get(f"/api/topics/{own['topicId']}"))[0] == 200
        assert (await person.get(f"/api/topics/{other['topicId']}"))[0] == 403
        answer = await person.turn(own["topicId"], session=person.uid)
        assert answer["mode"] == "ask"
        assert await person.refused(
            "dialogueTurn", sessionId="x", topicId=other["topicId"], userUtteranceSummary="?"
        ) == ("permission-denied")


@pytest.mark.req("API-6", "API-7", "DATA-9", "GRND-14", "GRND-16")
async def test_news_never_comes_from_a_parametric_or_foreign_entry(world: World) -> None:
    learner = await world.learner()
    core = await learner.call("groundTopic", topic="Storm")
    assert core["needsGrounding"] is False
    news = await learner.call("groundTopic", topic="Storm", kind="news")
    assert (news["fromCache"], news["kind"], news["needsGrounding"]) == (False, "news", True)
    assert "TASK ground-news" in world.model.prompts[-1]
    again = await learner.call("groundTopic", topic="Storm", kind="news")
    assert again["fromCache"] is True
    await world.ctx.store.update(f"topics/{news['topicId']}", {"needsGrounding": False})
    assert (await learner.call("groundTopic", topic="Storm", kind="news"))["fromCache"] is False
    assert (await learner.call("groundTopic", topic="Storm"))["kind"] == "core"


@pytest.mark.req("GRND-17", "GRND-22")
async def test_a_search_brings_its_sources(world: World) -> None:
    learner = await world.learner()
    searched = Generated(text=grounding("The moon"), grounding=SEARCHED)
    world.model.groundings = [searched]  # type: ignore[list-item]
    answer = await learner.call("groundTopic", topic="Tides")
    assert answer["needsGrounding"] is True
    assert answer["sources"][0]["url"] == "https://example.org/tides"


@pytest.mark.req("API-8", "GRND-5")
@pytest.mark.parametrize(
    ("depth", "points"), [("structured", 12), ("standard", 5), ("deep", 15), ("odd", 5)]
)
async def test_the_answer_is_clamped_to_the_reported_depth(
    world: World, depth: str, points: int
) -> None:
    learner = await world.learner()
    titles = [f"Point {n}" for n in range(15)]
    world.model.groundings = [grounding(*titles, depth=depth)]
    assert len((await learner.call("groundTopic", topic="Tides"))["outline"]) == points


@pytest.mark.req("GRND-2", "AUTH-22")
@pytest.mark.parametrize("answer", ["no json", "{}", '{"digest": ""}', '{"digest": 5}'])
async def test_a_useless_answer_is_an_error_and_nothing_is_kept(world: World, answer: str) -> None:
    learner = await world.learner()
    world.model.groundings = [answer]
    assert await learner.refused("groundTopic", topic="Tides") == "unavailable"
    assert await learner.refused("groundDocument", title="T", text="Moon.") == "unavailable"
    assert await world.ctx.store.query("topics") == []
    assert await world.calls(learner) == 2  # counted before the call, whatever came of it


async def test_a_title_of_invisible_characters_is_empty(world: World) -> None:
    learner = await world.learner()
    for title in ("\u0000", "\n\t", "\u202e"):
        assert await learner.refused("groundTopic", topic=title) == "invalid-argument"


async def test_a_title_is_kept_on_one_line_with_its_joiners(world: World) -> None:
    learner = await world.learner()
    answer = await learner.call("groundTopic", topic="می\u200cخواهم\n 👩\u200d🚀")
    assert answer["topic"] == "می\u200cخواهم 👩\u200d🚀"


# --- documents ----------------------------------------------------------------------------------


@pytest.mark.req("API-13", "DATA-5", "DATA-6", "DATA-10", "GOTCHA-10")
async def test_a_document_is_its_owners_alone(world: World) -> None:
    ada, bo = await world.learner("Ada"), await world.learner("Bo")
    mine = await ada.call("groundDocument", title="Tides", text=DOCUMENT)
    theirs = await bo.call("groundDocument", title="Tides", text=DOCUMENT)
    assert mine["topicId"] == sha256(f"doc:{ada.uid}:Tides")
    assert theirs["topicId"] == sha256(f"doc:{bo.uid}:Tides")
    assert theirs["fromCache"] is False
    assert (mine["kind"], mine["needsGrounding"]) == ("document", False)
    assert mine["sources"] == [{"title": "Tides", "url": "", "publishedAt": None}]
    assert (await bo.get(f"/api/topics/{mine['topicId']}"))[0] == 403
    status, read = await ada.get(f"/api/topics/{mine['topicId']}")
    assert status == 200
    assert "contentHash" not in read
    assert "uid" not in read


@pytest.mark.req("GRND-7", "GRND-9", "GRND-11", "GRND-19")
async def test_the_cache_wants_the_same_content_and_the_same_tier(world: World) -> None:
    learner = await world.learner()

    async def ground(text: str) -> dict[str, Any]:
        return await learner.call("groundDocument", title="Sea", text=text)

    assert (await ground("Tides follow the moon."))["fromCache"] is False
    world.clock.advance(days=0, hours=20)  # documents do not expire
    assert (await ground("Tides follow the moon."))["fromCache"] is True
    changed = await ground("Tides follow the sun.")
    assert (changed["fromCache"], changed["depthTier"]) == (False, "standard")
    deep = await ground(FIFTEEN)
    assert (deep["fromCache"], deep["depthTier"]) == (False, "deep")
    assert "EXPECTED POINTS: 15" in world.model.prompts[-1]
    await world.ctx.store.update(f"topics/{deep['topicId']}", {"depthTier": "standard"})
    assert (await ground(FIFTEEN))["fromCache"] is False


@pytest.mark.req("API-11")
@pytest.mark.parametrize(
    ("mime", "data"),
    [
        ("application/pdf", PDF),
        ("text/plain", b"Tides follow the moon."),
        ("text/plain", "Ebbe".encode("utf-16")),
        ("text/markdown", b"\xef\xbb\xbf# Tides"),
    ],
)
async def test_the_three_kinds_of_file_are_read(world: World, mime: str, data: bytes) -> None:
    learner = await world.learner()
    answer = await learner.call("groundDocument", title="T", **encoded(data, mime))
    assert answer["kind"] == "document"


BAD_FILES: list[dict[str, Any]] = [
    encoded(PDF, "image/png"),
    encoded(PDF, ""),
    encoded(b"not a pdf"),
    encoded(PDF, "text/plain; charset=utf-8"),
    encoded(b"", "text/plain"),
    encoded(b"  \n ", "text/plain"),
    encoded(b"\x00\x01\x02" * 50, "text/plain"),
    encoded(b"\xff\xfa\xfb", "text/plain"),
    encoded(bytes(range(256)) * 4, "text/markdown"),
    {"mimeType": "application/pdf", "base64": "%%"},
    {"mimeType": "application/pdf", "base64": "JVBERi0"},
    {"mimeType": "application/pdf", "base64": "JVBERi0x\n"},
    {"mimeType": "application/pdf", "base64": "ü"},
    {"mimeType": "application/pdf"},
    {"base64": "JVBERi0x"},
    {"text": "Moon.", **encoded(PDF)},
    {"text": "Moon.", "mimeType": "text/plain"},
    {"text": ""},
    {"text": " \n\t"},
    {"text": "Moon\u0000\u0001\u0002"},
    {},
]


@pytest.mark.req("API-10", "API-11", "API-12")
@pytest.mark.parametrize("body", BAD_FILES, ids=lambda body: str(body)[:40])
async def test_what_cannot_be_read_is_refused_with_a_sentence(
    world: World, body: dict[str, Any]
) -> None:
    learner = await world.learner()
    status, answer = await learner.post("/api/groundDocument", {"title": "T", **body})
    assert (status, answer["error"]["code"]) == (400, "invalid-argument")
    assert len(answer["error"]["message"]) > 20
    assert world.model.requests == []
    assert await world.calls(learner) == 0


# google-genai hands aiohttp the whole request body as one piece of bytes.
@pytest.mark.filterwarnings("ignore:Sending a large body directly:ResourceWarning")
@pytest.mark.req("API-12")
async def test_five_mebibytes_exactly(world: World) -> None:
    learner = await world.learner()
    whole = PDF + b" " * (FILE_MAX_BYTES - len(PDF))
    answer = await learner.call("groundDocument", title="T" * 300, **encoded(whole))
    assert answer["depthTier"] == "deep"
    status, answer = await learner.post(
        "/api/groundDocument", {"title": "T", **encoded(whole + b" ")}
    )
    assert (status, answer["error"]["code"]) == (400, "invalid-argument")
    assert "5 MB" in answer["error"]["message"]


@pytest.mark.req("API-10", "GRND-19")
async def test_the_longest_paste_is_read_whole_and_a_longer_file_in_part(world: World) -> None:
    learner = await world.learner()
    longest = "Tides. " * (TEXT_MAX_CHARS // 7) + "x" * (TEXT_MAX_CHARS % 7)
    assert len(longest) == TEXT_MAX_CHARS
    await learner.call("groundDocument", title="T", text=longest)
    assert "The document goes on" not in world.model.prompts[-1]
    await learner.call("groundDocument", title="T", **encoded(longest.encode() * 2, "text/plain"))
    assert f"{TEXT_MAX_CHARS} of {TEXT_MAX_CHARS * 2} characters" in world.model.prompts[-1]


async def test_only_documents_may_send_a_large_body(world: World) -> None:
    learner = await world.learner()
    big = "x" * 200_000
    status, answer = await learner.post("/api/groundTopic", {"topic": big})
    assert (status, answer["error"]["code"]) == (400, "invalid-argument")
    assert "too large" in answer["error"]["message"]
    status, answer = await learner.post("/api/groundDocument", {"title": "T", "text": "x" * 8**8})
    assert "too large" in answer["error"]["message"]


def test_the_store_form_round_trips() -> None:
    grounded = Grounded("Tides", "news", "Moon.", True, (), "deep", ())
    assert grounded_from({**snapshot(grounded), "depthTier": "deep"}) == grounded
