"""Handles on the Live wire: the same mind again, refused while its socket is open, expired."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from local_gemini.server import LocalGemini
from tests.local_gemini.raw_client import (
    SETUP,
    kinds,
    resumed,
    session,
    socket,
)
from tests.local_gemini.scripted_service import engine


async def test_a_handle_brings_the_same_mind_back() -> None:
    async with LocalGemini(double := engine(), speed=50) as local:
        async with session(local) as raw:
            await raw.send({"realtimeInput": {"text": "one"}})
            await raw.turn()
            handle = (await raw.next())["sessionResumptionUpdate"]["newHandle"]
        await local.until(lambda: not local.sessions[0].open)
        async with session(local, resumed(handle)) as raw:
            await raw.send({"realtimeInput": {"text": "two"}})
            usage = (await raw.turn())[-1]["usageMetadata"]
        assert len(double.head.minds) == 1
        assert double.head.minds[0].learner == ["one", "two"]
        assert local.sessions[1].resumed
        assert usage["promptTokenCount"] > local.sessions[0].usage[0]["promptTokenCount"]


async def test_a_handle_is_refused_while_its_socket_is_open() -> None:
    async with LocalGemini(engine(), speed=50) as local, session(local) as first:
        handle = (await first.next())["sessionResumptionUpdate"]["newHandle"]
        async with socket(local) as second:
            await second.send({"setup": resumed(handle)})
            assert await second.closed() == 1011


async def test_a_handle_expires_and_an_unknown_one_is_refused() -> None:
    now = datetime(2027, 1, 5, tzinfo=UTC)
    async with LocalGemini(engine(), speed=50, now=lambda: now) as local:
        async with session(local) as raw:
            handle = (await raw.next())["sessionResumptionUpdate"]["newHandle"]
        await local.until(lambda: not local.sessions[0].open)
        now += timedelta(hours=2, seconds=1)
        for refused in (handle, "never-issued"):
            async with socket(local) as raw:
                await raw.send({"setup": resumed(refused)})
                assert await raw.closed() == 1008


async def test_a_session_without_resumption_gets_no_handles() -> None:
    setup = {key: value for key, value in SETUP.items() if key != "sessionResumption"}
    async with LocalGemini(engine(), speed=50) as local, session(local, setup) as raw:
        await raw.send({"realtimeInput": {"text": "one"}})
        assert "sessionResumptionUpdate" not in kinds(await raw.turn())


async def test_a_context_update_gives_a_new_instruction_to_a_mind_that_remembers() -> None:
    async with LocalGemini(double := engine(), speed=50) as local, session(local) as raw:
        await raw.send({"realtimeInput": {"text": "one"}})
        await raw.turn()
        parts = {"parts": [{"text": "Be brief."}], "role": "user"}
        await raw.send({"contextUpdate": {"systemInstruction": parts}})
        await raw.send({"realtimeInput": {"text": "two"}})
        await raw.turn()
    old, new = double.head.minds
    assert new.instruction == "Be brief."
    assert new.seeds == [("user", "one"), ("model", "Indeed so. And why?")]
    assert (old.learner, new.learner) == (["one"], ["two"])
