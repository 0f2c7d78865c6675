"""A Live service that fails in odd orders: every turn is answered and stored all the same."""

from pathlib import Path

import pytest

from local_gemini.faults import abort, close, go_away, send, usage
from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine
from tests.rig import house

REPLY = "word " * 6 + "end."
ASKED = ["One.", "Two.", "Three."]
GONE = close(1011, "session not found")


def lost(session: int = 1) -> Script:
    """The second turn of this connection kills it."""
    return Script().on("turn", abort(), session=session, n=2)


ORDERS = {
    "goAway as the seeded session comes": lost()
    .on("resume", GONE, times=1)
    .on("ready", go_away(60.0), session=3),
    "goAway without time as the seeded session comes": lost()
    .on("resume", GONE, times=1)
    .on("ready", go_away(2.5), session=3),
    "every handle is refused": lost().on("resume", close(1008, "session not found")),
    "a refusal without a word, twice": lost().on("resume", close(1011), times=2),
    "dead as it is resumed": lost().on("ready", close(1011, "internal"), session=2),
    "dead as it is seeded": lost().on("resume", GONE, times=1).on("ready", abort(), session=3),
    "1011 while goAway waits": Script()
    .on("first_audio", go_away(60.0), session=1, n=2)
    .on("turn", close(1011, "internal"), session=1, n=3),
    "1008 while goAway waits": Script()
    .on("first_audio", go_away(60.0), session=1, n=2)
    .on("turn", close(1008, "policy"), session=1, n=3),
    "goAway again and again": Script()
    .on("turn", go_away(60.0), session=1, n=1)
    .on("first_audio", go_away(30.0), session=1, n=1)
    .on("turn_complete", go_away(1e6), session=1, n=1),
    "messages that make no sense": Script()
    .on("turn", usage(promptTokenCount=-5, responseTokenCount="many", totalTokenCount=None))
    .on("turn", send({"usageMetadata": {"promptTokensDetails": [None, {"tokenCount": 1e9}]}}))
    .on("turn", send({"usageMetadata": "none"}))
    .on("ready", send({"sessionResumptionUpdate": {"newHandle": 7, "resumable": True}}))
    .on("turn", send({"sessionResumptionUpdate": None}))
    .on("turn", send({"goAway": {"timeLeft": "soon"}}), session=1, n=2)
    .on("turn", send({"toolCallCancellation": {"ids": ["x", None]}}))
    .on("turn", send({"toolCall": {"functionCalls": [None, {"id": "c"}]}}))
    .on("turn", send({"setupComplete": {}})),
}


@pytest.mark.req("VOICE-4", "VOICE-21", "VOICE-65", "RTC-16", "RTC-23")
@pytest.mark.parametrize("order", ORDERS)
async def test_three_turns_are_answered_once_and_stored_once(tmp_path: Path, order: str) -> None:
    """T9, T10, T11: no second greeting, no lost turn, no double answer, no page left waiting."""
    async with house(tmp_path, ScriptedEngine(replies=[[REPLY]]), ORDERS[order]) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            for text in ASKED:
                turn = await call.ask(text, within=20)
                assert (turn["userText"], turn["saved"]) == (text, True), call.notices
                assert turn["text"] == REPLY
            await call.shows("listening")
            assert [turn["userText"] for turn in await home.stored(call.session_id, 3)] == ASKED
            assert call.notices == []
            assert call.messages("cost")[-1]["inputTokens"] > 0
        # Asked again only of a session that had not been asked.
        asked = [[one.learner for one in session.replies] for session in home.gemini.sessions]
        assert all(len(set(session)) == len(session) for session in asked)
        assert list(dict.fromkeys(text for session in asked for text in session)) == ASKED
        assert len(call.messages("turn")) == len(ASKED)
        await home.empty()


@pytest.mark.req("RTC-16", "OBS-27", "VOICE-65")
async def test_half_a_reply_is_what_was_heard_of_it_and_the_next_turn_is_whole(
    tmp_path: Path,
) -> None:
    """T21: the line breaks within the reply; store == page == seeds of the next session."""
    script = Script().on("reply", abort(), session=1, n=2, after_ms=200)
    script.on("resume", GONE)
    async with house(tmp_path, ScriptedEngine(replies=[[REPLY]]), script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            assert (await call.ask("One."))["text"] == REPLY
            half = await call.ask("Two.", within=20)
            assert half["saved"] is True
            assert REPLY.startswith(half["text"])
            assert (await call.ask("Three.", within=20))["text"] == REPLY
            stored = await home.stored(call.session_id, 3)
            assert [turn["text"] for turn in stored] == [REPLY, half["text"], REPLY]
            fresh = home.gemini.sessions[-1]
            assert ("model", half["text"]) in fresh.seeds
        await home.empty()
