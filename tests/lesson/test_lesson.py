"""A spoken exchange end to end, in process: peer, gate, Live, playout, observer, store."""

from pathlib import Path

import pytest

from local_gemini.scripted import ScriptedEngine
from tests.media.peers import until
from tests.rig import house, said

pytestmark = pytest.mark.speech


@pytest.mark.req("CARD-4", "CARD-6", "CARD-7", "RTC-14", "RTC-15", "VOICE-50", "VOICE-52")
async def test_a_spoken_exchange_is_heard_answered_and_stored(tmp_path: Path) -> None:
    engine = ScriptedEngine(["A vaccine shows a harmless piece of a germ."])
    config = {"liveVadSilenceDurationMs": 500}
    async with house(tmp_path, engine, config=config) as home:
        ada = await home.person()
        topic = await ada.ground()
        async with ada.call(topic) as call:
            await call.say(said("A vaccine shows a harmless piece of a germ."))
            await until(lambda: call.messages("turn"), "the turn is stored", 20)
            turn = call.messages("turn")[0]
            assert turn["saved"] is True
            assert turn["userText"] == "A vaccine shows a harmless piece of a germ."
            assert turn["text"] == call.tutor
            assert len(call.heard()) > 16_000
            await until(lambda: len(call.messages("agenda")) >= 2, "agenda moved")
            session = await ada.session(call.session_id)
            assert session["turns"][-1]["text"] == turn["text"]
            await until(lambda: home.gemini.sessions[0].contexts, "steered")
            assert home.gemini.sessions[0].contexts[0].startswith("[TUTOR STATE UPDATE]")
