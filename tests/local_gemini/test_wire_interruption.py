"""Who speaks over whom on the Live wire: barge-in, pauses, bursts, understanding in between."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from local_gemini.scripted import tone
from local_gemini.server import LocalGemini
from tests.local_gemini.raw_client import (
    SETUP,
    SPEECH,
    content,
    kinds,
    session,
    words_of,
)
from tests.local_gemini.scripted_service import LONG, engine


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
