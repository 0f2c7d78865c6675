"""The limit of a voice session is not only shown: the tutor, told silently, says it aloud, whether
the learner goes on talking or not."""

import asyncio
from pathlib import Path

import pytest

from agent.prompts.wrap_up import TIME_CHECK
from local_gemini.brain import LocalBrain
from local_gemini.brain.mind import TIME_NEARLY_OVER
from local_gemini.scripted import ScriptedEngine
from server import last_minute
from tests.lesson.modes import AGENT_VOICED, Agent
from tests.local_gemini.bag_embedder import BagEmbedder
from tests.local_gemini.lesson_text import live_instruction, state_update
from tests.media.peers import until
from tests.rig import house

AGENDA = ["Shows a germ", "Antibodies are made"]


def with_local_tutor() -> ScriptedEngine:
    """Tones for a voice; the tutor that speaks without a key."""
    engine = ScriptedEngine()
    engine.brain = LocalBrain(BagEmbedder())
    return engine


@pytest.fixture(autouse=True)
def short_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(last_minute, "NOTICE_S", 6.0)


@pytest.mark.req("VOICE-63")
async def test_the_next_reply_says_that_time_is_nearly_over(tmp_path: Path) -> None:
    async with house(tmp_path, with_local_tutor(), config={"liveSessionMinutes": 0.2}) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await until(lambda: call.messages("system"), "shown", 15)
            (live,) = home.gemini.sessions
            await until(lambda: live.contexts, "the tutor knows")
            # Told silently: it takes a turn of the learner to hear of it.
            assert call.heard() == b""
            call.type("What do antibodies do?")
            await call.hears(0.5)
            assert call.tutor.startswith(TIME_NEARLY_OVER)
            await until(lambda: call.farewell, "closed", 15)
            await until(lambda: call.farewell == "session-limit", "told why")
            assert live.prompts == ["What do antibodies do?"]
        await home.empty()


@pytest.mark.req("VOICE-63")
async def test_nobody_speaks_and_the_learner_hears_of_it_all_the_same(tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()
    async with house(tmp_path, with_local_tutor(), config={"liveSessionMinutes": 0.2}) as home:
        ada = await home.person()
        started = loop.time()
        async with ada.call(await ada.ground()) as call:
            await call.hears(0.5, within=15)
            assert call.tutor == TIME_NEARLY_OVER
            # No question of the learner's: no bubble of theirs, no turn, nothing stored.
            assert call.messages("user-transcription") == []
            await call.shows("listening")
            await until(lambda: call.farewell, "closed", 15)
            await until(lambda: call.farewell == "session-limit", "told why")
            assert 11.9 < loop.time() - started < 16
            assert call.messages("turn") == []
            (live,) = home.gemini.sessions
            (prompt,) = live.prompts
            assert prompt.startswith(TIME_CHECK)
            assert await ada.turns(call.session_id) == []
        await home.empty()


@pytest.mark.req("VOICE-63")
async def test_a_tutor_that_is_not_the_live_model_is_not_asked(tmp_path: Path) -> None:
    """The agent words these replies; the page shows the line."""
    config = {**AGENT_VOICED, "liveSessionMinutes": 0.2}
    engine = ScriptedEngine(generate=Agent(), threads=True)
    async with house(tmp_path, engine, config=config) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await until(lambda: call.farewell, "closed", 20)
            assert [one["code"] for one in call.messages("system")] == ["last-minute"]
            (live,) = home.gemini.sessions
            assert (live.prompts, live.contexts) == ([], [])


@pytest.mark.req("VOICE-63")
def test_the_local_tutor_says_it_once_a_session() -> None:
    grounded = {"outline": [{"title": title} for title in AGENDA], "digest": ". ".join(AGENDA)}
    mind = LocalBrain(BagEmbedder()).mind(live_instruction(grounded, "Socratic"))
    update = state_update(AGENDA, [])
    assert TIME_NEARLY_OVER not in mind.answer("Hello.")
    mind.note(update + "\nSession time: about one minute of this voice session is left.")
    assert mind.answer("I do not know.")[0] == TIME_NEARLY_OVER
    mind.note(update + "\nSession time: about one minute of this voice session is left.")
    assert TIME_NEARLY_OVER not in mind.answer("Go on.")
    assert mind.answer(f"{TIME_CHECK} Say it.") == [TIME_NEARLY_OVER]
