"""A learner hears a reply once more: from memory, slower if wished, until somebody speaks."""

from pathlib import Path

import pytest

from local_gemini.scripted import ScriptedEngine
from tests.media.peers import until
from tests.rig import Call, house, said

pytestmark = pytest.mark.speech

REPLY = [["word " * 30 + "end."]]


async def _answered(call: Call) -> tuple[str, float]:
    """A stored turn: its id, and how many seconds of it were heard."""
    turn = await call.ask("Tell me.")
    await call.shows("listening")
    return str(turn["turnId"]), len(call.heard()) / 32_000


async def _played(call: Call, turn_id: str, **more: float) -> float:
    """Seconds of one whole replay."""
    before, ended = len(call.heard()), call.kinds.count("bot-stopped-speaking")
    call.act("replay", turnId=turn_id, **more)
    await until(lambda: call.kinds.count("bot-stopped-speaking") > ended, "played", 20)
    await call.shows("listening")
    return (len(call.heard()) - before) / 32_000


@pytest.mark.req("VOICE-66")
async def test_a_reply_is_heard_again_and_nothing_else_happens(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedEngine(replies=REPLY)) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            assert "replay" in call.messages("bot-ready")[0]["about"]["features"]
            turn_id, seconds = await _answered(call)
            told = len(call.messages("turn")), len(call.messages("bot-output"))
            (live,) = home.gemini.sessions
            prompts, contexts = list(live.prompts), list(live.contexts)
            assert await _played(call, turn_id) == pytest.approx(seconds, abs=0.3)
            assert await _played(call, turn_id, rate=0.8) == pytest.approx(seconds / 0.8, abs=0.3)
            replaying = [one for one in call.messages("status") if one.get("reason") == "replay"]
            assert [(one["state"], one["mayInterrupt"]) for one in replaying] == [
                ("speaking", True),
                ("speaking", True),
            ]
            # No turn, no word, nothing for the model, nothing in the store.
            assert (len(call.messages("turn")), len(call.messages("bot-output"))) == told
            assert (live.prompts, live.contexts) == (prompts, contexts)
            assert len(await home.stored(call.session_id)) == 1
            call.act("replay", turnId="who-knows")
            await until(lambda: call.notices, "told")
            assert call.messages("notice")[-1]["code"] == "replay-gone"


async def test_the_learner_talks_over_a_replay(tmp_path: Path) -> None:
    words = "Wait a moment, what about the memory cells?"
    engine = ScriptedEngine([words], replies=[["word " * 120 + "end."], ["They remember."]])
    config = {"liveVadSilenceDurationMs": 500}
    async with house(tmp_path, engine, config=config) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            turn_id, seconds = await _answered(call)
            before = len(call.heard())
            call.act("replay", turnId=turn_id)
            await until(lambda: len(call.heard()) > before + 16_000, "half a second")
            await call.say(said(words, before=0.0))
            await until(lambda: len(call.messages("turn")) == 2, "answered", 20)
            assert call.messages("turn")[1]["userText"] == words
            assert call.messages("turn")[1]["text"] == "They remember."
            # Cut short, and it was no interruption of a turn.
            assert (len(call.heard()) - before) / 32_000 < seconds
            assert call.messages("interrupted") == []


async def test_a_question_typed_during_a_replay_is_answered_at_once(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedEngine(replies=[["word " * 120], ["Yes."]])) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            turn_id, seconds = await _answered(call)
            before = len(call.heard())
            call.act("replay", turnId=turn_id)
            await until(lambda: len(call.heard()) > before + 16_000, "half a second")
            assert (await call.ask("And this?"))["text"] == "Yes."
            assert (len(call.heard()) - before) / 32_000 < seconds
            await call.shows("listening")
            starts = [one for one in call.kinds if one.startswith("bot-st")]
            assert starts == ["bot-started-speaking", "bot-stopped-speaking"] * 3


async def test_an_interrupted_reply_is_replayed_as_far_as_it_was_heard(tmp_path: Path) -> None:
    engine = ScriptedEngine(replies=[["word " * 120 + "end."], ["Yes."]])
    async with house(tmp_path, engine) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.type("Tell me.")
            await call.hears(1.0)
            call.act("replay", turnId="any")
            await until(lambda: call.notices, "told")
            assert call.messages("notice")[-1]["code"] == "replay-busy"
            await call.ask("Stop. And this?")
            await until(lambda: len(call.messages("turn")) == 2, "both")
            cut = call.messages("turn")[0]
            assert cut["interrupted"] is True
            await call.shows("listening")
            assert 0.5 < await _played(call, cut["turnId"]) < 3.0
