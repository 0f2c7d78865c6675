"""A stock Firebase client calls our operations, unchanged (API-1, design 3.1).

The token travels the SDK's own way: its Auth signs in (with a custom token, at a stand-in for
Google's service, because a test has no network) and its Functions send the ID token as bearer. The
address is the SDK's option of a custom domain, which takes a path: `https://host/callable`.
"""

from __future__ import annotations

import re

import pytest

from tests.firebase_client.conftest import FirebaseApp
from tests.server.world import DOCUMENT, World, decision


@pytest.mark.req("API-1", "API-13", "API-15")
async def test_three_operations_of_a_lesson(world: World, firebase_app: FirebaseApp) -> None:
    learner = await world.learner()
    (grounded,) = await firebase_app.call(
        learner.token, ("groundDocument", {"title": "Tides", "text": DOCUMENT})
    )
    topic = grounded["data"]
    assert (topic["kind"], topic["needsGrounding"], topic["fromCache"]) == (
        "document",
        False,
        False,
    )
    assert topic["sources"] == [{"title": "Tides", "url": "", "publishedAt": None}]
    world.model.moves[:] = [decision(text="What pulls the water?")]
    turn, ended = await firebase_app.call(
        learner.token,
        (
            "dialogueTurn",
            {"sessionId": "s1", "topicId": topic["topicId"], "userUtteranceSummary": "The moon?"},
        ),
        ("endSession", {"sessionId": "s1"}),
    )
    assert (turn["data"]["mode"], turn["data"]["text"]) == ("ask", "What pulls the water?")
    assert turn["data"]["updatedRevealState"]["agenda"] == ["The moon", "The sun", "Spring tides"]
    assert "data" in ended, ended
    assert (await world.stored("sessions/s1"))["endedAt"]


@pytest.mark.req("API-1", "AUTH-10")
async def test_errors_arrive_as_the_errors_of_the_sdk(
    world: World, firebase_app: FirebaseApp
) -> None:
    learner, pending = await world.learner(), await world.sign_up("Bo", "bo@example.org")
    ground = ("groundDocument", {"title": "Tides", "text": DOCUMENT})
    (nobody,) = await firebase_app.call(None, ground)
    assert (nobody["name"], nobody["code"]) == ("FirebaseError", "functions/unauthenticated")
    (waiting,) = await firebase_app.call(pending.token, ground)
    assert waiting["code"] == "functions/permission-denied"
    await world.configure(dailyGeminiCallCap=1)
    empty, missing, first, second = await firebase_app.call(
        learner.token,
        ("groundDocument", {"title": "", "text": DOCUMENT}),
        ("endSession", {"sessionId": "never"}),
        ground,
        ("groundDocument", {"title": "Other", "text": DOCUMENT}),
    )
    assert (empty["name"], empty["code"]) == ("FirebaseError", "functions/invalid-argument")
    assert "title" in str(empty["details"]["fields"])
    assert missing["code"] == "functions/not-found"
    assert "data" in first, first
    assert second["code"] == "functions/resource-exhausted"
    assert second["details"]["dailyCap"] == 1
    for error in (nobody, waiting, empty, missing, second):
        # The SDK adds the HTTP status to the sentence.
        assert re.fullmatch(r".+ \[4\d\d\]", error["message"]), error
