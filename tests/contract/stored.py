"""What a store holds, in short."""

from __future__ import annotations

from typing import Any

from server.store.port import Store


async def data(store: Store, path: str) -> dict[str, Any]:
    doc = await store.get(path)
    assert doc is not None
    return doc.data


async def seed(store: Store) -> None:
    for i in range(7):
        await store.set(
            f"q/d{i}",
            {
                "owner": "ab"[i % 2],
                "n": (3 * i) % 7,
                "m": {"k": i},
                "flag": i == 3,
                "one": 1 if i == 1 else "1",
            },
        )
    await store.set("q/d9", {"owner": "a"})
    await store.set("q/d0/q/x", {"owner": "a", "n": 99})


async def ids(store: Store, collection: str, **how: Any) -> list[str]:
    return [doc.id for doc in await store.query(collection, **how)]
