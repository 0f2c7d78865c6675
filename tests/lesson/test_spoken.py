"""Spoken turns through gate, service and playout: transcripts of every kind, microphone, muting."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from local_gemini.faults import interim, repeat_transcript, unfinished
from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine
from local_gemini.wire import text_of
from media.spans import MIC_TO_GATE, MIC_TO_LIVE, OFFER_TO_ANSWER, REPLY_TO_RTP
from tests.media.peers import until
from tests.rig import house, said

pytestmark = pytest.mark.speech

LINE = "Memory cells keep the pattern."
CONFIG = {"liveVadSilenceDurationMs": 400}


@pytest.mark.req("VOICE-14", "VOICE-25", "VOICE-26", "VOICE-51", "VOICE-52", "RTC-14", "RTC-16")
@pytest.mark.parametrize("manual", [False, True], ids=["service-ends", "gate-ends"])
async def test_transcripts_of_every_kind_are_one_bubble_and_one_turn(
    tmp_path: Path, manual: bool
) -> None:
    """T20: interim, repeated, unfinished; with the service's own detection and with ours."""
    voice = said(LINE)
    script = (
        Script()
        .on("turn", interim("Memory", "Memory cells"), n=1)
        .on("turn", repeat_transcript(3), n=1)
        .on("turn", unfinished(), n=2)
    )
    engine = ScriptedEngine([LINE], replies=[["Yes."], ["Right."]])
    config = {**CONFIG, "liveVadEnabled": not manual}
    async with house(tmp_path, engine, script, config=config) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            for number in (1, 2):
                await call.say(voice)
                await until(lambda n=number: len(call.messages("turn")) == n, f"turn {number}", 20)
                await call.shows("listening")
            first, second = call.messages("turn")
            assert (first["userText"], first["text"]) == (LINE, "Yes.")
            assert (second["userText"], second["text"]) == (LINE, "Right.")
            said_first = [
                one["text"]
                for one in call.messages("user-transcription")
                if one["turnId"] == first["turnId"]
            ]
            assert said_first[0] == "Memory"
            assert said_first[-1] == LINE
            assert call.states_since_ready == ["formulating", "speaking", "listening"] * 2
            started, stopped = "user-started-speaking", "user-stopped-speaking"
            assert call.kinds.count(started) == call.kinds.count(stopped) >= 2
            (live,) = home.gemini.sessions
            assert live.transcripts == [LINE, LINE]
            if manual:
                assert len(live.activities) % 2 == 0
                assert live.activities


@pytest.mark.req("VOICE-32", "RTC-10", "RTC-8")
async def test_the_microphone_switched_off_mid_speech_ends_the_turn(tmp_path: Path) -> None:
    """T5: nothing more comes from the page; the turn ends all the same, and packets are no news."""
    voice = said(LINE, before=0.0, after=0.0)
    engine = ScriptedEngine([LINE], replies=[["Yes."]])
    async with house(tmp_path, engine, config=CONFIG) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            talking = asyncio.create_task(call.say(voice * 2))
            await until(lambda: call.messages("user-started-speaking"), "speaking")
            await asyncio.sleep(0.5)
            call.act("mic", on=False)
            await until(lambda: call.messages("user-mute-started"), "muted")
            await until(lambda: call.messages("turn"), "answered", 20)
            await talking
            assert call.messages("turn")[0]["userText"] == LINE
            # Speech behind a switched-off microphone is nobody's turn.
            before = home.gemini.sessions[0].audio_bytes
            await call.say(voice)
            assert home.gemini.sessions[0].audio_bytes - before < 640 * 100
            assert len(call.messages("turn")) == 1
            call.act("mic", on=True)
            await call.say(said(LINE))
            await until(lambda: len(call.messages("turn")) == 2, "heard again", 20)


@pytest.mark.req("RTC-10", "VOICE-32")
async def test_frames_that_stop_mid_speech_end_the_turn(tmp_path: Path) -> None:
    """T5: a frozen tab sends nothing at all; silence comes from the clock."""
    voice = said(LINE, before=0.0, after=0.0)
    async with house(tmp_path, ScriptedEngine([LINE]), config=CONFIG) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await call.still()
            await call.say(voice)
            await until(lambda: call.messages("turn"), "answered", 20)
            assert call.messages("turn")[0]["userText"] == LINE


@pytest.mark.req("VOICE-66")
async def test_reply_speech_off_mutes_and_keeps_the_words(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedEngine(replies=[["word " * 20 + "end."]])) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.act("reply-speech", on=False)
            turn = await call.ask("Quietly, please.")
            assert turn["text"] == call.tutor == "word " * 20 + "end."
            assert call.heard() == b""
            call.act("reply-speech", on=True)
            assert (await call.ask("Aloud now."))["saved"] is True
            assert len(call.heard()) > 16_000


@pytest.mark.req("OBS-21", "OBS-22")
async def test_no_update_goes_in_while_the_learner_speaks(tmp_path: Path) -> None:
    """T13: ready in the middle of the learner's sentence, sent when both are quiet."""
    voice, go_on, at_work = said(LINE, before=0.0, after=0.0), Event(), Event()

    def observe(model: str, request: Mapping[str, Any]) -> str | None:
        contents = request.get("contents") or []
        if contents and "LEARNER UTTERANCE" in text_of(contents[0]):
            at_work.set()
            assert go_on.wait(30)
        return None

    engine = ScriptedEngine([LINE], replies=[["Yes."]], generate=observe, threads=True)
    async with house(tmp_path, engine, config=CONFIG) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.type("Typed first.")
            await until(at_work.is_set, "the observer is at work")
            await call.shows("listening")
            (live,) = home.gemini.sessions
            talking = asyncio.create_task(call.say(voice * 2))
            await until(lambda: call.messages("user-started-speaking"), "speaking")
            go_on.set()
            await until(lambda: call.messages("turn"), "stored while the learner speaks")
            speaking_still = not talking.done()
            assert (speaking_still, live.contexts) == (True, [])
            await talking
            await until(lambda: len(call.messages("turn")) == 2, "answered", 20)
            await until(lambda: live.contexts, "sent at last")


@pytest.mark.req("CARD-13", "RTC-5", "RTC-6", "RTC-17")
async def test_latency_is_measured_on_every_span(tmp_path: Path) -> None:
    voice = said(LINE)
    engine = ScriptedEngine([LINE])
    # Longer than the gate's own hang-over: a reply that comes sooner is held back on purpose.
    config = {"liveVadSilenceDurationMs": 900}
    async with house(tmp_path, engine, config=config) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await call.say(voice)
            await until(lambda: call.messages("turn"), "answered", 20)
        spans = home.lessons.spans
        assert spans.count(OFFER_TO_ANSWER) == 1
        assert spans.count(REPLY_TO_RTP) == 1
        seconds = len(voice) / 96_000
        assert spans.count(MIC_TO_GATE) > seconds * 45
        # Only what left the gate: speech, its trailing silence, one mark for the pre-roll.
        assert 0 < spans.count(MIC_TO_LIVE) <= spans.count(MIC_TO_GATE)
        for name in (OFFER_TO_ANSWER, REPLY_TO_RTP, MIC_TO_GATE, MIC_TO_LIVE):
            median = spans.quantile(name, 0.5)
            assert median is not None
            assert 0 <= median < 0.5, name
        # A block waits for its pair at most: one message is two blocks.
        live = spans.quantile(MIC_TO_LIVE, 0.5)
        assert live is not None
        assert live > 0
        async with home.http.get(home.url + "/metrics") as got:
            text = await got.text()
        assert 'pidjin_span_seconds{quantile="0.95",span="mic_to_live"}' in text
        assert "pidjin_lessons " in text
