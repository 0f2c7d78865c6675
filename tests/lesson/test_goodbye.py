"""T30: a goodbye is heard to its end, and taken back by whoever speaks into it."""

from pathlib import Path

import pytest

from local_gemini.scripted import TONE_MS_PER_WORD, ScriptedEngine
from tests.media.peers import until
from tests.rig import Call, house, said

pytestmark = pytest.mark.speech

LINE = "Wait, what about the memory cells?"
WORDS = 80  # of 60 ms each
GOODBYE = "word " * (WORDS - 1) + "end."
QUEUED_S = 2.0
CONFIG = {"liveVadSilenceDurationMs": 500}


def _engine() -> ScriptedEngine:
    return ScriptedEngine([LINE], replies=[[GOODBYE], ["They remember."]])


async def _saying_goodbye(call: Call) -> None:
    """The learner has asked, aloud, and leaves in the middle of the answer."""
    await call.say(said(LINE, after=0.9))
    await call.hears(1.0)
    left_s = WORDS * TONE_MS_PER_WORD / 1000 - len(call.heard()) / 32_000
    assert left_s > QUEUED_S
    call.act("stop", afterReply=True)


def _everything_heard(call: Call) -> bool:
    """But for the last block or two, which the codec rounds."""
    return len(call.heard()) / 32 >= WORDS * TONE_MS_PER_WORD - 40


@pytest.mark.req("VOICE-63", "OWN-63")
async def test_t30_what_is_queued_is_heard_before_the_line_closes(tmp_path: Path) -> None:
    async with house(tmp_path, _engine(), config=CONFIG) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await _saying_goodbye(call)
            await until(lambda: call.farewell, "closed", 15)
            await until(lambda: call.farewell == "stopped", "told why")
            assert _everything_heard(call)
            told = call.kinds
            assert told.index("bot-stopped-speaking") < told.index("closed")
            (turn,) = await home.stored(call.session_id)
            assert (turn["userText"], turn["text"]) == (LINE, GOODBYE)
            await home.empty()


@pytest.mark.req("OWN-39", "RTC-11")
async def test_t30_speech_into_the_goodbye_takes_the_end_back(tmp_path: Path) -> None:
    async with house(tmp_path, _engine(), config=CONFIG) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await _saying_goodbye(call)
            await call.say(said(LINE, before=0.0, after=0.9))
            await until(lambda: len(call.messages("turn")) == 2, "answered", 20)
            cut, answer = call.messages("turn")
            assert (cut["interrupted"], answer["userText"]) == (True, LINE)
            assert call.farewell == ""
            await call.shows("listening")
            assert (await call.ask("Are you still there?"))["saved"] is True
            (lesson,) = home.lessons.running()
            assert not lesson.stopping
