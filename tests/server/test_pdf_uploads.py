"""PDF uploads where the local tutor answers: the server reads them, before anything is billed."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from typing import Any

import pytest

from server.context import Context
from server.operations import documents
from tests.agent import pdf_files
from tests.server.world import World


def upload(pdf: bytes) -> dict[str, str]:
    return {
        "title": "Notes",
        "mimeType": "application/pdf",
        "base64": base64.b64encode(pdf).decode(),
    }


@pytest.mark.req("API-11", "API-13", "GRND-23")
async def test_the_text_of_a_pdf_reaches_the_tutor(world: World) -> None:
    learner = await world.learner()
    answer = await learner.call(
        "groundDocument", **upload(pdf_files.lines("The moon pulls the sea.", "Twice a day."))
    )
    assert (answer["kind"], answer["depthTier"], answer["fromCache"]) == (
        "document",
        "standard",
        False,
    )
    (prompt,) = world.model.prompts
    assert "DOCUMENT\n| The moon pulls the sea. Twice a day." in prompt
    assert await world.calls(learner) == 1


@pytest.mark.req("GRND-11")
async def test_the_same_file_is_not_read_twice(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = await world.learner()
    body = upload(pdf_files.lines("The moon pulls the sea."))
    await learner.call("groundDocument", **body)

    async def never(pdf: bytes) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr("server.operations.documents.read_pdf", never)
    assert (await learner.call("groundDocument", **body))["fromCache"]


@pytest.mark.req("API-2", "API-11")
@pytest.mark.parametrize(
    ("pdf", "reason"),
    [
        (pdf_files.scan(), "no readable text"),
        (pdf_files.locked("Secret.", user="pw"), "locked with a password"),
        (pdf_files.without_pages(), "damaged"),
        (pdf_files.hidden_letters(), "letters"),
    ],
    ids=["scan", "locked", "no pages", "hidden letters"],
)
async def test_what_cannot_be_read_costs_nothing(world: World, pdf: bytes, reason: str) -> None:
    learner = await world.learner()
    status, answer = await learner.post("/api/groundDocument", upload(pdf))
    assert (status, answer["error"]["code"]) == (400, "invalid-argument")
    assert reason in answer["error"]["message"]
    assert answer["error"]["message"].endswith("Please paste its text instead.")
    assert not world.model.requests
    assert await world.calls(learner) == 0


@pytest.mark.req("API-12")
async def test_a_large_file_is_refused_unread(world: World) -> None:
    learner = await world.learner()
    pdf = pdf_files.lines("The moon.") + b"\n" * (5 * 1024 * 1024)
    assert await learner.refused("groundDocument", **upload(pdf)) == "invalid-argument"
    assert not world.model.requests


@pytest.mark.req("API-11")
async def test_a_model_that_reads_files_gets_the_file(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Context, "local_tutor", property(lambda ctx: False))
    learner = await world.learner()
    # The model may read what this server cannot: a scan.
    await learner.call("groundDocument", **upload(pdf_files.scan()))
    assert '"application/pdf"' in json.dumps(world.model.requests[-1][1])


@pytest.mark.req("GRND-12", "GOTCHA-10", "TEST-7")
async def test_two_owners_of_one_title_share_nothing(world: World) -> None:
    ada, bo = await world.learner(), await world.learner("Bo", "bo@example.org")
    moon = upload(pdf_files.lines("The moon pulls the sea."))
    first = await ada.call("groundDocument", **moon)
    second = await bo.call("groundDocument", **upload(pdf_files.lines("The sun pulls as well.")))
    assert first["topicId"] != second["topicId"]
    assert "The sun pulls as well." in world.model.prompts[-1]
    again = await ada.call("groundDocument", **moon)
    assert again["fromCache"]
    assert again["topicId"] == first["topicId"]


async def test_a_person_has_one_document_read_at_a_time_and_all_have_two(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever sends many large ones at once waits for themselves."""
    people = [await world.learner(f"P{n}", f"p{n}@example.org") for n in range(4)]
    busy: list[str] = []
    most: list[int] = []
    genuine = documents._read

    def read(request: documents.GroundDocumentRequest, *rest: Any) -> documents.Material:
        who = request.title.partition(" ")[0]
        assert who not in busy
        busy.append(who)
        most.append(len(busy))
        time.sleep(0.02)  # in a thread of its own
        busy.remove(who)
        return genuine(request, *rest)

    monkeypatch.setattr(documents, "_read", read)
    answers = await asyncio.gather(
        *(
            person.post("/api/groundDocument", {"title": f"{n} {turn}", "text": "Tides follow."})
            for n, person in enumerate(people)
            for turn in range(3)
        )
    )
    assert [status for status, _ in answers] == [200] * 12
    assert max(most) == 2
