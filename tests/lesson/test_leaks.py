"""Lessons come and go; the process stays as it was."""

import asyncio
import gc
import os
from pathlib import Path

import pytest

from tests.rig import House, Person, house

LESSONS = int(os.environ.get("PIDJIN_SOAK_LESSONS", "40"))
# Everything that is made once is there by then.
WARM = 16
PARTS = 4


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def _resident_kb() -> int:
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1])


async def _lesson(person: Person, topic: str, number: int) -> None:
    async with person.call(topic) as call:
        if number % 4 == 0:
            assert (await call.ask("Hello there."))["saved"] is True
        if number % 4 == 1:
            call.type("Never answered.")
        if number % 4 == 2:
            await call.hang_up()
            await person.post("/api/rtcClose", {"pc_id": call.answer["pc_id"]})


async def _settled(home: House) -> tuple[int, int, int]:
    """Tasks, descriptors, resident memory once nothing of a lesson is left."""
    await home.empty()
    await asyncio.sleep(0)
    gc.collect()
    return len(asyncio.all_tasks()), _descriptors(), _resident_kb()


@pytest.mark.req("RTC-19", "RTC-21")
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
async def test_lessons_leave_nothing_behind(tmp_path: Path) -> None:
    """T26: tasks, descriptors, transports and memory are flat; nothing fails unseen (the house
    and the fixture of this folder look for that)."""
    async with house(tmp_path) as home:
        ada = await home.person()
        topic = await ada.ground()
        for number in range(WARM):
            await _lesson(ada, topic, number)
        tasks, descriptors, before_kb = await _settled(home)
        growth: list[float] = []
        for _ in range(PARTS):
            for number in range(LESSONS // PARTS):
                await _lesson(ada, topic, number)
            home.gemini.sessions.clear()  # the double remembers them
            tasks_after, descriptors_after, after_kb = await _settled(home)
            assert tasks_after <= tasks
            # Idle keep-alive connections of the HTTP client may differ by a few.
            assert descriptors_after <= descriptors + 4
            growth.append((after_kb - before_kb) / (LESSONS // PARTS))
            before_kb = after_kb
        # Allocators take pages in steps; what leaks does so in every part.
        assert min(growth) < 40, f"kB a lesson, part by part: {growth}"
        assert sum(growth) / PARTS < 150, f"kB a lesson, part by part: {growth}"
