"""A Live session that went to sleep in a long silence is woken by the first word, and hears all of
what was said: from before its onset, over the whole time of the waking, to its end."""

from pathlib import Path

import numpy as np
import pytest

from local_gemini.faults import pause
from local_gemini.script import Script
from local_gemini.scripted import EnergyEndPointer, ScriptedEngine
from server import lesson
from tests.lesson.modes import AGENT_VOICED, Agent
from tests.media.peers import until
from tests.rig import Call, House, house, said

pytestmark = pytest.mark.speech

WORDS = "Memory cells keep the pattern of the germ for years and years."
FRAME = 160  # 10 ms at 16 kHz


class Ears:
    """What each Live session was fed, in order."""

    def __init__(self, engine: ScriptedEngine) -> None:
        self.fed: list[bytearray] = []
        engine.end_pointer = self._make

    def _make(self, silence_ms: int, prefix_ms: int) -> EnergyEndPointer:
        mine = bytearray()
        self.fed.append(mine)

        class Keeping(EnergyEndPointer):
            def feed(self, pcm16k: bytes):  # type: ignore[no-untyped-def]
                mine.extend(pcm16k)
                return super().feed(pcm16k)

        return Keeping(silence_ms, prefix_ms)


def microphone(home: House) -> bytearray:
    """Everything that reaches the gate from now on, 20 ms blocks end to end."""
    (running,) = home.lessons.running()
    talk, came = running._floor.talk, bytearray()
    hear = talk.hear

    def tap(pcm: bytes, at: float) -> None:
        came.extend(pcm)
        hear(pcm, at)

    talk.hear = tap  # type: ignore[method-assign]
    return came


def loud(pcm: bytes) -> np.ndarray:
    """Numbers of the 10 ms frames that hold a voice."""
    samples = np.frombuffer(pcm, "<i2").astype(np.float64)
    frames = samples[: len(samples) // FRAME * FRAME].reshape(-1, FRAME)
    level = np.sqrt((frames**2).mean(axis=1))
    return np.flatnonzero(level > level.max() / 30)


def before_onset_ms(came: bytes, heard: bytes) -> int:
    """How much of what came before the voice was heard as well. To the sample: from there to the
    end of the voice nothing is missing, nothing is doubled."""
    first, last = (int(frame) * FRAME * 2 for frame in loud(came)[[0, -1]])
    before = heard.find(came[first : last + FRAME * 2])
    assert before >= 0, "not the whole voice was heard"
    assert heard[:before] == came[first - before : first]
    return before // 32


@pytest.mark.req("VOICE-33", "RTC-8", "RTC-17")
@pytest.mark.parametrize("mode", ["native", "agent-voiced"])
async def test_the_first_words_after_a_long_silence_are_all_heard(
    tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lesson, "SLEEP_AFTER_S", 1.0)
    monkeypatch.setattr(lesson, "IDLE_CHECK_S", 0.1)
    # The service takes its time to go on with the session: the learner speaks meanwhile.
    script = Script().on("resume", pause(1500))
    engine = ScriptedEngine([WORDS], replies=[["Yes."]], generate=Agent("Yes."), threads=True)
    ears = Ears(engine)
    config = AGENT_VOICED if mode == "agent-voiced" else {"liveVadSilenceDurationMs": 500}
    async with house(tmp_path, engine, script, config=config) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            (running,) = home.lessons.running()
            await until(lambda: running.vitals.figures.asleep, "asleep")
            await until(lambda: not home.gemini.sessions[0].open, "no socket")
            assert call.state == "listening"
            came = microphone(home)
            await call.say(said(WORDS, before=1.2))
            await until(lambda: call.messages("turn"), "answered", 20)
            assert call.messages("turn")[0]["userText"] == WORDS
            first, second = home.gemini.sessions
            assert (first.audio_bytes, second.resumed) == (0, True)
            assert "reconnecting" not in call.states
            assert 280 <= before_onset_ms(bytes(came), bytes(ears.fed[1])) <= 1000
            assert running.vitals.figures.dropped_s == 0
        await home.empty()


async def answered(call: Call, times: int) -> None:
    await until(lambda: len(call.messages("turn")) == times, "answered", 20)


@pytest.mark.req("VOICE-33")
async def test_a_lesson_that_sleeps_is_woken_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lesson, "SLEEP_AFTER_S", 0.6)
    monkeypatch.setattr(lesson, "IDLE_CHECK_S", 0.1)
    engine = ScriptedEngine([WORDS], replies=[["Yes."]])
    ears = Ears(engine)
    config = {"liveVadSilenceDurationMs": 400}
    async with house(tmp_path, engine, config=config) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            came = microphone(home)
            for times in (1, 2, 3):
                await until(lambda: not home.gemini.sessions[-1].open, "asleep")
                came.clear()
                await call.say(said(WORDS, before=1.2))
                await answered(call, times)
                assert 280 <= before_onset_ms(bytes(came), bytes(ears.fed[-1])) <= 1000
            (row,) = (await home.admin.get("/api/admin/lessons"))[1]["lessons"]
            assert row["turns"] == 3
            assert [one.resumed for one in home.gemini.sessions[:4]] == [False, True, True, True]
