"""The real process with its defaults, spoken to by HTTP and WebRTC only (TEST-15)."""

from __future__ import annotations

import asyncio

import pytest

from tests.media.peers import until
from tests.rig import DOCUMENT, Person, said
from tests.smoke.conftest import Product, Town

pytestmark = [pytest.mark.speech]

FOLLOW_S = 10.0
TURN_S = 60.0
ANSWER = "A vaccine shows the immune system a harmless piece of a germ."


async def follows(person: Person, key: str, value: object) -> None:
    """Waits until the running server has that value."""
    async with asyncio.timeout(FOLLOW_S):
        while True:
            if (await person.get("/api/config"))[1][key] == value:
                return
            await asyncio.sleep(0.1)


@pytest.mark.req("TEST-15")
def test_the_start_says_at_once_what_takes_its_time(product: Product) -> None:
    said, link = product.printed.index("loads its local tutor"), product.printed.index("/signin/")
    assert said < link
    assert "up to a minute" in product.printed[said:link]


@pytest.mark.req("TEST-15", "AUTH-3", "AUTH-8", "AUTH-9", "CARD-1", "CARD-4")
async def test_whoever_signs_up_waits_until_an_admin_decides(town: Town, admin: Person) -> None:
    ada = await town.sign_up("Ada")
    status, me = await ada.get("/api/me")
    assert (status, me["role"]) == (200, "pending")
    ground = {"title": "Vaccines", "text": DOCUMENT}
    status, answer = await ada.post("/api/groundDocument", ground)
    assert (status, answer["error"]["details"]["role"]) == (403, "pending")
    assert (await ada.get("/api/admin/users"))[0] == 403
    status, answer = await ada.post("/api/approveUser", {"uid": ada.uid})
    assert status == 403
    await admin.ok("approveUser", uid=ada.uid)
    assert (await ada.get("/api/me"))[1]["role"] == "approved"
    assert (await ada.post("/api/groundDocument", ground))[0] == 200
    assert (await ada.get("/api/admin/users"))[0] == 403
    await admin.ok("revokeUser", uid=ada.uid)
    assert (await ada.post("/api/groundDocument", ground))[0] == 403
    users = (await admin.get("/api/admin/users?role=rejected"))[1]["users"]
    assert ada.uid in [user["uid"] for user in users]


@pytest.mark.req("TEST-15", "AUTH-17", "AUTH-19")
async def test_a_typed_lesson_is_taught_stored_and_counted(town: Town, admin: Person) -> None:
    ben = await town.learner("Ben", admin)
    topic = await ben.ground()
    turn = await ben.ok(
        "dialogueTurn",
        sessionId="typed-1",
        topicId=topic,
        userUtteranceSummary="A vaccine shows a harmless piece of a germ.",
    )
    assert turn["text"]
    session = await ben.session("typed-1")
    assert session["turns"][-1]["text"] == turn["text"]
    assert len(session["revealState"]["agenda"]) == 4
    usage = (await admin.get("/api/admin/usage"))[1]["usage"]
    (own,) = [row for row in usage if row["uid"] == ben.uid]
    assert own["geminiCallCount"] == 2
    assert own["geminiTotalTokens"] > 0
    eve = await town.learner("Eve", admin)
    assert (await eve.get("/api/sessions/typed-1"))[0] == 403


@pytest.mark.req("TEST-15", "CARD-6", "CARD-7", "RTC-14", "VOICE-60")
async def test_a_spoken_lesson_is_heard_answered_and_stored(town: Town, admin: Person) -> None:
    cleo = await town.learner("Cleo", admin)
    topic = await cleo.ground()
    async with cleo.call(topic) as call:
        await call.say(
            said("A vaccine shows the immune system a harmless piece of a germ.", after=2)
        )
        await until(lambda: call.messages("turn"), "the turn is stored", TURN_S)
        turn = call.messages("turn")[0]
        assert turn["saved"] is True
        assert "harmless piece" in turn["userText"].lower()
        assert turn["text"] == call.tutor
        assert len(call.heard()) > 16_000
        stored = (await cleo.session(call.session_id))["turns"][-1]
        assert (stored["userText"], stored["text"]) == (turn["userText"], turn["text"])
    usage = (await admin.get("/api/admin/usage"))[1]["usage"]
    assert next(row for row in usage if row["uid"] == cleo.uid)["geminiCallCount"] >= 2


@pytest.mark.req("TEST-15", "CARD-15", "DATA-26", "DATA-35")
async def test_a_change_of_the_configuration_needs_no_restart(
    product: Product, town: Town, admin: Person
) -> None:
    dan = await town.learner("Dan", admin)
    status, config = await dan.get("/api/config")
    assert (status, config["dailyGeminiCallCap"]) == (200, 1000)
    await product.type("config", "set", "dailyGeminiCallCap", "0")
    await follows(dan, "dailyGeminiCallCap", 0)
    status, answer = await dan.post("/api/groundDocument", {"title": "X", "text": DOCUMENT})
    assert (status, answer["error"]["code"]) == (429, "resource-exhausted")
    await product.type("config", "unset", "dailyGeminiCallCap")
    await follows(dan, "dailyGeminiCallCap", 1000)
    assert (await dan.post("/api/groundDocument", {"title": "X", "text": DOCUMENT}))[0] == 200


@pytest.mark.req("TEST-15", "AUTH-11")
@pytest.mark.parametrize("attestation", [None, "no-token-of-anybody"])
async def test_attestation_is_lenient(town: Town, admin: Person, attestation: str | None) -> None:
    fay = await town.learner(f"Fay{bool(attestation)}", admin)
    headers = {"Authorization": f"Bearer {fay.token}"}
    if attestation:
        headers["X-Firebase-AppCheck"] = attestation
    url = town.door.url + "/api/setPreferredStyle"
    async with town.door.http.post(url, json={"style": "lecture"}, headers=headers) as response:
        assert response.status == 200


async def test_the_doctor_finds_the_product_in_order(product: Product) -> None:
    out = await product.type("doctor")
    assert "FAIL" not in out
    assert "model files are as pinned" in out
