"""What was heard of a reply that was cut is one text, wherever it is told, shown or kept."""

import os
from pathlib import Path

import pytest

from local_gemini.faults import abort, close
from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine
from tests.media.peers import until
from tests.rig import house

WORDS = 100
REPLY = " ".join(f"word{number}" for number in range(WORDS))
# The scripted voice takes 60 ms a word.
WORD_S = 0.06


@pytest.mark.req("OBS-8", "VOICE-39", "VOICE-65", "RTC-14")
async def test_a_reply_cut_at_37_percent_is_the_same_on_the_page_in_the_store_and_in_the_seeds(
    tmp_path: Path,
) -> None:
    """T21: store == page == what the next session is seeded with; a prefix, within one word."""
    script = Script().on("turn", abort(), session=1, n=3)
    script.on("resume", close(1011, "session not found"))
    engine = ScriptedEngine(replies=[[REPLY], ["Very well."]])
    async with house(tmp_path, engine, script) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            call.type("Tell me everything.")
            await call.hears(0.37 * WORDS * WORD_S)
            call.type("Stop there.")
            await until(lambda: call.messages("interrupted"), "the page is told")
            played = len(call.heard()) / 32_000 / WORD_S
            await until(lambda: len(call.messages("turn")) == 2, "both are stored")
            cut = call.messages("turn")[0]
            call.type("And what now?")
            await until(lambda: home.gemini.sessions[-1].seeds, "a fresh session knows of it")
            stored = await home.stored(call.session_id, 2)
            fresh = home.gemini.sessions[-1]
            assert not fresh.resumed
            shown = call.messages("interrupted")[0]["heard"]
            seeds = [text for role, text in fresh.seeds if role == "model"]
            assert cut["text"] == shown == stored[0]["text"] == seeds[0]
            assert (cut["text"] + " " + cut["unheard"]).split() == REPLY.split()
            assert cut["text"] == " ".join(REPLY.split()[: len(cut["text"].split())])
            # Packets are still under way when it is cut, more of them on a machine at work.
            slack = 2 + max(0.0, os.getloadavg()[0] - 1.0)
            assert abs(len(cut["text"].split()) - played) <= slack
            told = [turn["userText"] for turn in stored]
            assert told == ["Tell me everything.", "Stop there."]
        await home.empty()
