"""Two lessons in one process: nothing of the one is ever heard, shown or stored in the other."""

import asyncio
from pathlib import Path

import pytest

from local_gemini.scripted import ScriptedEngine, tone
from tests.media.peers import pitch, until
from tests.rig import house, said

ADA, BOB = "Memory cells keep the pattern of the germ for many years.", "Antibodies fit."


def _voice(text: str) -> bytes:
    """Each reply has a pitch of its own."""
    return tone(1500, 400 if "Ada" in text else 900)


@pytest.mark.speech
@pytest.mark.req("RTC-3", "RTC-5", "RTC-6", "OBS-23", "VOICE-51")
async def test_two_who_talk_at_once_do_not_meet(tmp_path: Path) -> None:
    ada_says, bob_says = said(ADA), said(BOB, before=0.5)

    def hear(pcm: bytes) -> str:
        """Told apart by length: the engine is one for both."""
        lengths[len(lengths)] = len(pcm)
        return f"{len(pcm)} bytes"

    lengths: dict[int, int] = {}
    engine = ScriptedEngine(hear, replies=lambda learner: [learner], speech=_voice)
    async with house(tmp_path, engine, config={"liveVadSilenceDurationMs": 500}) as home:
        ada, bob = await home.person(), await home.person("Bob")
        vaccines = await ada.ground()
        bees = await bob.ground("Bees", "1. Bees dance to tell the way.\n2. Bees fly far.")
        async with ada.call(vaccines) as one, bob.call(bees) as two:
            one.type("Ada speaks.")
            two.type("Bob speaks.")
            await until(lambda: one.messages("turn") and two.messages("turn"), "both typed", 20)
            assert abs(pitch(one.heard(), 16_000) - 400) < 20
            assert abs(pitch(two.heard(), 16_000) - 900) < 20
            await asyncio.gather(one.say(ada_says), two.say(bob_says))
            await until(
                lambda: len(one.messages("turn")) == len(two.messages("turn")) == 2, "spoken", 20
            )
            mine, theirs = one.messages("turn")[1], two.messages("turn")[1]
            assert mine["userText"] != theirs["userText"]
            sizes = [int(turn["userText"].split()[0]) for turn in (mine, theirs)]
            assert sizes[0] > sizes[1] + 16_000
            assert len(lengths) == 2
            assert one.messages("agenda")[-1]["agenda"] != two.messages("agenda")[-1]["agenda"]
            for call, name in ((one, "Ada"), (two, "Bob")):
                told = [turn["userText"] for turn in await home.stored(call.session_id, 2)]
                assert told[0] == f"{name} speaks."
                assert {text["user_id"] for text in call.messages("user-transcription")} == {
                    call.person.uid
                }
            await until(lambda: all(live.contexts for live in home.gemini.sessions), "steered")
            first, second = home.gemini.sessions
            assert "Bees" not in "".join(first.contexts)
            assert "vaccine" not in "".join(second.contexts).lower()
            # One leaves; the other is not disturbed.
            await one.leave()
            assert (await two.ask("Bob again."))["saved"] is True
        await home.empty()


@pytest.mark.req("RTC-4")
async def test_one_learner_may_have_two_conversations(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        ada = await home.person()
        topic = await ada.ground()
        async with ada.call(topic) as one, ada.call(topic) as two:
            await asyncio.gather(one.ask("In the first."), two.ask("In the second."))
            (first,) = await home.stored(one.session_id)
            (second,) = await home.stored(two.session_id)
            assert (first["userText"], second["userText"]) == ("In the first.", "In the second.")
