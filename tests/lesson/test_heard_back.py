"""A lesson without headphones: the tutor hears itself, and does not take it for the learner."""

from pathlib import Path

import numpy as np
import pytest

from local_gemini.scripted import ScriptedEngine
from tests.loudspeaker import loudspeaker
from tests.media.hearing import need
from tests.media.hearing.clips import ACTIVE, Sound, joe, recordings
from tests.media.hearing.desk import REPLY, tutor
from tests.media.hearing.way_back import ACTIVE_DB
from tests.media.peers import until
from tests.rig import house

pytestmark = pytest.mark.speech

TEXT = " ".join(REPLY)
CONFIG = {"liveVadSilenceDurationMs": 500}
GAIN_DB = -12.0
STALL_S = 0.08


def _engine() -> ScriptedEngine:
    """Its voice is a real one, made before the lesson: the loop must not stand still for it."""
    speech = np.clip(np.rint(tutor() * 32768), -32768, 32767).astype("<i2").tobytes()
    return ScriptedEngine(["And at night?"], replies=[[TEXT]], speech=lambda text: speech)


def _learner(level_db: float) -> Sound:
    """A person, so loud at the microphone."""
    clip = (recordings() or joe())[0]
    gain = 10 ** (level_db / 20) / ACTIVE
    return np.asarray(clip.sound[clip.onset : clip.end] * np.float32(gain), np.float32)


@pytest.mark.req("RTC-11")
async def test_t18_over_a_real_line_the_tutor_does_not_interrupt_itself(tmp_path: Path) -> None:
    """T18: 12 dB below what was played, from the first second of the lesson on; a learner who is no
    louder than that gets through. (All delays: tests/server/test_conversation_heard_back.py.)"""
    need.local_voice()
    async with house(tmp_path, _engine(), config=CONFIG) as home:
        ada = await home.person()
        async with (
            ada.call(await ada.ground()) as call,
            loudspeaker(call, delay_ms=130, gain_db=GAIN_DB) as room,
        ):
            call.type("Please explain.")
            await until(lambda: call.messages("turn"), "heard to its end", 40)
            (whole,) = call.messages("turn")
            if whole["interrupted"] and room.late_s > STALL_S:
                # It moves the sound under everybody's feet: there is nothing to learn from that.
                pytest.skip(f"this machine stood still for {room.late_s:.2f} s")
            assert (whole["text"], whole["interrupted"]) == (TEXT, False)
            assert [one["code"] for one in call.messages("notice")] == ["echo"]
            call.type("Once more, please.")
            before = len(call.heard())
            await until(lambda: len(call.heard()) - before > 3 * 32_000, "3 s of it", 20)
            await room.say(_learner(ACTIVE_DB + GAIN_DB))
            await until(lambda: len(call.messages("turn")) >= 2, "cut short", 40)
            cut = call.messages("turn")[1]
            assert (cut["userText"], cut["interrupted"]) == ("Once more, please.", True)
            assert TEXT.startswith(cut["text"])
