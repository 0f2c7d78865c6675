"""Peers that vanish, come back, or are replaced by another window of the same person."""

import uuid
from pathlib import Path

import pytest

from local_gemini.scripted import ScriptedEngine
from server import attendance
from tests.media.peers import until
from tests.rig import Call, house

# About four seconds of tutor: long enough to die in.
LONG = [["one " * 40 + "and the end."]]


@pytest.mark.req("RTC-21", "VOICE-65", "OBS-27")
async def test_a_client_killed_mid_reply_is_noticed_and_what_was_heard_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T25: no goodbye, no packet. Noticed within 5 s, kept for the grace, then all is released.

    T12: whoever comes later than that begins a fresh session that knows what was said."""
    async with house(tmp_path, ScriptedEngine(replies=[["word " * 200 + "end."]])) as home:
        ada = await home.person()
        topic = await ada.ground()
        call = Call(ada, topic, str(uuid.uuid4()))
        await call.join()
        monkeypatch.setattr(attendance, "PEER_GRACE_S", 1.5)
        call.type("Tell me all of it.")
        await call.hears(0.5)
        assert home.gemini.sessions[0].open
        await call.vanish()
        # Four seconds of silence, half a second to look, and the grace.
        await home.empty(within=20)
        (turn,) = await home.stored(call.session_id)
        assert turn["userText"] == "Tell me all of it."
        # At 60 ms a word: what was sent in the four seconds of a dead line was not heard.
        assert 0 < len(turn["text"].split()) < 35
        await call.hang_up()
        # The conversation continues from what is stored.
        async with ada.call(topic, call.session_id):
            instruction = home.gemini.sessions[-1].setup["systemInstruction"]
            assert "1 turn" in str(instruction)


@pytest.mark.req("RTC-21", "RTC-19")
async def test_a_clean_close_is_noticed_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with house(tmp_path) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            monkeypatch.setattr(attendance, "PEER_GRACE_S", 0.3)
            await call.hang_up()
        # DTLS says goodbye: no need to wait for four silent seconds.
        await home.empty(within=3.5)


@pytest.mark.req("RTC-4", "RTC-15")
async def test_a_second_window_takes_over_and_the_first_is_told(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        ada = await home.person()
        topic = await ada.ground()
        async with ada.call(topic) as first:
            await first.ask("Hello there.")
            second = Call(ada, topic, first.session_id)
            try:
                await second.join()
                await until(lambda: first.farewell == "replaced", "told why")
                assert "another window" in first.messages("closed")[0]["text"]
                await until(lambda: first.client.pc.connectionState == "closed", "old peer closed")
                told = len(first.client.messages)
                agenda = second.messages("agenda")[0]
                assert agenda["agenda"]
                stored = await ada.session(first.session_id)
                assert agenda["coveredAngles"] == stored["revealState"]["coveredAngles"]
                turn = await second.ask("I am here now.")
                assert turn["saved"] is True
                assert len(first.client.messages) == told
                # Nothing of the first window's farewell, and no second conversation.
                assert second.farewell == ""
                assert [t["userText"] for t in await ada.turns(first.session_id)] == [
                    "Hello there.",
                    "I am here now.",
                ]
                assert len(home.gemini.sessions) == 1
                assert len(home.lessons) == 1
            finally:
                await second.hang_up()


@pytest.mark.req("RTC-4", "RTC-21")
async def test_a_network_change_keeps_the_live_session_and_the_reply(tmp_path: Path) -> None:
    """T12: a new peer within the grace; nothing is opened anew, the reply goes on for it."""
    async with house(tmp_path, ScriptedEngine(replies=LONG)) as home:
        ada = await home.person()
        topic = await ada.ground()
        async with ada.call(topic) as old:
            old.type("Go on.")
            await old.hears(0.5)
            await old.vanish()
            new = Call(ada, topic, old.session_id)
            try:
                await new.join(until_state="")
                await until(lambda: new.messages("turn"), "the reply ends on the new peer", 20)
                assert new.messages("turn")[0]["saved"] is True
                assert new.messages("turn")[0]["text"].endswith("and the end.")
                assert len(new.heard()) > 16_000
                assert new.messages("notice") == []
            finally:
                await new.hang_up()
        (session,) = home.gemini.sessions
        assert session.prompts == ["Go on."]


@pytest.mark.req("RTC-4", "RTC-15")
async def test_what_the_dead_connection_was_told_is_told_again(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        ada = await home.person()
        topic = await ada.ground()
        async with ada.call(topic) as old:
            old.type("Are you there?")
            await until(lambda: old.tutor, "the reply has begun")
            await old.vanish()
            await home.stored(old.session_id)
            told = len(old.messages("turn"))
            new = Call(ada, topic, old.session_id)
            try:
                await new.join(until_state="")
                await until(lambda: new.messages("turn"), "told again")
                assert (told, new.messages("turn")[0]["userText"]) == (0, "Are you there?")
                assert new.messages("agenda")[0]["agenda"]
            finally:
                await new.hang_up()


@pytest.mark.req("RTC-3")
async def test_somebody_else_cannot_take_over(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        ada, bob = await home.person(), await home.person("Bob")
        topic, other = await ada.ground(), await bob.ground("Bees", "1. Bees dance.\n2. Bees fly.")
        async with ada.call(topic) as call:
            for wanted in (topic, other):
                thief = Call(bob, wanted, call.session_id)
                status, answer = await thief.offer()
                assert (status, answer["error"]["code"]) == (403, "permission-denied")
                await thief.hang_up()
            assert call.farewell == ""
            assert (await call.ask("Still mine?"))["saved"] is True


@pytest.mark.req("RTC-4")
async def test_a_broken_offer_does_not_disturb_the_running_lesson(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            status, _ = await ada.offer("v=0\r\nnonsense", call.session_id, call.topic_id)
            assert status == 400
            assert (await call.ask("Anybody there?"))["saved"] is True
            assert (call.farewell, len(home.lessons)) == ("", 1)


@pytest.mark.req("RTC-4")
async def test_another_topic_in_the_same_conversation_starts_a_new_lesson(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        ada = await home.person()
        first = await ada.ground()
        second = await ada.ground("Bees", "1. Bees dance.\n2. Bees fly.")
        async with (
            ada.call(first) as old,
            ada.call(second, old.session_id) as new,
        ):
            await until(lambda: old.farewell == "replaced", "told why")
            assert (await new.ask("What do bees do?"))["saved"] is True
            assert len(home.gemini.sessions) == 2
            assert not home.gemini.sessions[0].open
