"""What is special about the embedded store: its file, its durability, its failures."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from server.store.port import StoreDown
from server.store.sqlite import SqliteStore

WRITER = """
import asyncio, sys
from pathlib import Path
from server.store.sqlite import SqliteStore

async def main():
    store = SqliteStore(Path(sys.argv[1]))
    for n in range(10_000):
        async def work(transaction, n=n):
            transaction.set("pair/a", {"n": n})
            transaction.set("pair/b", {"n": n})
        await store.transaction(work)
        print(n, flush=True)

asyncio.run(main())
"""


async def test_only_the_owner_can_read_the_file(tmp_path: Path) -> None:
    file = tmp_path / "data" / "store.sqlite3"
    store = SqliteStore(file)
    await store.set("c/a", {})
    await store.close()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


async def test_an_unused_store_makes_no_file(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.sqlite3")
    await store.close()
    assert list(tmp_path.iterdir()) == []


async def test_a_foreign_file_is_told_as_store_down(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite3"
    file.write_bytes(b"this is no database" * 100)
    store = SqliteStore(file)
    with pytest.raises(StoreDown):
        await store.get("c/a")
    await store.close()


async def test_a_failure_that_nobody_waits_for_any_more_is_no_error_of_the_loop(
    tmp_path: Path,
) -> None:
    problems: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
    store = SqliteStore(tmp_path / "store.sqlite3")
    await store.set("c/a", {"n": 1})
    abandoned = asyncio.create_task(store.create("c/a", {"n": 2}))
    await asyncio.sleep(0)
    abandoned.cancel()
    await asyncio.wait([abandoned])
    assert abandoned.cancelled()
    doc = await store.get("c/a")  # jobs run one after another: the abandoned one is over
    assert doc is not None
    assert doc.data == {"n": 1}
    await store.close()
    del abandoned
    gc.collect()
    await asyncio.sleep(0)
    assert problems == []


async def test_two_processes_worth_of_stores_lose_no_update(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite3"
    stores = [SqliteStore(file), SqliteStore(file)]
    await stores[0].set("t/c", {"n": 0})

    async def add(store: SqliteStore) -> None:
        async def work(transaction) -> None:
            doc = await transaction.get("t/c")
            transaction.set("t/c", {"n": doc.data["n"] + 1})

        for _ in range(5):
            await store.transaction(work, attempts=30)

    await asyncio.gather(*(add(store) for store in stores))
    doc = await stores[0].get("t/c")
    for store in stores:
        await store.close()
    assert doc is not None
    assert doc.data == {"n": 10}


async def test_what_was_acknowledged_survives_a_killed_process(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite3"
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(file)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    acknowledged = -1
    for line in process.stdout:
        acknowledged = int(line)
        if acknowledged >= 25:
            break
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    store = SqliteStore(file)
    first, second = await store.get("pair/a"), await store.get("pair/b")
    await store.close()
    assert first is not None
    assert second is not None
    assert first.data == second.data
    assert first.data["n"] >= acknowledged
