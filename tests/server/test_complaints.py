"""A refusal is a sentence that somebody can act on: which field, what is wrong, what is allowed."""

from __future__ import annotations

import re
from typing import Any

import pytest

from server.complaints import complaint
from server.operations.table import OPERATIONS
from server.registry import parse
from tests.server.world import Person, World

SENTENCE = re.compile(r"[A-Z“].*[.!?]\Z", re.DOTALL)
JARGON = re.compile(
    r"Input should|Field required|valid string|pydantic|regex|\^\[|None|str\b|dict\b"
)
ODD: tuple[Any, ...] = (None, 5, 1.5, True, "", "x" * 200_000, [], [[]], {}, {"a": 1}, "\x00", "e@")


def told(answer: dict[str, Any]) -> str:
    message = answer["error"]["message"]
    assert SENTENCE.match(message), message
    assert not JARGON.search(message), message
    return str(message)


@pytest.mark.req("API-1", "API-2")
def test_whatever_is_wrong_with_a_field_is_said_in_a_sentence() -> None:
    """Every field of every operation, with every odd value."""
    seen = 0
    for operation in OPERATIONS:
        fields = [field.alias or name for name, field in operation.request.model_fields.items()]
        for field in [*fields, ""]:
            for value in ODD:
                try:
                    parse(operation.request, {field: value} if field else {})
                except Exception as refusal:
                    told(refusal.to_wire())  # type: ignore[attr-defined]
                    seen += 1
    assert seen > 300


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"email": "a@b.org"}, "The name is missing."),
        (
            {"displayName": "x" * 81, "email": "a@b.org"},
            "The name is too long: at most 80 characters are allowed.",
        ),
        ({"displayName": "Ada", "email": 5}, "The e-mail address must be text."),
        (
            {"displayName": "Ada", "email": "ada"},
            "The e-mail address must be an e-mail address such as ada@example.org.",
        ),
        ({"displayName": " ", "email": "a@b.org"}, "The name must not be empty."),
        ([], "The request must be a JSON object."),
    ],
)
async def test_what_a_person_reads_who_signs_up(world: World, body: Any, message: str) -> None:
    async with world.client.post("/api/signUp", json=body) as response:
        assert response.status == 400
        assert told(await response.json()) == message


async def test_every_mistake_is_told_to_a_program(world: World) -> None:
    status, answer = await world.post("/api/signUp", {"displayName": 5})
    assert status == 400
    assert answer["error"]["details"]["fields"] == [
        {"field": "displayName", "problem": "must be text"},
        {"field": "email", "problem": "is missing"},
    ]


async def refusal(who: Person, name: str, **body: Any) -> tuple[int, str, str]:
    status, answer = await who.post(f"/api/{name}", body)
    told(answer)
    return status, answer["error"]["code"], answer["error"]["details"].get("reason", "")


async def test_a_file_that_cannot_be_read_says_why(world: World) -> None:
    ada = await world.learner()
    for body, reason in (
        ({"mimeType": "image/png", "base64": "iVBORw0KGgo="}, "wrong-kind"),
        ({"mimeType": "text/plain", "base64": "%%%"}, "damaged"),
        ({"mimeType": "text/plain", "base64": ""}, "empty"),
        ({"mimeType": "text/plain", "base64": "/9j/4AAQ"}, "unreadable"),
        ({"mimeType": "application/pdf", "base64": "AAAA" * (1_750_000)}, "too-large"),
        ({"mimeType": "application/pdf", "base64": "AAAA" * (2_000_000)}, "too-large"),
    ):
        got = await refusal(ada, "groundDocument", title="Tides", **body)
        assert got == (400, "invalid-argument", reason), reason
    assert await world.calls(ada) == 0


@pytest.mark.req("AUTH-20")
async def test_a_used_up_day_says_when_it_is_over(world: World) -> None:
    ada = await world.learner()
    await world.configure(dailyGeminiCallCap=0)
    status, answer = await ada.post("/api/groundTopic", {"topic": "Tides"})
    assert (status, answer["error"]["details"]["reason"]) == (429, "daily-cap")
    assert "midnight UTC" in told(answer)


async def test_a_topic_that_could_not_be_prepared(world: World) -> None:
    ada = await world.learner()
    world.model.groundings = ["no JSON at all"]
    got = await refusal(ada, "groundTopic", topic="Tides", kind="core")
    assert got == (503, "unavailable", "model-answer")


async def test_a_conversation_deleted_in_another_tab(world: World) -> None:
    ada = await world.learner()
    topic = await ada.ground()
    await ada.turn(topic)
    await ada.call("deleteSession", sessionId="s1")
    got = await refusal(
        ada, "dialogueTurn", sessionId="s1", topicId=topic, userUtteranceSummary="?"
    )
    assert got == (400, "failed-precondition", "deleted")
    for name in ("endSession", "reopenSession", "deleteSession"):
        assert (await refusal(ada, name, sessionId="s1"))[:2] == (404, "not-found")


async def test_access_that_was_taken_away(world: World) -> None:
    ada = await world.learner()
    topic = await ada.ground()
    await world.ctx.store.update(f"users/{ada.uid}", {"role": "rejected"})
    status, answer = await ada.post(
        "/api/dialogueTurn", {"sessionId": "s1", "topicId": topic, "userUtteranceSummary": "?"}
    )
    assert (status, answer["error"]["details"]) == (403, {"role": "rejected"})
    assert "Ask an admin" in told(answer)


@pytest.mark.req("AUTH-24", "AUTH-10")
async def test_signed_out_in_another_tab_expired_and_never_signed_in(world: World) -> None:
    async def reason(token: str | None) -> str:
        status, answer = await world.get("/api/me", token=token)
        assert status == 401
        told(answer)
        return str(answer["error"]["details"]["reason"])

    ada, bo = await world.learner(), await world.learner("Bo", "bo@example.org")
    await ada.post("/api/signOut")
    assert await reason(ada.token) == "signed-out"
    world.clock.advance(hours=25)
    assert await reason(bo.token) == "expired"
    assert await reason(None) == "none"
    assert await reason("made-up") == "none"


def test_nested_fields_are_named_by_their_path() -> None:
    from pydantic import BaseModel, ValidationError

    class Inner(BaseModel):
        level: int

    class Outer(BaseModel):
        tiers: list[Inner]

    with pytest.raises(ValidationError) as caught:
        Outer.model_validate({"tiers": [{"level": "x"}]})
    refused = complaint(caught.value)
    assert refused.details["fields"][0]["field"] == "tiers.0.level"
    assert refused.message.startswith("The field “tiers.0.level” ")
