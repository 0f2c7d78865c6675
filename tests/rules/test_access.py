"""The access matrix (RULES-2), every cell carried out against the rules file by an emulator."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.emulator import new_project
from tests.rules.clients import ALLOWED, DENIED, RULES, Client, Database

pytestmark = pytest.mark.req("RULES-1", "RULES-2", "RULES-16")

# Every kind of client; `other` documents below belong to nobody among them.
ROLES = {
    "pending": "pending",
    "rejected": "rejected",
    "approved": "approved",
    "admin": "admin",
    "unknown role": "superuser",
    "number for a role": 5,
}
NO_DOCUMENT = "no user document"
ROLELESS = "no role in the user document"
ANONYMOUS = "anonymous"
EVERYBODY = (ANONYMOUS, NO_DOCUMENT, ROLELESS, *ROLES)
SIGNED_IN = EVERYBODY[1:]
ADMIN = frozenset({"admin"})
APPROVED = frozenset({"approved", "admin"})
NOBODY: frozenset[str] = frozenset()


def uid(name: str) -> str:
    return re.sub(r"[^a-z]", "-", name)


@contextmanager
def under(rules: str, host: str) -> Iterator[Database]:
    opened = Database(host, new_project())
    try:
        assert opened.load(rules) == []
        _seed(opened.owner())
        yield opened
    finally:
        opened.close()


@pytest.fixture(scope="module")
def database(firestore_host: str) -> Iterator[Database]:
    """Shared by all tests that change nothing in it."""
    with under(RULES.read_text(), firestore_host) as opened:
        yield opened


@pytest.fixture
def own_database(firestore_host: str) -> Iterator[Database]:
    with under(RULES.read_text(), firestore_host) as opened:
        yield opened


def _seed(server: Client) -> None:
    for name, role in ROLES.items():
        assert server.create(f"users/{uid(name)}", {"role": role, "email": "x"}) == ALLOWED
    assert server.create(f"users/{uid(ROLELESS)}", {"email": "x"}) == ALLOWED
    assert server.create("users/other", {"role": "approved"}) == ALLOWED
    for owner in (*map(uid, SIGNED_IN), "other"):
        for collection in ("topics", "sessions"):
            assert server.create(f"{collection}/of-{owner}", {"uid": owner}) == ALLOWED
        assert server.create(f"usage/{owner}_20260115", {"uid": owner}) == ALLOWED
    for status in ("active", "draft", "disabled"):
        assert server.create(f"topicCatalog/{status}", {"status": status}) == ALLOWED
    assert server.create("topicCatalog/bare", {"kind": "news"}) == ALLOWED
    for path in OTHER_READS:
        server.create(path, {"uid": "other"})


def client(database: Database, name: str) -> Client:
    if name == ANONYMOUS:
        return database.anonymous()
    # What a token claims about a role never counts (AUTH-8).
    return database.person(uid(name), role="admin", admin=True)


# Document -> who may read it, apart from owners.
OTHER_READS: dict[str, frozenset[str]] = {
    "topicPipelineStatus/20260115": ADMIN,
    "config/app": APPROVED,
    "config/other": APPROVED,
    "foo/bar": NOBODY,
    "users/other/private/x": NOBODY,
    "sessions/of-other/turns/1": NOBODY,
    "localSessions/x": NOBODY,
    "localLinks/x": NOBODY,
    "browserSessions/x": NOBODY,
    "signInAttempts/x": NOBODY,
    "ai_prompts/scope": NOBODY,
    "leases/newsPipeline": NOBODY,
    "spending/other_20260115": NOBODY,
    "voiceSessions/of-other": NOBODY,
    "deletedSessions/of-other": NOBODY,
    "doctor/last": NOBODY,
}
READS: dict[str, frozenset[str]] = {
    "users/other": ADMIN,
    "topics/of-other": ADMIN,
    "sessions/of-other": ADMIN,
    "usage/other_20260115": ADMIN,
    "topicCatalog/active": APPROVED,
    "topicCatalog/draft": ADMIN,
    "topicCatalog/disabled": ADMIN,
    "topicCatalog/bare": ADMIN,
    **OTHER_READS,
}
# Own document of each person -> whether the owner reads it, whatever the role (RULES-12).
OWN: dict[str, bool] = {
    "users/{}": True,
    "topics/of-{}": True,
    "sessions/of-{}": True,
    "usage/{}_20260115": False,
}


def status(allowed: bool) -> int:
    return ALLOWED if allowed else DENIED


@pytest.mark.req("RULES-6", "RULES-7", "RULES-9", "RULES-10", "RULES-11", "RULES-15", "AUTH-13")
@pytest.mark.parametrize("name", EVERYBODY)
@pytest.mark.parametrize("path", READS)
def test_reading_what_belongs_to_nobody_here(database: Database, path: str, name: str) -> None:
    assert client(database, name).get(path) == status(name in READS[path])


@pytest.mark.req("RULES-3", "RULES-4", "RULES-5", "RULES-8", "RULES-12")
@pytest.mark.parametrize("name", SIGNED_IN)
@pytest.mark.parametrize("own", OWN)
def test_reading_what_is_ones_own(database: Database, own: str, name: str) -> None:
    path = own.format(uid(name))
    exists = name != NO_DOCUMENT or not own.startswith("users/")
    got = client(database, name).get(path)
    if OWN[own] and not exists:
        assert got == 404  # allowed to look, and nothing is there
    else:
        assert got == status(OWN[own] or name == "admin")


LISTS: dict[str, frozenset[str]] = {
    "users": ADMIN,
    "topics": ADMIN,
    "sessions": ADMIN,
    "topicCatalog": ADMIN,
    "topicPipelineStatus": ADMIN,
    "usage": ADMIN,
    "config": APPROVED,
    "foo": NOBODY,
    "localSessions": NOBODY,
    "localLinks": NOBODY,
    "browserSessions": NOBODY,
    "signInAttempts": NOBODY,
    "leases": NOBODY,
    "spending": NOBODY,
    "doctor": NOBODY,
}


@pytest.mark.req("RULES-13")
@pytest.mark.parametrize("name", EVERYBODY)
@pytest.mark.parametrize("collection", LISTS)
def test_listing_a_whole_collection(database: Database, collection: str, name: str) -> None:
    assert client(database, name).list(collection) == status(name in LISTS[collection])


@pytest.mark.req("RULES-13")
@pytest.mark.parametrize("name", SIGNED_IN)
@pytest.mark.parametrize("collection", ["topics", "sessions", "usage"])
def test_listing_what_is_ones_own(database: Database, collection: str, name: str) -> None:
    owned = collection != "usage"
    person = client(database, name)
    assert person.list(collection, uid=uid(name)) == status(owned or name == "admin")
    assert person.list(collection, uid="other") == status(name == "admin")


@pytest.mark.req("RULES-6", "RULES-13")
@pytest.mark.parametrize("name", EVERYBODY)
def test_listing_the_catalog_by_status(database: Database, name: str) -> None:
    person = client(database, name)
    assert person.list("topicCatalog", status="active") == status(name in APPROVED)
    assert person.list("topicCatalog", status="draft") == status(name in ADMIN)


def _writable(name: str) -> list[str]:
    own = [] if name == ANONYMOUS else [path.format(uid(name)) for path in OWN]
    return [*READS, *own]


@pytest.mark.req("RULES-3", "RULES-4", "RULES-5", "RULES-6", "RULES-7", "RULES-8", "AUTH-12")
@pytest.mark.parametrize("name", EVERYBODY)
def test_nobody_writes_anything(database: Database, name: str) -> None:
    """Also not what is their own, nor with data that makes it their own."""
    person = client(database, name)
    data: dict[str, Any] = {"uid": uid(name), "role": "admin", "status": "active"}
    for path in _writable(name):
        assert person.create(f"{path}-new", data) == DENIED, path
        assert person.update(path, data) == DENIED, path
        assert person.delete(path) == DENIED, path


@pytest.mark.req("RULES-14")
def test_the_server_writes_what_it_likes(own_database: Database) -> None:
    server = own_database.owner()
    for path in READS:
        assert server.update(path, {"again": True}) == ALLOWED, path
        assert server.delete(path) == ALLOWED, path
        assert server.create(path, {}) == ALLOWED, path


@pytest.mark.req("AUTH-9")
def test_a_changed_role_counts_with_the_same_token(own_database: Database) -> None:
    server, person = own_database.owner(), client(own_database, "pending")
    seen = []
    for role in ("pending", "approved", "rejected"):
        server.update("users/pending", {"role": role})
        seen.append(person.get("config/app"))
    assert seen == [DENIED, ALLOWED, DENIED]


# --- the file -----------------------------------------------------------------------------------


def test_every_condition_was_decided_both_ways(own_database: Database) -> None:
    """A condition that is never true, or never false, is a rule that no test holds."""
    for name in EVERYBODY:
        person = client(own_database, name)
        for path in (*READS, *(own.format(uid(name)) for own in OWN)):
            person.get(path)
    seen: dict[int, set[bool]] = {}
    for entry in own_database.coverage()["report"]:
        told = {found["value"].get("boolValue") for found in entry.get("values", [])}
        seen.setdefault(entry["sourcePosition"]["line"], set()).update(told)
    lines = RULES.read_text().splitlines()
    allows = [n for n, text in enumerate(lines, 1) if "allow" in text and "if false" not in text]
    assert len(allows) == 7
    for number in allows:
        assert {True, False} <= seen.get(number, set()), lines[number - 1]


def test_the_evaluator_tells_a_mistake_in_the_rules(own_database: Database) -> None:
    source = RULES.read_text()
    assert own_database.load(source.replace("request.auth != null", "requets.auth != null"))
    assert own_database.load(source.replace("allow read:", "allow:", 1))


def test_the_matrix_notices_a_role_too_many(firestore_host: str) -> None:
    weak = RULES.read_text().replace("hasRole(['approved',", "hasRole(['pending', 'approved',")
    with under(weak, firestore_host) as database:
        assert client(database, "pending").get("config/app") == ALLOWED
