"""From nothing to a saved conversation: the shortest way through the whole server."""

from __future__ import annotations

import pytest

from tests.server.world import World, decision


@pytest.mark.req("AUTH-26", "API-21", "API-52", "CARD-8", "CARD-11")
async def test_a_person_signs_up_is_approved_and_learns(world: World) -> None:
    person = await world.sign_up()
    assert await person.refused("groundDocument", title="Tides", text="Moon.") == (
        "permission-denied"
    )
    admin = await world.admin()
    status, _ = await admin.post(f"/api/admin/users/{person.uid}/approve")
    assert status == 200
    topic_id = await person.ground()
    world.model.moves = [decision("probe", "Why twice a day?", covered=["The moon"])]
    answer = await person.turn(topic_id, "The moon pulls.")
    assert answer["mode"] == "probe"
    assert answer["updatedRevealState"] == {
        "agenda": ["The moon", "The sun", "Spring tides"],
        "coveredAngles": ["The moon"],
    }
    _, history = await person.get("/api/sessions")
    assert [row["lastText"] for row in history["sessions"]] == ["Why twice a day?"]
    _, session = await person.get("/api/sessions/s1")
    assert session["turns"][0]["userText"] == "The moon pulls."
