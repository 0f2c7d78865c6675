"""Every scripted fault does on the wire what it says, at the moment it was asked for."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import numpy
import pytest
from websockets.exceptions import InvalidStatus

from local_gemini import faults
from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine, tone
from local_gemini.server import LocalGemini
from tests.local_gemini.raw_client import (
    SETUP,
    audio_of,
    content,
    kinds,
    resumed,
    session,
    socket,
    words_of,
)

LONG = " ".join(["word"] * 100)
PROMPT = {"realtimeInput": {"text": "hello"}}


def double(script: Script, **options: Any) -> LocalGemini:
    settings: dict[str, Any] = {"transcripts": ["plants eat light"], "replies": [["Indeed so."]]}
    return LocalGemini(ScriptedEngine(**{**settings, **options}), script, speed=50)


async def test_connect_is_refused_with_a_status_or_with_a_close_code() -> None:
    script = (
        Script()
        .on("connect", faults.refuse(429, "quota"), session=1)
        .on("connect", faults.refuse(1008, "no"), session=2)
    )
    async with double(script) as local:
        with pytest.raises(InvalidStatus) as refused:
            async with socket(local):
                pass
        assert refused.value.response.status_code == 429
        async with socket(local) as raw:
            assert (await raw.closed(), raw.close_reason) == (1008, "no")
        async with session(local):
            pass
    assert [record.close_code for record in local.sessions] == [429, 1008, 1000]


async def test_setup_hangs_until_the_client_gives_up() -> None:
    async with double(Script().on("setup", faults.hang(), times=1)) as local:
        async with socket(local) as raw:
            await raw.send({"setup": SETUP})
            await local.until(lambda: local.sessions[0].setup)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await raw.ws.recv()
        async with session(local):
            pass


@pytest.mark.parametrize("code", [1007, 1008, 1011, 1012])
async def test_the_nth_turn_is_closed_with_a_code(code: int) -> None:
    async with double(Script().on("turn", faults.close(code, "why"), n=2)) as local:
        async with session(local) as raw:
            await raw.send(PROMPT)
            await raw.turn()
            await raw.send(PROMPT)
            assert (await raw.closed(), raw.close_reason) == (code, "why")
        assert local.sessions[0].closed_by == "server"


async def test_tcp_dies_after_so_much_of_a_reply() -> None:
    script = Script().on("reply", faults.abort(), after_ms=400)
    async with double(script, replies=[[LONG]]) as local, session(local) as raw:
        await raw.send(PROMPT)
        assert await raw.closed() == 1006
        assert local.sessions[0].replies[0].learner == "hello"
        assert len(audio_of(raw.frames)) <= 400 * 48
    assert local.sessions[0].close_code == 1006


async def test_a_resumption_handle_is_refused_on_demand() -> None:
    script = Script().on("resume", faults.close(1008, "session not found"))
    async with double(script) as local:
        async with session(local) as raw:
            handle = (await raw.next())["sessionResumptionUpdate"]["newHandle"]
        await local.until(lambda: not local.sessions[0].open)
        async with socket(local) as raw:
            await raw.send({"setup": resumed(handle)})
            assert await raw.closed() == 1008
        async with session(local):
            pass


async def test_go_away_is_announced_and_then_kept() -> None:
    script = Script().on("turn", faults.go_away(5.0))
    async with double(script) as local, session(local) as raw:
        await raw.send(PROMPT)
        messages = await raw.turn()
        assert [m["goAway"] for m in messages if "goAway" in m] == [{"timeLeft": "5s"}]
        assert await raw.closed() == 1011
        assert "Deadline expired" in raw.close_reason


async def test_go_away_comes_when_a_test_asks_for_it() -> None:
    async with double(Script()) as local, session(local) as raw:
        await raw.next()
        await local.go_away(9.5, then_close=False)
        assert await raw.next() == {"goAway": {"timeLeft": "9.5s"}}


async def test_words_may_come_without_their_audio() -> None:
    async with double(Script().on("turn", faults.no_audio())) as local, session(local) as raw:
        await raw.send(PROMPT)
        messages = await raw.turn()
        assert words_of(messages) == "Indeed so."
        assert audio_of(messages) == b""


async def test_audio_may_be_inaudible() -> None:
    async with double(Script().on("turn", faults.silent_audio())) as local, session(local) as raw:
        await raw.send(PROMPT)
        samples = numpy.frombuffer(audio_of(await raw.turn()), dtype="<i2")
        assert len(samples) * 2 == len(tone(120))
        assert numpy.abs(samples).max() < 32


async def test_audio_may_be_late() -> None:
    script = Script().on("turn", faults.late_audio(10_000))
    async with double(script) as local, session(local) as raw:
        loop = asyncio.get_running_loop()
        began = loop.time()
        await raw.send(PROMPT)
        await raw.turn()
        assert loop.time() - began >= 0.2


async def test_a_turn_may_complete_without_a_reply() -> None:
    script = Script().on("turn", faults.no_reply("RESPONSE_REJECTED"), n=1)
    async with double(script) as local, session(local) as raw:
        await raw.send(PROMPT)
        messages = await raw.turn()
        assert content(messages[-1])["turnCompleteReason"] == "RESPONSE_REJECTED"
        assert not {"modelTurn", "outputTranscription"} & set(kinds(messages))
        await raw.send(PROMPT)
        assert words_of(await raw.turn()) == "Indeed so."


async def test_a_reply_may_be_a_text_part() -> None:
    script = Script().on("turn", faults.text_part("As text."))
    async with double(script) as local, session(local) as raw:
        await raw.send(PROMPT)
        messages = await raw.turn()
        parts = [
            part for m in messages for part in content(m).get("modelTurn", {}).get("parts", [])
        ]
        assert parts == [{"text": "As text."}]


async def test_transcripts_may_be_interim_repeated_and_never_finished() -> None:
    script = (
        Script()
        .on("transcript", faults.interim("plants", "plants eat"))
        .on("transcript", faults.repeat_transcript(2))
        .on("transcript", faults.unfinished())
    )
    async with double(script) as local, session(local) as raw:
        await raw.speak()
        messages = await raw.turn()
        interims = [
            content(m)["interimInputTranscription"]["text"]
            for m in messages
            if "interimInputTranscription" in content(m)
        ]
        finals = [
            content(m)["inputTranscription"] for m in messages if "inputTranscription" in content(m)
        ]
        assert interims == ["plants", "plants eat"]
        assert finals == [{"text": "plants eat light"}] * 2


async def test_a_tool_call_holds_the_reply_until_it_is_answered() -> None:
    script = Script().on("turn", faults.tool_call("lookup", {"user_id": 7}, call_id="c1"))
    async with double(script) as local, session(local) as raw:
        await raw.send(PROMPT)
        messages = await raw.until(lambda message: "toolCall" in message)
        call = {"id": "c1", "name": "lookup", "args": {"user_id": 7}}
        assert messages[-1] == {"toolCall": {"functionCalls": [call]}}
        response = {"id": "c1", "name": "lookup", "response": {"user_id": 1}}
        await raw.send({"tool_response": {"functionResponses": [response]}})
        assert words_of(await raw.turn()) == "Indeed so."
        assert local.sessions[0].tool_responses == [response]


async def test_an_interruption_cancels_pending_tool_calls() -> None:
    script = Script().on("turn", faults.tool_call("lookup", call_id="c1"), n=1)
    async with double(script) as local, session(local) as raw:
        await raw.send(PROMPT)
        await raw.until(lambda message: "toolCall" in message)
        await raw.send({"realtimeInput": {"text": "never mind"}})
        messages = await raw.turn()
        assert kinds(messages)[:3] == ["toolCallCancellation", "interrupted", "turnComplete"]
        assert messages[0] == {"toolCallCancellation": {"ids": ["c1"]}}
        assert words_of(await raw.turn()) == "Indeed so."


async def test_usage_may_be_cumulative_or_made_up() -> None:
    script = (
        Script()
        .on("ready", faults.usage_mode("cumulative"))
        .on("turn", faults.usage(promptTokenCount=7, totalTokenCount=7), n=1)
    )
    async with double(script) as local, session(local) as raw:
        await raw.send(PROMPT)
        first = await raw.turn()
        assert {"usageMetadata": {"promptTokenCount": 7, "totalTokenCount": 7}} in first
        await raw.send(PROMPT)
        second = await raw.turn()
    totals = [messages[-1]["usageMetadata"]["totalTokenCount"] for messages in (first, second)]
    assert totals[1] > 2 * totals[0]


async def test_frames_and_fields_that_nobody_knows() -> None:
    script = (
        Script()
        .on("turn", faults.send({"brandNew": {"a": 1}}))
        .on("first_audio", faults.send_content(shinyField=True))
        .on("first_audio", faults.send_raw(b"\x01\x02\xff\xfe"))
    )
    async with double(script) as local, session(local) as raw:
        await raw.send(PROMPT)
        messages = await raw.turn()
        assert {"brandNew": {"a": 1}} in messages
        assert {"serverContent": {"shinyField": True}} in messages
        assert b"\x01\x02\xff\xfe" in messages


async def test_the_service_may_drop_its_reply_without_completing_the_turn() -> None:
    script = Script().on("reply", faults.interrupt(turn_complete=False), after_ms=200, n=1)
    async with double(script, replies=[[LONG], ["Again."]]) as local, session(local) as raw:
        await raw.send(PROMPT)
        messages = await raw.until(lambda message: content(message).get("interrupted"))
        assert 200 * 48 <= len(audio_of(messages)) < 400 * 48
        await raw.send(PROMPT)
        messages = await raw.turn()
        assert sum("turnComplete" in content(message) for message in messages) == 1
        assert words_of(messages) == "Again."
        assert local.sessions[0].replies[0].interrupted


async def test_extended_thinking_fills_the_wait_and_only_idle_ends_it() -> None:
    script = Script().on("turn", faults.filler("Let me think."))
    setup = {**SETUP, "model": "models/gemini-3.8-live-extended-thinking"}
    async with double(script) as local, session(local, setup) as raw:
        await raw.send(PROMPT)
        filler, answer = await raw.turn(), await raw.turn()
        assert content(filler[-1])["interactionStatus"] == "IN_PROGRESS"
        assert words_of(filler) == "Let me think."
        assert content(answer[-1])["interactionStatus"] == "IDLE"
        assert words_of(answer).strip() == "Indeed so."


async def test_a_server_that_goes_silent_keeps_its_socket_open() -> None:
    async with double(Script().on("first_audio", faults.vanish())) as local, session(local) as raw:
        await raw.send(PROMPT)
        await local.until(
            lambda: local.sessions[0].replies and local.sessions[0].replies[0].complete
        )
        pong = await raw.ws.ping()
        while not pong.done():  # everything sent before the pong would have come by now
            reading = asyncio.ensure_future(raw.next())
            await asyncio.wait({reading, pong}, return_when=asyncio.FIRST_COMPLETED)
            reading.cancel()
        assert audio_of(raw.frames) == b""
        assert local.sessions[0].open


async def test_rules_count_sessions_turns_times_and_subjects() -> None:
    script = (
        Script()
        .on("turn", faults.say("Second session."), session=2)
        .on("turn", faults.say("Once."), times=1)
        .on("turn", faults.say("Other model."), where=lambda s: s["model"] == "models/other")
    )
    async with double(script) as local:
        said = []
        for setup in (SETUP, SETUP, {**SETUP, "model": "models/other"}):
            async with session(local, setup) as raw:
                await raw.send(PROMPT)
                said.append(words_of(await raw.turn()))
    assert said == ["Once.", "Second session.", "Other model."]


async def test_a_script_with_a_mistake_says_so() -> None:
    with pytest.raises(ValueError, match="no such moment"):
        Script().on("never", faults.hang())
    with pytest.raises(TypeError):
        faults.plan(no_such_field=1)


async def test_rest_calls_are_refused_answered_and_hung_up_on() -> None:
    script = (
        Script()
        .on("generate", faults.refuse(503, "overloaded"), times=1)
        .on("generate", faults.answer({"candidates": []}), where=lambda b: b["model"] == "blocked")
        .on("embed", faults.abort())
    )
    body = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    async with (
        double(script) as local,
        aiohttp.ClientSession(local.base_url, headers={"x-goog-api-key": "k"}) as http,
    ):
        context = local.ssl_context

        async def post(call: str) -> tuple[int, Any]:
            async with http.post(f"/v1beta/models/{call}", json=body, ssl=context) as response:
                return response.status, await response.json()

        status, refused = await post("m:generateContent")
        assert (status, refused["error"]["status"]) == (503, "UNAVAILABLE")
        assert refused["error"]["message"] == "overloaded"
        assert (await post("m:generateContent"))[0] == 200
        assert await post("blocked:generateContent") == (200, {"candidates": []})
        with pytest.raises(aiohttp.ClientError):
            await post("m:batchEmbedContents")
        assert [record.status for record in local.requests[:3]] == [503, 200, 200]
