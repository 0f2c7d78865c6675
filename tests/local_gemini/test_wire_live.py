"""The Live wire as the real service speaks it: order and pace of the messages of a turn."""

from __future__ import annotations

import base64
import gc
import time
import weakref

import numpy
import pytest

from local_gemini.scripted import EnergyEndPointer, tone
from local_gemini.server import LocalGemini
from tests.local_gemini.raw_client import (
    MANUAL,
    SETUP,
    SPEECH,
    audio_of,
    content,
    kinds,
    session,
    words_of,
)
from tests.local_gemini.scripted_service import LONG, engine
from tests.media.peers import until


async def test_a_spoken_turn_has_the_order_of_the_real_service() -> None:
    async with LocalGemini(engine(), speed=50) as local, session(local) as raw:
        await raw.speak()
        messages = await raw.turn()
        assert kinds(messages) == [
            "sessionResumptionUpdate",
            "voiceActivity",
            "inputTranscription",
            "sessionResumptionUpdate",
            "outputTranscription",
            "modelTurn",
            "outputTranscription",
            "modelTurn",
            "generationComplete",
            "turnComplete",
        ]
        assert words_of(messages, "inputTranscription") == "plants eat light"
        assert words_of(messages) == "Indeed so. And why?"
        assert audio_of(messages) == tone(120) + tone(120)
        usage = messages[-1]["usageMetadata"]
        assert usage["responseTokenCount"] == 6
        assert usage["totalTokenCount"] == usage["promptTokenCount"] + 6
        handle = (await raw.next())["sessionResumptionUpdate"]
        assert handle["resumable"] is True
        record = local.sessions[0]
        assert record.audio_bytes == len(SPEECH)
        assert record.replies[0].complete
        assert record.replies[0].heard == "Indeed so. And why?"
    assert local.sessions[0].close_code == 1000
    assert local.sessions[0].closed_by == "client"


async def test_audio_comes_in_pieces_of_40_ms_and_faster_than_it_is_heard() -> None:
    async with LocalGemini(engine(replies=[[LONG]])) as local, session(local) as raw:
        began = time.monotonic()
        await raw.send({"realtimeInput": {"text": "hello"}})
        messages = await raw.until(lambda message: content(message).get("generationComplete"))
        assert time.monotonic() - began < 3.0
        sizes = {len(audio_of([message])) for message in messages} - {0}
        assert sizes == {1920}
        assert len(audio_of(messages)) == 6000 * 48


async def test_turn_complete_waits_until_the_reply_would_have_been_heard() -> None:
    async with LocalGemini(engine(replies=[[LONG]]), speed=20) as local, session(local) as raw:
        began = time.monotonic()
        await raw.send({"realtimeInput": {"text": "hello"}})
        await raw.turn()
        assert time.monotonic() - began >= 0.3


async def test_base64_audio_in_the_url_safe_alphabet_arrives_whole() -> None:
    heard: list[bytes] = []
    wave = numpy.full(16_000, -1, dtype="<i2")  # 0xFFFF: "/" and "_" in base64
    wave[::7] = 20_000
    double = engine(transcripts=lambda pcm: heard.append(pcm) or "words")
    async with LocalGemini(double, speed=50) as local, session(local, MANUAL) as raw:
        await raw.send({"realtime_input": {"activity_start": {}}})
        await raw.speak(wave.tobytes())
        await raw.send({"realtimeInput": {"activityEnd": {}}})
        await raw.turn()
    assert heard == [wave.tobytes()]


async def test_other_input_rates_are_resampled() -> None:
    heard: list[bytes] = []
    double = engine(transcripts=lambda pcm: heard.append(pcm) or "words")
    async with LocalGemini(double, speed=50) as local, session(local, MANUAL) as raw:
        await raw.send({"realtimeInput": {"activityStart": {}}})
        blob = {"data": base64.b64encode(tone(1000)).decode(), "mimeType": "audio/pcm;rate=24000"}
        await raw.send({"realtimeInput": {"audio": blob}})
        await raw.send({"realtimeInput": {"activityEnd": {}}})
        await raw.turn()
    assert len(heard[0]) == pytest.approx(32_000, rel=0.05)


@pytest.mark.parametrize("chunk_ms", [20, 100, 1800])
async def test_end_pointing_does_not_depend_on_how_audio_is_cut(chunk_ms: int) -> None:
    async with LocalGemini(engine(), speed=50) as local, session(local) as raw:
        await raw.speak(chunk_ms=chunk_ms)
        messages = await raw.turn()
        offsets = [m["voiceActivity"]["audioOffset"] for m in messages if "voiceActivity" in m]
        assert offsets == ["0.300s", "1.600s"]


async def test_noise_closes_its_turn_in_silence() -> None:
    double = engine(transcripts=["", "now with words"])
    async with LocalGemini(double, speed=50) as local, session(local) as raw:
        await raw.speak()
        await local.until(lambda: local.sessions[0].noise == 1)
        await raw.speak()
        messages = await raw.turn()
        assert words_of(messages, "inputTranscription") == "now with words"
        assert sum("turnComplete" in content(message) for message in messages) == 1


async def test_bracketed_activity_decides_alone() -> None:
    async with LocalGemini(engine(), speed=50) as local, session(local, MANUAL) as raw:
        await raw.send({"realtimeInput": {"activityStart": {}}})
        await raw.speak(bytes(32_000))
        await raw.send({"realtimeInput": {"activityEnd": {}}})
        messages = await raw.turn()
        assert words_of(messages) == "Indeed so. And why?"
        assert local.sessions[0].activities == ["ACTIVITY_START", "ACTIVITY_END"]


@pytest.mark.req("PROMPT-26")
async def test_silent_context_is_never_answered_and_reaches_the_mind_as_a_note() -> None:
    update = "[TUTOR STATE UPDATE]\nMove: ask\nNote: slow down"
    async with LocalGemini(double := engine(), speed=50) as local, session(local) as raw:
        turns = [{"role": "user", "parts": [{"text": update}]}]
        await raw.send({"client_content": {"turns": turns, "turnComplete": False}})
        await local.until(lambda: local.sessions[0].contexts)
        await raw.send({"realtimeInput": {"text": "hello"}})
        messages = await raw.turn()
        assert sum("turnComplete" in content(message) for message in messages) == 1
    assert local.sessions[0].contexts == [update]
    assert double.head.minds[0].notes == [update]
    assert double.head.minds[0].learner == ["hello"]


async def test_seeds_come_before_the_prompt_that_completes_them() -> None:
    async with LocalGemini(double := engine(), speed=50) as local, session(local) as raw:
        turns = [
            {"role": "user", "parts": [{"text": "hi"}]},
            {"role": "model", "parts": [{"text": "welcome"}]},
            {"role": "user", "parts": [{"text": "go on"}]},
        ]
        await raw.send({"clientContent": {"turns": turns, "turnComplete": True}})
        await raw.turn()
    mind = double.head.minds[0]
    assert mind.seeds == [("user", "hi"), ("model", "welcome")]
    assert mind.learner == ["go on"]
    assert local.sessions[0].prompts == ["go on"]


async def test_declared_initial_history_is_not_answered() -> None:
    setup = {**SETUP, "historyConfig": {"initialHistoryInClientContent": True}}
    async with LocalGemini(double := engine(), speed=50) as local, session(local, setup) as raw:
        turns = [{"role": "user", "parts": [{"text": "hi"}]}]
        await raw.send({"clientContent": {"turns": turns, "turnComplete": True}})
        await raw.send({"realtimeInput": {"text": "now"}})
        await raw.turn()
    assert double.head.minds[0].seeds == [("user", "hi")]
    assert double.head.minds[0].learner == ["now"]


async def test_audio_stream_end_flushes_only_models_that_honour_it() -> None:
    speech = bytes(32 * 300) + tone(800, rate=16_000)
    async with LocalGemini(engine(), speed=50) as local:
        async with session(local, {**SETUP, "model": "models/some-live"}) as raw:
            await raw.speak(speech)
            await raw.send({"realtimeInput": {"audioStreamEnd": True}})
            assert words_of(await raw.turn()) == "Indeed so. And why?"
        async with session(local) as raw:
            await raw.speak(speech)
            await raw.send({"realtimeInput": {"audioStreamEnd": True}})
            await local.until(lambda: local.sessions[1].stream_ends == 1)
            assert local.sessions[1].activities == ["ACTIVITY_START"]


async def test_the_end_pointer_of_a_session_ends_with_it_and_waits_for_no_collector() -> None:
    made: list[weakref.ref[EnergyEndPointer]] = []
    own = engine()

    def pointer(silence_ms: int, prefix_ms: int) -> EnergyEndPointer:
        one = EnergyEndPointer(silence_ms, prefix_ms)
        made.append(weakref.ref(one))
        return one

    own.end_pointer = pointer
    gc.disable()
    try:
        async with LocalGemini(own, speed=50) as local:
            async with session(local) as raw:
                await raw.speak()
                await raw.turn()
                assert made[0]() is not None
            await local.until(lambda: not local.sessions[0].open)
            await until(lambda: made[0]() is None, "no end pointer", 5)
    finally:
        gc.enable()
