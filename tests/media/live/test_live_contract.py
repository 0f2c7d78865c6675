"""What every Live connector does, real or double: the suite that keeps the double honest."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from local_gemini.faults import refuse
from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine
from local_gemini.server import LocalGemini
from media.live.gemini import GeminiConnector
from media.live.port import Handle, LiveClosed, LiveConnector, LiveRefused, LiveSession, LiveSetup
from tests.media.live.fake_live import FakeConnector

SETUP = LiveSetup(model="gemini-3.8-live", instruction="i")
Opened = Callable[[bool], AbstractAsyncContextManager[LiveConnector]]


@asynccontextmanager
async def double(refusing: bool) -> AsyncIterator[LiveConnector]:
    connector = FakeConnector([LiveRefused(429, "quota")] if refusing else [])
    yield connector


@asynccontextmanager
async def real(refusing: bool) -> AsyncIterator[LiveConnector]:
    script = Script().on("connect", refuse(429)) if refusing else None
    async with LocalGemini(ScriptedEngine(), script) as service:
        yield GeminiConnector(
            api_key=lambda: "key", base_url=service.base_url, ssl_context=service.ssl_context
        )


both = pytest.mark.parametrize("opened", [double, real])


async def until_closed(session: LiveSession) -> LiveClosed:
    while True:
        try:
            await session.receive()
        except LiveClosed as closed:
            return closed


@both
async def test_a_session_takes_every_message_and_closes_twice(opened: Opened) -> None:
    async with opened(False) as connector:
        session = await connector.connect(SETUP)
        await session.send_audio(bytes(1280))
        await session.send_context("silent")
        await session.send_context("")
        await session.send_tool_response("nobody", "asked", {})
        await session.send_silence_end()
        await session.close()
        await session.close()


@both
async def test_a_closed_session_says_so_to_its_reader_and_its_writer(opened: Opened) -> None:
    async with opened(False) as connector:
        session = await connector.connect(SETUP)
        await session.close()
        closed = await until_closed(session)
        assert (closed.code, closed.by) == (1000, "local")
        with pytest.raises(LiveClosed):
            await session.send_audio(bytes(1280))


@both
async def test_sessions_of_one_connector_are_independent(opened: Opened) -> None:
    async with opened(False) as connector:
        first = await connector.connect(SETUP)
        second = await connector.connect(SETUP)
        await first.close()
        await second.send_audio(bytes(1280))
        await second.close()


@both
async def test_a_refusal_tells_its_code(opened: Opened) -> None:
    async with opened(True) as connector:
        with pytest.raises(LiveRefused) as refused:
            await connector.connect(SETUP)
        assert refused.value.code == 429


@pytest.mark.req("VOICE-12")
async def test_a_real_session_is_resumed_by_its_handle() -> None:
    async with real(False) as connector:
        session = await connector.connect(SETUP)
        (handle,) = await session.receive()
        assert isinstance(handle, Handle)
        assert handle.resumable
        await session.close()
        resumed = await connector.connect(
            LiveSetup(model="gemini-3.8-live", instruction="i", handle=handle.value)
        )
        await resumed.close()
        with pytest.raises(LiveRefused):
            await connector.connect(
                LiveSetup(model="gemini-3.8-live", instruction="i", handle="never issued")
            )
