"""The Live wire as the real service speaks it: order of messages, turns, barge-in, resumption."""

from __future__ import annotations

import asyncio
import base64
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy
import pytest
from websockets.exceptions import InvalidStatus

from local_gemini.scripted import ScriptedEngine, tone
from local_gemini.server import LocalGemini
from tests.local_gemini.raw_client import (
    MANUAL,
    SETUP,
    SPEECH,
    audio_of,
    content,
    kinds,
    resumed,
    session,
    socket,
    words_of,
)

# A reply long enough to be interrupted: 100 words are 6 s of tone.
LONG = " ".join(["word"] * 100)


def engine(**options: Any) -> ScriptedEngine:
    return ScriptedEngine(
        **{"transcripts": ["plants eat light"], "replies": [["Indeed so.", "And why?"]], **options}
    )


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


async def test_barge_in_interrupts_then_completes_and_the_mind_learns_what_was_heard() -> None:
    double = engine(replies=[[LONG], ["Sorry."]])
    async with LocalGemini(double) as local, session(local) as raw:
        await raw.send({"realtimeInput": {"text": "hello"}})
        await raw.until(lambda message: content(message).get("generationComplete"))
        await asyncio.sleep(0.3)  # real time: what is heard is what a clock says
        await raw.speak()
        messages = await raw.turn()
        names = kinds(messages)
        assert names.index("interrupted") < names.index("turnComplete")
        assert "modelTurn" not in names
        later = await raw.turn()
        assert words_of(later) == "Sorry."
        cut, interrupted = double.head.minds[0].heard_texts[0]
        assert interrupted
        assert 0 < len(cut.split()) < 100
        reply = local.sessions[0].replies[0]
        assert reply.interrupted
        assert 0 < reply.played_ms < reply.sent_ms == 6000


async def test_an_interrupted_sentence_is_never_synthesised() -> None:
    gate, speaking = threading.Event(), threading.Event()
    spoken: list[str] = []

    def speech(text: str) -> bytes:
        spoken.append(text)
        speaking.set()
        gate.wait(5)
        return tone(100)

    double = engine(replies=[["First.", "Second."], ["Third."]], speech=speech, threads=True)
    async with LocalGemini(double, speed=50) as local, session(local) as raw:
        await raw.send({"realtimeInput": {"text": "one"}})
        await local.until(lambda: local.sessions[0].replies)
        await asyncio.to_thread(speaking.wait, 5)
        await raw.send({"realtimeInput": {"text": "two"}})
        await raw.until(lambda message: content(message).get("interrupted"))
        gate.set()
        await raw.turn()
        messages = await raw.turn()
        assert words_of(messages) == "Third."
    assert spoken == ["First.", "Third."]


async def test_without_interruption_the_utterance_waits_for_its_turn() -> None:
    setup = {
        **SETUP,
        "realtimeInputConfig": {
            **SETUP["realtimeInputConfig"],
            "activityHandling": "NO_INTERRUPTION",
        },
    }
    double = engine(replies=[[LONG], ["Now you."]])
    async with LocalGemini(double, speed=10) as local, session(local, setup) as raw:
        await raw.send({"realtimeInput": {"text": "hello"}})
        await raw.until(lambda message: "modelTurn" in content(message))
        await raw.speak()
        first, second = await raw.turn(), await raw.turn()
        assert "interrupted" not in kinds(first)
        assert words_of(second) == "Now you."


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


async def test_recognition_starts_within_a_long_hold_and_its_result_is_used() -> None:
    double = engine(ahead=True)
    async with LocalGemini(double, speed=50) as local, session(local) as raw:
        await raw.speak(SPEECH[: 32 * 1400])
        messages = await raw.until(lambda m: "interimInputTranscription" in content(m))
        assert words_of(messages, "interimInputTranscription") == "plants eat light"
        await raw.speak(SPEECH[32 * 1400 :])
        messages = await raw.turn()
        assert words_of(messages, "inputTranscription") == "plants eat light"
    assert len(double.ears.heard_ms) == 1
    assert double.ears.heard_ms[0] < 1600


async def test_a_pause_that_was_no_end_is_recognised_again() -> None:
    double = engine(
        ahead=True, transcripts=lambda pcm: "all of it" if len(pcm) > 32 * 1500 else "half"
    )
    pcm = tone(600, rate=16_000) + bytes(32 * 300) + tone(600, rate=16_000) + bytes(32 * 700)
    async with LocalGemini(double, speed=50) as local, session(local) as raw:
        await raw.speak(bytes(3200) + pcm)
        messages = await raw.turn()
        assert words_of(messages, "inputTranscription") == "all of it"


async def test_who_goes_on_before_being_understood_is_understood_as_a_whole() -> None:
    busy, release = threading.Event(), threading.Event()
    heard: list[int] = []

    def recognise(pcm: bytes) -> str:
        heard.append(len(pcm))
        if len(heard) == 1:
            busy.set()
            release.wait(5)
        return f"{len(pcm) // 32} ms"

    double = engine(transcripts=recognise, threads=True)
    async with LocalGemini(double, speed=50) as local, session(local) as raw:
        await raw.speak()
        await asyncio.to_thread(busy.wait, 5)
        await raw.speak()
        await local.until(lambda: len(local.sessions[0].activities) == 4)
        release.set()
        messages = await raw.turn()
        assert "interrupted" not in kinds(messages)
    assert len(heard) == 2
    assert heard[1] > 1.8 * heard[0]
    assert local.sessions[0].transcripts == [f"{heard[1] // 32} ms"]


@pytest.mark.parametrize("threads", [False, True])
async def test_a_burst_of_prompts_gets_one_end_each_and_one_answer(threads: bool) -> None:
    double = engine(replies=lambda learner: [f"To {learner}."], threads=threads)
    async with LocalGemini(double, speed=50) as local, session(local) as raw:
        for number in range(30):
            await raw.send({"realtimeInput": {"text": str(number)}})
        ends: list[Any] = []
        for _ in range(30):
            ends += await raw.turn()
        assert words_of(ends).endswith("To 29.")
        assert sum(bool(content(message).get("interrupted")) for message in ends) == 29
        await local.until(lambda: local.sessions[0].replies[-1].complete)
        assert [reply.complete for reply in local.sessions[0].replies].count(True) == 1


# --- resumption -------------------------------------------------------------------------------


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


# --- refusals ---------------------------------------------------------------------------------


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
