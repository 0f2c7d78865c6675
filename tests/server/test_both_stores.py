"""The whole API on both stores: one tour, the same answers, the same documents."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from server.app import CONTEXT, build_app
from server.settings import Settings
from server.store.firestore import Deadlines, FirestoreStore
from tests.emulator import new_project
from tests.server.tour import Tour
from tests.server.world import open_world


async def toured(folder: Path, **settings: Any) -> Tour:
    async with open_world(folder, **settings) as world:
        tour = Tour(world)
        await tour.walk()
        await tour.look()
        assert (await world.get("/readyz"))[0] == 200
        return tour


@pytest.mark.req("CARD-10", "CARD-11", "DATA-25")
async def test_the_api_cannot_tell_the_stores_apart(tmp_path: Path, firestore_host: str) -> None:
    here = await toured(tmp_path / "sqlite")
    there = await toured(
        tmp_path / "firestore",
        store="firestore",
        firebase_project=new_project(),
        firestore_emulator_host=firestore_host,
    )
    assert len(here.answers) == len(there.answers) > 70
    for one, other in zip(here.answers, there.answers, strict=True):
        assert one == other
    assert {status for _, status, _ in here.answers} >= {200, 400, 401, 403, 404, 429}
    assert here.documents == there.documents
    assert not (tmp_path / "firestore" / "data" / "pidjin.sqlite3").exists()


@pytest.mark.req("CARD-9")
@pytest.mark.parametrize("identity", ["local", "firebase"])
@pytest.mark.parametrize("store", ["sqlite", "firestore"])
async def test_every_choice_is_its_own(tmp_path: Path, store: str, identity: str) -> None:
    chosen = Settings(
        data_dir=tmp_path / "data",
        store=store,
        identity=identity,
        firebase_project="demo-x",
        firestore_emulator_host="127.0.0.1:9",
    )
    ctx = build_app(chosen)[CONTEXT]
    kinds = {"sqlite": "SqliteStore", "firestore": "FirestoreStore"}
    assert type(ctx.store).__name__ == kinds[store]
    kinds = {"local": "LocalIdentity", "firebase": "FirebaseIdentity"}
    assert type(ctx.identity).__name__ == kinds[identity]
    assert (ctx.local_identity is ctx.identity) is (identity == "local")
    await ctx.identity.close()
    await ctx.store.close()


async def test_a_store_that_is_gone_is_an_outage_and_not_a_hang(tmp_path: Path) -> None:
    """Through the API, once started: readiness says so, callers get 503."""
    async with open_world(tmp_path) as world:
        person = await world.learner()
        gone = FirestoreStore(
            "demo-x", emulator_host="127.0.0.1:9", deadlines=Deadlines(call=0.3, query=0.3)
        )
        for name in ("get", "query", "transaction", "update", "set", "create"):
            setattr(world.ctx.store, name, getattr(gone, name))
        status, answer = await person.get("/api/sessions")
        assert (status, answer["error"]["code"]) == (503, "unavailable")
        status, answer = await world.get("/readyz")
        assert (status, answer["waiting"]) == (503, {"store": "cannot be reached"})
        await gone.close()


@pytest.mark.req("AUTH-23")
async def test_two_admins_cannot_revoke_each_other_on_firestore_either(
    tmp_path: Path, firestore_host: str
) -> None:
    async with open_world(
        tmp_path,
        store="firestore",
        firebase_project=new_project(),
        firestore_emulator_host=firestore_host,
    ) as world:
        admin, other = await world.admin(), await world.learner()
        await world.ctx.store.update(f"users/{other.uid}", {"role": "admin"})
        await asyncio.gather(
            admin.post("/api/revokeUser", {"uid": other.uid}),
            other.post("/api/revokeUser", {"uid": admin.uid}),
        )
        assert len(await world.ctx.store.query("users", where={"role": "admin"})) == 1
        again = await world.admin()
        assert again.uid == admin.uid
        assert len(await world.ctx.store.query("users", where={"role": "admin"})) == 1
