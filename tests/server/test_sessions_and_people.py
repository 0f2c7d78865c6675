"""Histories, deletion, admin decisions: who sees what, and what each step records."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from server.announcements import RoleChanged, SessionClosed
from tests.server.world import World, decision, open_world


@pytest.mark.req("API-52", "RULES-5", "RULES-13", "AGND-9", "AGND-13")
async def test_history_is_ones_own_newest_first(world: World) -> None:
    ada, bo = await world.learner("Ada"), await world.learner("Bo")
    topic_id = await ada.ground()
    await bo.turn(await bo.ground(), session="bo")
    agenda = ["The moon", "The sun", "Spring tides"]
    world.model.moves = [decision(text="x" * 500, covered=agenda)]
    for number in range(5):
        await ada.turn(topic_id, session=f"s{number}")
        world.clock.advance(minutes=1)
    await ada.call("endSession", sessionId="s0")
    await ada.call("setSessionStyle", sessionId="s1", style="lecture")
    _, page = await ada.get("/api/sessions?limit=3")
    assert [row["sessionId"] for row in page["sessions"]] == ["s4", "s3", "s2"]
    assert page["sessions"][0] == {
        "sessionId": "s4",
        "topicIds": [topic_id],
        "topicLabels": {topic_id: "Tides"},
        "startedAt": "2026-01-15T12:04:00.000Z",
        "turnCount": 1,
        "lastText": "x" * 200,
        "complete": True,
    }
    _, rest = await ada.get("/api/sessions?limit=3&after=s2")
    assert [row["sessionId"] for row in rest["sessions"]] == ["s1", "s0"]
    assert rest["sessions"][0]["style"] == "lecture"
    assert rest["sessions"][1]["endedAt"] == "2026-01-15T12:05:00.000Z"
    status, whole = await ada.get("/api/sessions/s4")
    assert status == 200
    assert (whole["sessionId"], whole["turns"][0]["text"]) == ("s4", "x" * 500)
    assert whole["revealState"]["coveredAngles"] == agenda


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=101", "limit=x", "limit=", "limit=²", "limit=-1", "limit=1e1"]
)
async def test_a_bad_limit_is_told(world: World, query: str) -> None:
    learner = await world.learner()
    assert (await learner.get(f"/api/sessions?{query}"))[0] == 400


async def test_a_cursor_must_be_ones_own(world: World) -> None:
    ada, bo = await world.learner("Ada"), await world.learner("Bo")
    await bo.turn(await bo.ground(), session="bo")
    for cursor in ("bo", "nothing", "a%2Fb", "..%2Fx"):
        assert (await ada.get(f"/api/sessions?after={cursor}"))[0] == 400


@pytest.mark.req("RULES-4", "RULES-5", "API-38")
async def test_admins_read_and_delete_anybodys_session_and_others_do_not(world: World) -> None:
    ada, bo, admin = await world.learner("Ada"), await world.learner("Bo"), await world.admin()
    closed: list[Any] = []
    world.ctx.announcements.subscribe(closed.append)
    topic_id = await ada.ground()
    for name in ("s1", "s2"):
        await ada.turn(topic_id, session=name)
    assert (await bo.get("/api/sessions/s1"))[0] == 403
    assert (await admin.get("/api/sessions/s1"))[0] == 200
    assert (await admin.get(f"/api/topics/{topic_id}"))[0] == 200
    assert (await admin.get("/api/sessions"))[1] == {"sessions": []}
    for operation in ("deleteSession", "endSession", "reopenSession"):
        assert await bo.refused(operation, sessionId="s1") == "permission-denied"
    assert await admin.refused("endSession", sessionId="s1") == "permission-denied"
    await ada.call("deleteSession", sessionId="s1")
    await admin.call("deleteSession", sessionId="s2")
    assert closed == [SessionClosed("s1", ada.uid), SessionClosed("s2", ada.uid)]
    for operation in ("deleteSession", "endSession", "reopenSession"):
        assert await ada.refused(operation, sessionId="s1") == "not-found"
    for path in ("/api/sessions/s1", "/api/topics/" + "0" * 64, "/api/topics/x", "/api/sessions/ü"):
        assert (await ada.get(path))[0] == 404


@pytest.mark.req("API-36")
async def test_ending_twice_answers_the_same(world: World) -> None:
    learner = await world.learner()
    await learner.turn(await learner.ground())
    first = await learner.call("endSession", sessionId="s1")
    world.clock.advance(hours=1)
    assert await learner.call("endSession", sessionId="s1") == first


@pytest.mark.req("API-46", "API-47", "DATA-2", "DATA-23")
async def test_a_foreign_session_keeps_its_style(world: World) -> None:
    ada, bo = await world.learner("Ada"), await world.learner("Bo")
    await ada.turn(await ada.ground())
    assert await bo.refused("setSessionStyle", sessionId="s1", style="lecture") == (
        "permission-denied"
    )
    assert "style" not in (await world.stored("sessions/s1") or {})
    await world.ctx.store.update(f"users/{ada.uid}", {"preferredStyle": "foo"})
    assert "preferredStyle" not in (await ada.get("/api/me"))[1]


@pytest.mark.parametrize("name", ["__proto__", "__x__", "____"])
async def test_ids_that_no_store_takes_are_refused(world: World, name: str) -> None:
    learner, admin = await world.learner(), await world.admin()
    topic_id = await learner.ground()
    for operation in ("endSession", "reopenSession", "deleteSession"):
        assert await learner.refused(operation, sessionId=name) == "invalid-argument"
    turn = {"sessionId": name, "topicId": topic_id, "utterance": "Hello?"}
    assert await learner.refused("dialogueTurn", **turn) == "invalid-argument"
    assert await admin.refused("approveUser", uid=name) == "invalid-argument"
    assert (await admin.post(f"/api/admin/users/{name}/revoke"))[0] == 400
    item = {"id": name, "title": "Tides"}
    assert await admin.refused("adminUpdateTopic", **item) == "invalid-argument"
    assert (await learner.get(f"/api/sessions/{name}"))[0] == 404
    assert (await learner.get(f"/api/sessions?after={name}"))[0] == 400
    assert (await admin.get(f"/api/admin/users?after={name}"))[0] == 400


# --- people -------------------------------------------------------------------------------------


@pytest.mark.req("API-39", "AUTH-23", "DATA-1", "CARD-11", "GOTCHA-12")
@pytest.mark.parametrize(
    ("operation", "verb", "role"),
    [
        ("approveUser", "approve", "approved"),
        ("rejectUser", "reject", "rejected"),
        ("revokeUser", "revoke", "rejected"),
    ],
)
async def test_a_decision_is_recorded(world: World, operation: str, verb: str, role: str) -> None:
    admin = await world.admin()
    heard: list[Any] = []
    world.ctx.announcements.subscribe(heard.append)
    ada, bo = await world.sign_up("Ada"), await world.sign_up("Bo")
    world.clock.advance(hours=1)
    assert await admin.call(operation, uid=ada.uid) == {"uid": ada.uid, "role": role}
    status, answer = await admin.post(f"/api/admin/users/{bo.uid}/{verb}")
    assert (status, answer) == (200, {"uid": bo.uid, "role": role})
    for person in (ada, bo):
        user = await world.stored(f"users/{person.uid}")
        assert user is not None
        assert set(user) == {
            "email",
            "displayName",
            "role",
            "createdAt",
            "approvedBy",
            "approvedAt",
        }
        assert (user["role"], user["approvedBy"]) == (role, admin.uid)
        assert user["approvedAt"] == "2026-01-15T13:00:00.000Z"
    assert [event.role.value for event in heard if isinstance(event, RoleChanged)] == [role, role]
    assert await admin.refused(operation, uid="nobody") == "not-found"
    assert await admin.refused(operation, uid=admin.uid) == "failed-precondition"
    assert (await admin.get("/api/me"))[1]["role"] == "admin"


async def test_approving_an_admin_takes_nothing_away(world: World) -> None:
    admin, other = await world.admin(), await world.learner()
    await world.ctx.store.update(f"users/{other.uid}", {"role": "admin"})
    assert await admin.refused("approveUser", uid=other.uid) == "failed-precondition"
    assert (await other.get("/api/me"))[1]["role"] == "admin"


@pytest.mark.parametrize("operation", ["rejectUser", "revokeUser"])
async def test_the_last_admin_stays(tmp_path: Path, operation: str) -> None:
    """Also where the one who decides only holds the dev token."""
    async with open_world(tmp_path, dev_token="sesame") as world:
        admin = await world.admin()
        path, body = f"/api/{operation}", {"uid": admin.uid}
        status, answer = await world.post(path, body, token="sesame")
        assert (status, answer["error"]["code"]) == (400, "failed-precondition")
        assert (await admin.get("/api/me"))[1]["role"] == "admin"


async def test_two_admins_cannot_revoke_each_other(world: World) -> None:
    admin, other = await world.admin(), await world.learner()
    await world.ctx.store.update(f"users/{other.uid}", {"role": "admin"})
    answers = await asyncio.gather(
        admin.post("/api/revokeUser", {"uid": other.uid}),
        other.post("/api/revokeUser", {"uid": admin.uid}),
    )
    assert sorted(status for status, _ in answers)[0] == 200
    assert len(await world.ctx.store.query("users", where={"role": "admin"})) == 1


@pytest.mark.req("API-48", "RULES-3")
async def test_admins_list_people_by_role_newest_first(world: World) -> None:
    admin = await world.admin()
    people = []
    for name in ("Ada", "Bo", "Cy"):
        world.clock.advance(minutes=1)
        people.append(await world.sign_up(name))
    await admin.call("approveUser", uid=people[0].uid)
    _, everybody = await admin.get("/api/admin/users")
    assert [user["uid"] for user in everybody["users"]] == [
        *(person.uid for person in reversed(people)),
        admin.uid,
    ]
    _, pending = await admin.get("/api/admin/users?role=pending&limit=1")
    assert [user["displayName"] for user in pending["users"]] == ["Cy"]
    _, more = await admin.get(f"/api/admin/users?role=pending&after={people[2].uid}")
    assert [user["displayName"] for user in more["users"]] == ["Bo"]
    assert (await admin.get("/api/admin/users?role=boss"))[0] == 400


async def test_a_subscribers_bug_does_not_undo_a_decision(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    admin, ada = await world.admin(), await world.sign_up()

    def buggy(_: Any) -> None:
        raise KeyError("bug")

    world.ctx.announcements.subscribe(buggy)
    await admin.call("approveUser", uid=ada.uid)
    assert "subscriber_failed" in caplog.messages
