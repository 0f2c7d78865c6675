"""What a Live session refuses, and with which code it closes."""

from __future__ import annotations

from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from local_gemini.server import LocalGemini
from tests.local_gemini.raw_client import (
    MANUAL,
    SETUP,
    session,
    socket,
    words_of,
)
from tests.local_gemini.scripted_service import engine


@pytest.mark.parametrize(
    "message",
    [
        {"realtimeInput": {"text": "hi"}},
        {"setup": {"model": "models/gemini-3.8-live", "brandNew": {}}},
        "not json",
        "[]",
    ],
)
async def test_a_wrong_first_message_closes_with_1007(message: Any) -> None:
    async with LocalGemini(engine()) as local, socket(local) as raw:
        await raw.send(message)
        assert await raw.closed() == 1007


@pytest.mark.parametrize(
    "message",
    [
        {"setup": SETUP},
        {"brandNew": {}},
        {"realtimeInput": {"brandNew": {}}},
        {"realtimeInput": {"audio": {"data": "!", "mimeType": "audio/pcm"}}},
        {"realtimeInput": {"audio": {"data": "AAA=", "mimeType": "audio/ogg"}}},
        {"realtimeInput": {"mediaChunks": [{"data": "AAA=", "mimeType": "audio/pcm"}]}},
        {"realtimeInput": {"activityStart": {}}},
        {"clientContent": {"turns": [{"parts": [{"text": "no role"}]}]}},
        {"clientContent": {"turns": [{"role": "system", "parts": [{"text": "x"}]}]}},
        {"toolResponse": {"functionResponses": [{"name": "f", "response": {}}]}},
        {"realtimeInput": {"text": "a"}, "clientContent": {}},
    ],
)
async def test_what_the_service_refuses_closes_with_1007(message: Any) -> None:
    async with LocalGemini(engine()) as local, session(local) as raw:
        await raw.send(message)
        assert await raw.closed() == 1007
        assert raw.close_reason


async def test_bracketed_sessions_refuse_audio_before_activity_start() -> None:
    async with LocalGemini(engine()) as local, session(local, MANUAL) as raw:
        await raw.speak(bytes(1280))
        assert await raw.closed() == 1007


async def test_the_legacy_model_takes_history_only_at_the_beginning() -> None:
    setup = {**SETUP, "model": "models/gemini-3.1-flash-live-preview"}
    async with LocalGemini(engine(), speed=50) as local, session(local, setup) as raw:
        turns = [{"role": "user", "parts": [{"text": "past"}]}]
        await raw.send({"clientContent": {"turns": turns, "turnComplete": False}})
        await raw.send({"realtimeInput": {"text": "now"}})
        await raw.turn()
        await raw.send({"clientContent": {"turns": turns, "turnComplete": False}})
        assert await raw.closed() == 1007


async def test_callers_without_a_key_or_with_the_wrong_kind_are_strangers() -> None:
    async with LocalGemini(engine()) as local:
        for key, constrained in (("", False), ("auth_tokens/x", False), ("key", True)):
            async with socket(local, key=key, constrained=constrained) as raw:
                assert await raw.closed() == 1008


async def test_an_engine_that_fails_ends_its_own_session_with_1011(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(learner: str) -> list[str]:
        if learner == "bad":
            raise RuntimeError("no idea")
        return ["Fine."]

    async with (
        LocalGemini(engine(replies=broken), speed=50) as local,
        session(local) as good,
        session(local) as bad,
    ):
        await bad.send({"realtimeInput": {"text": "bad"}})
        assert await bad.closed() == 1011
        await good.send({"realtimeInput": {"text": "good"}})
        assert words_of(await good.turn()) == "Fine."
    assert "live session failed" in caplog.text


async def test_more_sessions_than_the_bound_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("local_gemini.live.MAX_LIVE", 1)
    async with LocalGemini(engine()) as local:
        async with session(local):
            with pytest.raises(InvalidStatus) as refused:
                async with socket(local):
                    pass
            assert refused.value.response.status_code == 429
        await local.until(lambda: not local.sessions[0].open)
        async with session(local):
            pass


async def test_the_server_says_goodbye_when_it_stops() -> None:
    async with LocalGemini(engine()) as local, session(local) as raw:
        await local.close()
        assert await raw.closed() == 1001
