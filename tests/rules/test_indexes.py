"""`firestore.indexes.json` against what the server asks: production refuses a query whose
composite index is missing, and the emulator never asks for one.

Every query of the code is carried out here (a call that is not fails the test), and its need is
derived by Firestore's own rule: equality filters with an order by another field need a composite
index, anything else that the store's port can ask does not.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from server import deleted_sessions
from server.commands import services, users
from server.errors import Refused
from server.identity.attempts import Attempts
from server.identity.browser_sessions import BrowserSessions
from server.identity.google import GoogleAccounts
from server.news.retention import prune
from server.operations.people import set_role
from server.roles import Role
from server.store.port import Doc, Store
from server.store.records import new_user, user_path
from server.voice_sessions import VoiceSessions
from tests.server.tour import Tour
from tests.server.world import World, open_world

ROOT = Path(__file__).resolve().parent.parent.parent
UP, DOWN = "ASCENDING", "DESCENDING"


@dataclass(frozen=True)
class Index:
    """A collection-scope index; equality fields are a set, for their order does not matter."""

    collection: str
    equal: frozenset[str]
    order_by: str
    direction: str


def need(
    collection: str, where: Mapping[str, Any] | None, order_by: str | None, desc: bool
) -> Index | None:
    """The composite index that a query needs, or None where automatic ones do."""
    equal = frozenset(where or ()) - {order_by}
    if not equal or order_by is None:
        return None
    return Index(collection.rpartition("/")[2], equal, order_by, DOWN if desc else UP)


def declared() -> list[dict[str, Any]]:
    indexes: list[dict[str, Any]] = json.loads((ROOT / "firestore.indexes.json").read_text())[
        "indexes"
    ]
    return indexes


def index_of(entry: Mapping[str, Any]) -> Index:
    *equal, last = entry["fields"]
    names = frozenset(one["fieldPath"] for one in equal)
    return Index(entry["collectionGroup"], names, last["fieldPath"], last["order"])


@pytest.mark.req("DATA-25")
def test_the_file_has_the_four_indexes_and_nothing_else() -> None:
    def entry(collection: str, *fields: tuple[str, str]) -> dict[str, Any]:
        return {
            "collectionGroup": collection,
            "queryScope": "COLLECTION",
            "fields": [{"fieldPath": name, "order": order} for name, order in fields],
        }

    assert json.loads((ROOT / "firestore.indexes.json").read_text()) == {
        "indexes": [
            entry("users", ("role", UP), ("createdAt", DOWN)),
            entry("sessions", ("uid", UP), ("startedAt", DOWN)),
            entry("topicCatalog", ("kind", UP), ("status", UP), ("updatedAt", DOWN)),
            entry("topicCatalog", ("kind", UP), ("updatedAt", DOWN)),
        ],
        "fieldOverrides": [],
    }


# --- what the server asks -----------------------------------------------------------------------

Site = tuple[str, str]


def sites() -> set[Site]:
    """Every function of the server that queries a store: (module, function)."""
    found: set[Site] = set()
    for file in sorted((ROOT / "server").rglob("*.py")):
        module = file.relative_to(ROOT).as_posix()
        if module.startswith("server/store/"):
            continue
        tree = ast.parse(file.read_text())
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                found |= {(module, function.name) for call in ast.walk(function) if _asks(call)}
    return found


def _asks(node: ast.AST) -> bool:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    owner = ast.unparse(node.func.value)
    return node.func.attr == "query" and owner.rpartition(".")[2] in ("store", "_store")


@dataclass
class Asked:
    """Listens at one store."""

    sites: set[Site] = field(default_factory=set)
    needs: set[Index] = field(default_factory=set)
    queries: int = 0

    def listen(self, store: Store, patch: pytest.MonkeyPatch) -> None:
        genuine = store.query

        async def query(collection: str, **how: Any) -> list[Doc]:
            frame = sys._getframe(1)
            module = Path(frame.f_code.co_filename).relative_to(ROOT).as_posix()
            self.sites.add((module, frame.f_code.co_name))
            self.queries += 1
            wanted = need(collection, how.get("where"), how.get("order_by"), how.get("desc", False))
            if wanted is not None:
                self.needs.add(wanted)
            return await genuine(collection, **how)

        patch.setattr(store, "query", query)


async def only_admin(world: World) -> str:
    """A person made admin by hand, as the first one is."""
    uid = "the-admin"
    user = new_user(email="a@x", display_name="A", role="admin", now=world.ctx.clock.now())
    await world.ctx.store.set(user_path(uid), user)
    for doc in await world.ctx.store.query("users", where={"role": "admin"}):
        if doc.id != uid:
            await world.ctx.store.delete(doc.path)
    return uid


@pytest.mark.req("DATA-25")
async def test_every_query_of_the_server_has_its_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked()
    async with open_world(tmp_path) as world:
        asked.listen(world.ctx.store, monkeypatch)
        await Tour(world).walk()
        await world.ctx.identity.open()
        await prune(world.ctx.store, world.ctx.clock.now())
        for role in (None, "pending"):
            await users.everybody(world.ctx, role)
        await services._read_and_write(world.ctx)
        await VoiceSessions(world.ctx.store, world.ctx.clock).purge()
        await deleted_sessions.purge(world.ctx.store, world.ctx.clock.now())
        await Attempts(world.ctx.store, world.ctx.clock).begin("state", "session")
        google = GoogleAccounts("key", "https://tutor.example.org")
        verifier = world.ctx.identity
        await BrowserSessions(world.ctx.store, world.ctx.clock, verifier, google).sweep()
        with pytest.raises(Refused):  # the only admin stays one
            await set_role(world.ctx, "operator", await only_admin(world), Role.REJECTED)
    ours = {site for site in asked.sites if site[0].startswith("server/")}
    assert ours == sites()
    assert asked.needs <= {index_of(entry) for entry in declared()}
    # What nothing asks yet is the catalog's: its lists are short, and are read whole.
    unused = {index_of(entry) for entry in declared()} - asked.needs
    assert {index.collection for index in unused} <= {"topicCatalog"}


def test_the_rule_of_composite_indexes() -> None:
    assert need("users", None, "createdAt", True) is None
    assert need("users", {"role": "x"}, None, False) is None
    assert need("users", {"role": "x"}, "role", True) is None
    assert need("t", {"title": "x", "status": "y"}, None, False) is None
    assert need("users", {"role": "x"}, "createdAt", True) == Index(
        "users", frozenset({"role"}), "createdAt", DOWN
    )
    assert need("a/b/users", {"r": 1, "s": 2}, "c", False) == Index(
        "users", frozenset({"r", "s"}), "c", UP
    )


def test_a_new_query_would_be_noticed() -> None:
    assert ("server/reads.py", "list_sessions") in sites()
    assert len(sites()) >= 8
