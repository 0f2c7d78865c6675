"""What ended lessons leave is given back once nobody is being heard, and not before."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from server import tidying
from server.tidying import REST_S, Tidying
from tests.media.peers import until
from tests.rig import house
from tests.virtual_time import run_virtual


class Ring:
    """Only a collection frees it."""

    def __init__(self) -> None:
        self.me = self


def ring() -> weakref.ref[Ring]:
    return weakref.ref(Ring())


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    """Nothing is collected unless somebody asks for it."""
    gc.disable()
    yield
    gc.enable()


def test_garbage_is_collected_and_pages_returned_a_while_after_the_last_lesson() -> None:
    async def main() -> None:
        trimmed: list[float] = []
        loop = asyncio.get_running_loop()
        tidy = Tidying(lambda: False, lambda: trimmed.append(loop.time()))
        left, began = ring(), loop.time()
        tidy.lesson_over()
        await asyncio.sleep(REST_S / 2)
        tidy.lesson_over()
        await asyncio.sleep(REST_S * 0.9)
        assert left() is not None
        assert trimmed == []
        await asyncio.sleep(REST_S)
        assert left() is None
        assert trimmed == [began + 1.5 * REST_S]

    run_virtual(main())


def test_nothing_is_done_while_there_is_a_lesson_or_after_the_end() -> None:
    async def main() -> None:
        trimmed: list[str] = []
        busy = True
        tidy = Tidying(lambda: busy, lambda: trimmed.append("trimmed"))
        left = ring()
        tidy.lesson_over()
        await asyncio.sleep(2 * REST_S)
        busy = False
        tidy.lesson_over()
        tidy.close()
        tidy.close()
        await asyncio.sleep(2 * REST_S)
        assert left() is not None
        assert trimmed == []

    run_virtual(main())


def test_trimming_is_harmless_on_every_libc() -> None:
    tidying.trim()


@pytest.mark.req("RTC-19")
async def test_nothing_of_a_lesson_waits_for_the_collector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tidying, "REST_S", 0.1)
    async with house(tmp_path) as home:
        ada = await home.person()
        topic = await ada.ground()
        async with ada.call(topic):
            lesson = weakref.ref(home.lessons.running()[0])
        await home.empty()
        await until(lambda: lesson() is None, "no lesson left", 5)
