"""Over the whole registry: who is refused, what is malformed, and that none of it is billed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from server.errors import Code, Refused
from server.operations.table import OPERATIONS
from server.registry import perform
from server.roles import Role
from tests.server.world import DOCUMENT, Person, World, open_world

TOPIC = "0" * 64
# A well-formed request of every operation.
VALID: dict[str, dict[str, Any]] = {
    "groundTopic": {"topic": "Tides", "kind": "core", "forceRefresh": False},
    "groundDocument": {"title": "Tides", "text": DOCUMENT},
    "dialogueTurn": {
        "sessionId": "s1",
        "topicId": TOPIC,
        "userUtteranceSummary": "The moon?",
        "revealState": {},
        "tutorReply": "Yes.",
        "tutorInterrupted": False,
    },
    "getLiveSessionToken": {"sessionId": "s1", "topicId": TOPIC},
    "endSession": {"sessionId": "s1"},
    "reopenSession": {"sessionId": "s1"},
    "deleteSession": {"sessionId": "s1"},
    "setSessionStyle": {"sessionId": "s1", "style": "lecture"},
    "setPreferredStyle": {"style": "lecture"},
    "approveUser": {"uid": "u1"},
    "rejectUser": {"uid": "u1"},
    "revokeUser": {"uid": "u1"},
    "mintInvite": {"email": "a@b.org", "displayName": "Ada"},
    "mintSignInLink": {"uid": "u1"},
    "speakText": {"text": "Hello."},
    "adminGetNewsConfig": {},
    "adminSetNewsConfig": {"newsAutoPublish": True, "newsPipelineEnabled": False},
    "adminCreateTopic": {
        "kind": "news",
        "title": "Tides",
        "searchQuery": "tides today",
        "description": "The sea.",
        "themes": ["science"],
        "status": "draft",
    },
    "adminUpdateTopic": {
        "id": TOPIC,
        "title": "Tides",
        "searchQuery": "tides today",
        "description": "The sea.",
        "themes": ["science"],
        "status": "active",
    },
    "runNewsPipeline": {},
    "scheduledNewsPipeline": {},
}
REQUIRED = {
    "groundTopic": {"topic"},
    "groundDocument": {"title", "text"},
    "dialogueTurn": {"sessionId", "topicId", "userUtteranceSummary"},
    "getLiveSessionToken": set(),
    "mintInvite": set(),
    "adminSetNewsConfig": set(),
    "adminCreateTopic": {"kind", "title", "searchQuery"},
    "adminUpdateTopic": {"id"},
}
# One more than the largest allowed text, and the texts that are no ids.
OVER = {
    ("groundTopic", "topic"): 501,
    ("groundDocument", "title"): 301,
    ("groundDocument", "text"): 120_001,
    ("dialogueTurn", "userUtteranceSummary"): 2001,
    ("dialogueTurn", "tutorReply"): 4001,
    ("mintInvite", "email"): 255,
    ("mintInvite", "displayName"): 81,
    ("speakText", "text"): 4001,
    ("adminCreateTopic", "title"): 201,
    ("adminCreateTopic", "searchQuery"): 501,
    ("adminCreateTopic", "description"): 1001,
    ("adminUpdateTopic", "title"): 201,
    ("adminUpdateTopic", "searchQuery"): 501,
    ("adminUpdateTopic", "description"): 1001,
}
BAD_IDS = ("", "a b", "a/b", "../x", "x" * 129, "ü", "a\n", "a\u0000b")
WRONG: tuple[Any, ...] = (None, 7, 1.5, True, "yes", "", [], ["a"], {}, {"a": [[1]]}, "\ud800")
TEXT_CHOICES = {"kind", "style", "topicId", "status"}
MAY_BE_NULL = {
    "dialogueTurn": {"revealState", "tutorReply"},
    "getLiveSessionToken": {"sessionId", "topicId"},
}
BLANK_ALLOWED = {
    ("dialogueTurn", "tutorReply"),  # blank: normal mode
    ("mintInvite", "email"),
    ("mintInvite", "displayName"),
    ("adminCreateTopic", "description"),
    ("adminUpdateTopic", "description"),
}


def wrong_values(name: str, field: str, valid: Any) -> list[Any]:
    """Values that the field must refuse."""
    refused = []
    for value in WRONG:
        same_type = type(value) is type(valid)
        if same_type and field not in TEXT_CHOICES and value == "yes":
            continue
        if value is None and field in MAY_BE_NULL.get(name, set()):
            continue
        if same_type and isinstance(value, (bool, dict, list)):
            continue
        if value == "" and (name, field) in BLANK_ALLOWED:
            continue
        refused.append(value)
    if field.endswith("Id") or field in ("uid", "id"):
        refused += list(BAD_IDS)
    if (name, field) in OVER:
        refused += ["a" * OVER[name, field]]
    return refused


CASES = [
    (name, field, value)
    for name, valid in VALID.items()
    for field in valid
    for value in wrong_values(name, field, valid[field])
]


def test_every_operation_has_a_case() -> None:
    assert set(VALID) == {operation.name for operation in OPERATIONS}


async def send(person: Person, name: str, body: Any) -> tuple[int, Any]:
    """Sends text, so that values which no client library would encode arrive as well."""
    headers = {"Authorization": f"Bearer {person.token}", "Content-Type": "application/json"}
    async with person.world.client.post(
        f"/api/{name}", data=json.dumps(body), headers=headers
    ) as response:
        return response.status, await response.json()


@pytest.mark.req("API-2", "API-4", "API-10", "API-14", "DATA-2", "DATA-17")
async def test_a_wrong_field_is_refused_and_nothing_is_billed(tmp_path: Path) -> None:
    async with open_world(tmp_path, dev_token="sesame") as world:
        await refuse_all(world, Person(world, "dev-admin", "sesame"))


async def refuse_all(world: World, admin: Person) -> None:
    before = await snapshot(world)
    for name, field, value in CASES:
        status, answer = await send(admin, name, {**VALID[name], field: value})
        assert status == 400, (name, field, value, answer)
        assert answer["error"]["code"] == "invalid-argument", (name, field, value)
        assert "\ud800" not in json.dumps(answer)
    for name, valid in VALID.items():
        for field in REQUIRED.get(name, set(valid)):
            body = {key: value for key, value in valid.items() if key != field}
            status, answer = await send(admin, name, body)
            assert (status, answer["error"]["code"]) == (400, "invalid-argument"), (name, field)
    assert world.model.requests == []
    assert await world.calls(admin) == 0
    assert await snapshot(world) == before


async def snapshot(world: World) -> dict[str, Any]:
    """Everything stored except the credentials."""
    collections = ("users", "topics", "sessions", "usage", "config", "localLinks", "topicCatalog")
    return {name: [doc.data for doc in await world.ctx.store.query(name)] for name in collections}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "[]",
        "null",
        '"text"',
        "NaN",
        '{"topic": NaN}',
        '{"topic": Infinity}',
        "[" * 100_000,
        '{"a":' * 5000 + "1" + "}" * 5000,
        '{"topic": ' + "9" * 5000 + "}",
        '{"topic": "\\ud83d"}',
        b"\xff\xfe",
        b"\x00",
    ],
    ids=lambda text: repr(text)[:16],
)
@pytest.mark.req("API-1", "API-2")
async def test_broken_bodies_are_told_apart_from_bugs(world: World, text: str | bytes) -> None:
    admin = await world.admin()
    headers = {"Authorization": f"Bearer {admin.token}", "Content-Type": "application/json"}
    async with world.client.post("/api/groundTopic", data=text, headers=headers) as response:
        assert response.status == 400
        assert (await response.json())["error"]["code"] == "invalid-argument"


async def test_only_json_is_read(world: World) -> None:
    admin = await world.admin()
    headers = {"Authorization": f"Bearer {admin.token}", "Content-Type": "text/plain"}
    async with world.client.post("/api/groundTopic", data="{}", headers=headers) as response:
        assert response.status == 400


@pytest.mark.req("AUTH-1")
async def test_unknown_fields_are_ignored_and_a_foreign_uid_acts_on_nobody(world: World) -> None:
    learner = await world.learner()
    other = await world.learner("Bo")
    await learner.call("setPreferredStyle", style="lecture", uid=other.uid, more={"a": 1})
    assert "preferredStyle" not in (await world.stored(f"users/{other.uid}") or {})
    assert (await world.stored(f"users/{learner.uid}") or {})["preferredStyle"] == "lecture"


# --- roles --------------------------------------------------------------------------------------

READS = (
    "/api/config",
    "/api/catalog",
    f"/api/topics/{TOPIC}",
    "/api/sessions",
    "/api/sessions/s1",
    "/api/admin/users",
    "/api/admin/usage",
)
ADMIN_POSTS = (
    "/api/admin/users/u1/approve",
    "/api/admin/users/u1/reject",
    "/api/admin/users/u1/revoke",
    "/api/admin/invites",
    "/api/admin/catalog",
    "/api/admin/pipeline-runs",
)


@pytest.mark.req("AUTH-6", "AUTH-7", "AUTH-8", "API-3", "API-9", "RULES-12")
@pytest.mark.parametrize("role", ["pending", "rejected", "foo", "", None, 7])
async def test_without_access_everything_but_me_is_refused(world: World, role: Any) -> None:
    person = await world.sign_up()
    await world.ctx.store.update(f"users/{person.uid}", {"role": role})
    for operation in OPERATIONS:
        for body in (VALID[operation.name], {}):
            assert await person.refused(operation.name, **body) == "permission-denied"
            status, answer = await person.post(f"/callable/{operation.name}", {"data": body})
            assert (status, answer["error"]["status"]) == (403, "PERMISSION_DENIED")
    for path in READS:
        assert (await person.get(path))[0] == 403
    for path in ADMIN_POSTS:
        assert (await person.post(path))[0] == 403
    assert (await person.get("/api/me"))[0] == 200
    assert world.model.requests == []


@pytest.mark.req("AUTH-8")
async def test_what_only_admins_may_do(world: World) -> None:
    learner = await world.learner()
    admins = [op.name for op in OPERATIONS if op.role is Role.ADMIN]
    assert admins == [
        "approveUser",
        "rejectUser",
        "revokeUser",
        "mintInvite",
        "mintSignInLink",
        "adminGetNewsConfig",
        "adminSetNewsConfig",
        "adminCreateTopic",
        "adminUpdateTopic",
        "runNewsPipeline",
        "scheduledNewsPipeline",
    ]
    for name in admins:
        assert await learner.refused(name, **VALID[name]) == "permission-denied"
    for path in ("/api/admin/users", "/api/admin/usage"):
        assert (await learner.get(path))[0] == 403
    for path in ADMIN_POSTS:
        assert (await learner.post(path))[0] == 403


async def test_a_caller_inside_the_process_needs_the_role_as_well(world: World) -> None:
    person = await world.sign_up()
    caller = await world.ctx.callers.caller_of(await world.ctx.identity.verify(person.token))
    with pytest.raises(Refused) as caught:
        await perform(world.ctx, OPERATIONS["groundTopic"], caller, {})
    assert caught.value.code is Code.PERMISSION_DENIED


@pytest.mark.req("AUTH-10", "API-3")
async def test_nobody_is_told_to_sign_in_before_anything_else(world: World) -> None:
    for operation in OPERATIONS:
        for prefix in ("/api/", "/callable/"):
            async with world.client.post(prefix + operation.name, data=b"{not json") as response:
                assert response.status == 401
                assert response.headers["WWW-Authenticate"] == "Bearer"
    for path in (*READS, "/api/me"):
        assert (await world.get(path))[0] == 401
    for path in ADMIN_POSTS:
        assert (await world.post(path))[0] == 401


@pytest.mark.req("AUTH-9")
async def test_a_role_change_counts_from_the_next_call(world: World) -> None:
    admin, person = await world.admin(), await world.sign_up()
    for operation, allowed in (
        ("approveUser", True),
        ("revokeUser", False),
        ("approveUser", True),
        ("rejectUser", False),
    ):
        await admin.call(operation, uid=person.uid)
        status, _ = await person.post("/api/setPreferredStyle", {"style": "lecture"})
        assert (status == 200) is allowed


@pytest.mark.req("AUTH-12", "DATA-22", "RULES-2")
async def test_there_is_no_other_way_to_write(world: World) -> None:
    admin = await world.admin()
    headers = {"Authorization": f"Bearer {admin.token}"}
    for path in READS:
        for method in ("PUT", "PATCH", "DELETE", "POST"):
            async with world.client.request(method, path, json={}, headers=headers) as response:
                assert response.status == 405
                assert "GET" in response.headers["Allow"]
                assert "error" in await response.json()


@pytest.mark.req("AUTH-11")
async def test_attestation_is_lenient_until_it_is_enforced(world: World) -> None:
    learner = await world.learner()
    await learner.call("setPreferredStyle", style="lecture")
    await world.configure(enforceAppCheck=True)
    assert await learner.refused("setPreferredStyle", style="socratic") == "permission-denied"
    headers = {"Authorization": f"Bearer {learner.token}", "X-Firebase-AppCheck": "attested"}
    async with world.client.post(
        "/api/setPreferredStyle", json={"style": "socratic"}, headers=headers
    ) as response:
        assert response.status == 200


@pytest.mark.req("API-1")
async def test_the_callable_envelope_carries_the_same_operation(world: World) -> None:
    learner = await world.learner()
    status, answer = await learner.post("/callable/setPreferredStyle", {"data": {"style": "x"}})
    assert (status, answer["error"]["status"]) == (400, "INVALID_ARGUMENT")
    status, answer = await learner.post(
        "/callable/setPreferredStyle", {"data": {"style": "lecture"}}
    )
    assert (status, answer) == (200, {"result": {"preferredStyle": "lecture"}})
    for body in ({}, {"style": "lecture"}, []):
        assert (await learner.post("/callable/setPreferredStyle", body))[0] == 400


async def test_the_description_names_every_operation(world: World) -> None:
    status, api = await world.get("/api/openapi.json")
    assert status == 200
    assert set(api["paths"]) == {f"/api/{operation.name}" for operation in OPERATIONS}
    text = json.dumps(api)
    for reference in {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}:
        assert reference in api["components"]["schemas"]
    turn = api["components"]["schemas"]["DialogueTurnRequest"]
    assert turn["properties"]["userUtteranceSummary"]["maxLength"] == 2000
