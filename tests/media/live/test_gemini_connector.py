"""How a Gemini session is opened, and every way in which it is refused."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from http import HTTPStatus

import pytest
from websockets.asyncio.client import ClientConnection

from media.live import gemini
from media.live.port import (
    LiveRefused,
    Seed,
)
from tests.media.live.live_service import SEEDS, SETUP, Wire, served


@pytest.mark.parametrize(
    ("status", "code"), [(HTTPStatus.TOO_MANY_REQUESTS, 429), (HTTPStatus.FORBIDDEN, 403)]
)
async def test_a_refused_upgrade_tells_status_and_text(status: HTTPStatus, code: int) -> None:
    async with served(status=status) as service:
        with pytest.raises(LiveRefused) as refused:
            await service.connector().connect(SETUP)
        assert refused.value.code == code
        assert "Quota exceeded" in refused.value.reason


@pytest.mark.parametrize("seeds", [(), SEEDS])
async def test_a_close_during_setup_tells_code_and_reason(seeds: tuple[Seed, ...]) -> None:
    async def close(wire: Wire) -> None:
        await wire.socket.close(1007, "Request contains an invalid argument.")

    async with served(close) as service:
        with pytest.raises(LiveRefused) as refused:
            await service.connector().connect(replace(SETUP, seeds=seeds))
        assert refused.value.code == 1007
        assert refused.value.reason == "Request contains an invalid argument."


async def test_other_first_messages_refuse_the_session() -> None:
    for frame in ('{"serverContent":{}}', "not json", '{"brandNew":{}}'):

        async def odd(wire: Wire, frame: str = frame) -> None:
            await wire.socket.send(frame)
            await wire.socket.wait_closed()

        async with served(odd) as service:
            with pytest.raises(LiveRefused) as refused:
                await service.connector().connect(SETUP)
            assert refused.value.code == 0
            async with asyncio.timeout(5):
                await service.wires[0].socket.wait_closed()


@pytest.mark.req("VOICE-62")
async def test_a_setup_without_an_answer_ends_at_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert gemini.CONNECT_S == 10.0
    monkeypatch.setattr(gemini, "CONNECT_S", 0.3)

    async def silent(wire: Wire) -> None:
        await wire.socket.wait_closed()

    async with served(silent) as service:
        with pytest.raises(LiveRefused) as refused:
            await service.connector().connect(SETUP)
        assert refused.value.code == 504


async def test_nobody_there_is_a_network_error() -> None:
    async with served() as service:
        pass
    with pytest.raises(LiveRefused) as refused:
        await service.connector().connect(SETUP)
    assert refused.value.code == 0


async def test_an_invalid_setup_never_reaches_the_service() -> None:
    async with served() as service:
        with pytest.raises(LiveRefused) as refused:
            await service.connector().connect(replace(SETUP, start_sensitivity="HIGH"))
        assert refused.value.code == 1007
        assert service.paths == []


@pytest.mark.req("AUTH-15")
async def test_the_key_is_read_at_every_use_and_the_client_is_kept() -> None:
    keys = ["first", "first", "second", ""]
    async with served() as service:
        connector = service.connector(lambda: keys.pop(0))
        clients = set()
        for _ in range(3):
            session = await connector.connect(SETUP)
            clients.add(id(connector._client))
            await session.close()
        assert service.keys == ["first", "first", "second"]
        assert len(clients) == 2
        with pytest.raises(LiveRefused) as refused:
            await connector.connect(SETUP)
        assert refused.value.code == 401


async def test_the_environment_cannot_send_loopback_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "https://127.0.0.1:9")
    monkeypatch.setenv("GOOGLE_API_KEY", "other")
    async with served() as service:
        session = await service.connector().connect(SETUP)
        await session.close()
        assert service.keys == ["key"]


async def test_our_limits_reach_the_socket() -> None:
    async with served() as service:
        connector = service.connector()
        connector.warm()
        session = await connector.connect(SETUP)
        socket = session._ws  # type: ignore[attr-defined]
        assert isinstance(socket, ClientConnection)
        assert (socket.ping_interval, socket.ping_timeout) == (20, 60)
        assert socket.close_timeout == 1.0
        assert socket.protocol.max_size == 8 * 2**20
        assert socket.max_queue[0] == 64
        await session.close()
        assert socket.transport.is_closing()
