"""Lessons by the agent, in every kind of voice: a reply is heard once more, and every turn tells
its times and is counted, as in a native lesson."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from local_gemini.faults import refuse
from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine
from server.tracing import exporting
from tests.lesson.modes import AGENT_VOICED, CAPTURE_TTS, FLOW_C, LINE, Agent
from tests.media.peers import until
from tests.rig import Call, House, house, said

REPLY = "word " * 24 + "end."
MODES: dict[str, dict[str, Any]] = {
    "agent-voiced": AGENT_VOICED,
    "capture-tts": CAPTURE_TTS,
    "flow-c": FLOW_C,
}
ALL = [*MODES, "half-duplex"]


@asynccontextmanager
async def _lesson(
    tmp_path: Path, mode: str, reply: str = REPLY
) -> AsyncIterator[tuple[House, Call]]:
    """A lesson by the agent; `half-duplex` is a native one whose service refuses."""
    script = Script().on("connect", refuse(403)) if mode == "half-duplex" else None
    engine = ScriptedEngine([LINE], generate=Agent(reply), threads=True)
    async with house(tmp_path, engine, script, config=MODES.get(mode, {})) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            yield home, call
        await home.empty()


async def _spoken(call: Call) -> tuple[str, float]:
    """One spoken turn to the end of its reply: its id, and the seconds of it that were heard."""
    await call.say(said(LINE))
    await until(lambda: call.messages("turn"), "decided", 20)
    await until(lambda: "bot-stopped-speaking" in call.kinds, "said", 20)
    await call.shows("listening")
    return str(call.messages("turn")[-1]["turnId"]), len(call.heard()) / 32_000


async def _replayed(call: Call, turn_id: str, **more: float) -> float:
    before, ended = len(call.heard()), call.kinds.count("bot-stopped-speaking")
    call.act("replay", turnId=turn_id, **more)
    await until(lambda: call.kinds.count("bot-stopped-speaking") > ended, "played", 20)
    await call.shows("listening")
    return (len(call.heard()) - before) / 32_000


@pytest.mark.speech
@pytest.mark.req("VOICE-66", "OWN-11", "CARD-13")
@pytest.mark.parametrize("mode", ALL)
async def test_a_spoken_turn_is_replayed_timed_and_counted(
    tmp_path: Path,
    mode: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caplog.set_level(logging.DEBUG, "server.agent_voice")
    exporter = InMemorySpanExporter()
    monkeypatch.setattr("server.app.tracing_of", lambda settings: exporting(exporter))
    async with _lesson(tmp_path, mode) as (home, call):
        turn_id, seconds = await _spoken(call)
        assert seconds > 1.2
        # Heard again, slower too; no turn, no word, nothing for the model.
        told = len(call.messages("turn")), len(call.messages("bot-output"))
        live = home.gemini.sessions[-1].prompts if home.gemini.sessions else []
        asked = list(live)
        assert await _replayed(call, turn_id) == pytest.approx(seconds, abs=0.3)
        assert await _replayed(call, turn_id, rate=0.8) == pytest.approx(seconds / 0.8, abs=0.3)
        assert (len(call.messages("turn")), len(call.messages("bot-output"))) == told
        assert live == asked
        replaying = [one for one in call.messages("status") if one.get("reason") == "replay"]
        assert [(one["state"], one["mayInterrupt"]) for one in replaying] == [
            ("speaking", False),
            ("speaking", False),
        ]
        call.act("replay", turnId="who-knows")
        await until(lambda: [n for n in call.messages("notice") if n["code"] == "replay-gone"], "")
        # Its times: to the page, the log, the figures.
        (metrics,) = call.messages("metrics")
        times = metrics["turn"]
        assert times["turnId"] == turn_id
        assert 0 < times["gateMs"] < 700
        assert 0 < times["liveMs"] <= times["learnerToTutorMs"] < 8000
        assert times["playoutMs"] < 200
        assert "bargeInMs" not in times
        _, answer = await home.admin.get("/api/admin/lessons")
        (row,) = answer["lessons"]
        assert (row["turns"], row["interruptions"]) == (1, 0)
        assert row["replyMs"] == pytest.approx(times["learnerToTutorMs"], abs=1)
        figures = home.ctx.metrics.render()
        assert "pidjin_turns_total 1\n" in figures
        for span in ("learner_to_tutor", "reply_to_rtp"):
            assert f'pidjin_span_seconds{{quantile="0.5",span="{span}"}}' in figures
    (line,) = [record for record in caplog.records if record.message == "turn_metrics"]
    assert line.turn == turn_id  # type: ignore[attr-defined]
    assert "pattern" not in str(vars(line))
    (turn,) = [span for span in exporter.get_finished_spans() if span.name == "turn"]
    assert (turn.attributes or {})["pidjin.turn"] == turn_id
    assert "pidjin_turns_total 1\n" in home.ctx.metrics.render()


@pytest.mark.req("VOICE-66", "VOICE-39")
@pytest.mark.parametrize("mode", ["agent-voiced", "half-duplex"])
async def test_typed_words_end_a_replay_and_an_interruption_is_counted(
    tmp_path: Path, mode: str
) -> None:
    async with _lesson(tmp_path, mode, "word " * 60 + "end.") as (home, call):
        await call.ask("Tell me.")
        await call.hears(0.5)
        call.act("replay", turnId="any")
        await until(lambda: [n for n in call.messages("notice") if n["code"] == "replay-busy"], "")
        # Over the reply: that is an interruption.
        await call.ask("And this?")
        await call.shows("listening", 20)
        first, second = (str(turn["turnId"]) for turn in call.messages("turn"))
        heard = len(call.heard())
        call.act("replay", turnId=second)
        await until(lambda: len(call.heard()) > heard + 16_000, "half a second of it")
        # Over the replay: that is none.
        await call.ask("And that?")
        await call.shows("listening", 20)
        assert len(call.messages("interrupted")) == 1
        assert call.messages("interrupted")[0]["turnId"] == first
        # What was cut short is played as far as it was heard.
        assert 0.3 < await _replayed(call, first) < 3.0
        _, answer = await home.admin.get("/api/admin/lessons")
        assert [(row["turns"], row["interruptions"]) for row in answer["lessons"]] == [(3, 1)]
        typed = call.messages("metrics")
        assert [one["turn"]["turnId"] for one in typed] == [
            turn["turnId"] for turn in call.messages("turn")
        ]
        assert all("gateMs" not in one["turn"] for one in typed)
        assert all(0 < one["turn"]["learnerToTutorMs"] < 8000 for one in typed)


@pytest.mark.speech
@pytest.mark.req("VOICE-31", "VOICE-66")
async def test_the_microphone_waits_for_the_end_of_a_replay(tmp_path: Path) -> None:
    """What the learner says over it would be the tutor's own voice as likely."""
    async with _lesson(tmp_path, "half-duplex") as (_, call):
        turn_id, seconds = await _spoken(call)
        before = len(call.heard())
        call.act("replay", turnId=turn_id)
        await until(lambda: len(call.heard()) > before + 8_000, "it is heard")
        await call.say(said(LINE, before=0.0, after=0.0)[:96_000])
        await call.shows("listening")
        assert (len(call.heard()) - before) / 32_000 == pytest.approx(seconds, abs=0.3)
        assert len(call.messages("turn")) == 1
        await call.say(said(LINE))
        await until(lambda: len(call.messages("turn")) == 2, "heard again", 20)


@pytest.mark.req("OWN-11")
async def test_a_reply_that_stays_in_writing_is_a_turn_without_a_sound(tmp_path: Path) -> None:
    async with _lesson(tmp_path, "agent-voiced") as (home, call):
        call.act("reply-speech", on=False)
        await call.ask("In writing?")
        call.act("reply-speech", on=True)
        await call.ask("Aloud?")
        await call.shows("listening")
        written, aloud = (one["turn"] for one in call.messages("metrics"))
        assert set(written) == {"turnId"}
        assert aloud["learnerToTutorMs"] > 0
        assert "pidjin_turns_total 2\n" in home.ctx.metrics.render()
