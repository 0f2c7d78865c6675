"""The pure parts of the wire: reading, counting, tokens, handles, ledgers, end-pointing."""

from __future__ import annotations

import base64
import math
from datetime import UTC, datetime, timedelta

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_gemini.embed import sized
from local_gemini.engine import Activity
from local_gemini.handles import Handles, Memory
from local_gemini.instance import instance_of
from local_gemini.reply import BYTES_PER_MS, Reply
from local_gemini.scripted import EnergyEndPointer, HashEmbedder, ScriptedMind, tone
from local_gemini.scripted_brain import decide, points_of
from local_gemini.setup import setup_message, setup_of
from local_gemini.tokens import Tokens
from local_gemini.usage import Context
from local_gemini.wire import WireError, camel, pcm_rate, unbase64

NOW = datetime(2027, 1, 5, 12, tzinfo=UTC)
MODEL = "models/gemini-3.8-live"


@given(st.binary(max_size=200))
def test_base64_is_read_in_both_alphabets_with_or_without_padding(data: bytes) -> None:
    for text in (base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode()):
        assert unbase64(text) == data
        assert unbase64(text.rstrip("=")) == data


@pytest.mark.parametrize("text", ["a", "ab*d", "äbcd", None, 7])
def test_what_is_not_base64_is_refused(text: object) -> None:
    with pytest.raises(WireError):
        unbase64(text)


def test_keys_become_camel_case_but_the_users_own_keys_do_not() -> None:
    mixed = {
        "tool_response": {"functionResponses": [{"id": "1", "response": {"user_id": {"a_b": 1}}}]},
        "system_instruction": {"parts": [{"inline_data": {"mime_type": "x"}}]},
        "parameters_json_schema": {"properties": {"user_id": {}}},
    }
    assert camel(mixed) == {
        "toolResponse": {"functionResponses": [{"id": "1", "response": {"user_id": {"a_b": 1}}}]},
        "systemInstruction": {"parts": [{"inlineData": {"mimeType": "x"}}]},
        "parametersJsonSchema": {"properties": {"user_id": {}}},
    }


def test_the_rate_of_pcm_is_read_from_its_mime_type() -> None:
    assert pcm_rate("audio/pcm;rate=48000") == 48_000
    assert pcm_rate("audio/pcm") == 16_000
    assert pcm_rate("audio/L16;codec=pcm;rate=24000") == 24_000
    for mime in ("audio/ogg", "audio/pcm;rate=1", "image/png"):
        with pytest.raises(WireError):
            pcm_rate(mime)


# --- setup ------------------------------------------------------------------------------------


def test_a_setup_in_mixed_casing_is_understood() -> None:
    raw = setup_message(
        {
            "setup": {
                "model": MODEL,
                "generationConfig": {
                    "responseModalities": ["AUDIO"],
                    "speechConfig": {"voice_config": {"prebuilt_voice_config": {}}},
                },
                "system_instruction": {"parts": [{"text": "a"}, {"text": "b"}]},
                "realtimeInputConfig": {
                    "automatic_activity_detection": {
                        "silence_duration_ms": 1500,
                        "prefix_padding_ms": 300,
                    },
                    "activity_handling": "NO_INTERRUPTION",
                },
                "contextWindowCompression": {
                    "trigger_tokens": "25000",
                    "sliding_window": {"target_tokens": 12500},
                },
                "sessionResumption": {"handle": "h"},
            }
        }
    )
    setup = setup_of(raw)
    assert setup.instruction == "a\nb"
    assert (setup.silence_ms, setup.prefix_ms) == (1500, 300)
    assert setup.automatic
    assert not setup.interrupts
    assert setup.compression == (25_000, 12_500)
    assert (setup.resumption, setup.handle) == (True, "h")


@pytest.mark.parametrize(
    "message",
    [
        {"realtimeInput": {"text": "hi"}},
        {"setup": {"model": MODEL}, "clientContent": {}},
        {"setup": {"model": MODEL, "brandNew": 1}},
        {"setup": {"model": MODEL, "generationConfig": {"voice": "Kore"}}},
        {"setup": {"model": MODEL, "realtimeInputConfig": {"automaticActivityDetection": 5}}},
        {"setup": "hello"},
        {},
    ],
)
def test_a_wrong_first_message_is_invalid(message: dict[str, object]) -> None:
    with pytest.raises(WireError) as refused:
        setup_message(message)
    assert refused.value.code == 1007


@pytest.mark.req("GOTCHA-13")
def test_plain_live_refuses_a_thinking_level_and_extended_thinking_takes_it() -> None:
    generation = {"responseModalities": ["AUDIO"], "thinkingConfig": {"thinkingLevel": "LOW"}}
    with pytest.raises(WireError):
        setup_of({"model": MODEL, "generationConfig": generation})
    extended = setup_of(
        {"model": "models/gemini-3.8-live-extended-thinking", "generationConfig": generation}
    )
    assert extended.automatic


@pytest.mark.parametrize(
    "setup",
    [
        {"model": "gemini-3.8-live"},
        {},
        {"model": MODEL, "generationConfig": {"responseModalities": ["TEXT"]}},
        {"model": MODEL, "sessionResumption": {"transparent": True}},
        {
            "model": MODEL,
            "realtimeInputConfig": {"automaticActivityDetection": {"silenceDurationMs": -1}},
        },
    ],
)
def test_what_the_model_cannot_do_is_refused(setup: dict[str, object]) -> None:
    with pytest.raises(WireError):
        setup_of(setup)


# --- usage ------------------------------------------------------------------------------------


def test_every_turn_bills_the_whole_context_again() -> None:
    context = Context(instruction=100)
    context.audio_ms += 2000
    first = context.turn(reply_ms=4000)
    assert first["promptTokenCount"] == 100 + 50
    assert first["responseTokenCount"] == 100
    assert first["responseTokensDetails"] == [{"modality": "AUDIO", "tokenCount": 100}]
    context.audio_ms += 1000
    context.read("12345678")
    second = context.turn(reply_ms=0)
    assert second["promptTokenCount"] == 100 + 2 + 50 + 100 + 25
    assert second["promptTokensDetails"] == [
        {"modality": "TEXT", "tokenCount": 102},
        {"modality": "AUDIO", "tokenCount": 175},
    ]
    assert context.billed["totalTokenCount"] == first["totalTokenCount"] + 277


def test_compression_cuts_the_context_to_its_target_but_keeps_the_instruction() -> None:
    context = Context(instruction=100, audio_ms=40_000)
    counts = context.turn(0, compression=(1000, 500))
    assert counts["promptTokenCount"] == 500
    assert context.turn(0, compression=(1000, 500))["promptTokenCount"] == 500
    assert context.compressions == 1


# --- tokens -----------------------------------------------------------------------------------


def test_a_token_is_good_for_its_uses_and_resuming_is_none() -> None:
    tokens = Tokens()
    token = tokens.mint({"uses": 1}, NOW)
    tokens.start(token, resuming=False, now=NOW)
    tokens.start(token, resuming=True, now=NOW)
    with pytest.raises(WireError) as refused:
        tokens.start(token, resuming=False, now=NOW)
    assert refused.value.code == 1008


def test_a_token_expires_and_starts_sessions_only_for_a_minute() -> None:
    tokens = Tokens()
    token = tokens.mint({}, NOW)
    assert tokens.admit(token.name, NOW + timedelta(minutes=29)) is token
    with pytest.raises(WireError):
        tokens.start(token, resuming=False, now=NOW + timedelta(seconds=61))
    tokens.start(token, resuming=True, now=NOW + timedelta(seconds=61))
    with pytest.raises(WireError):
        tokens.admit(token.name, NOW + timedelta(minutes=30))
    with pytest.raises(WireError):
        tokens.admit("auth_tokens/unknown", NOW)


@pytest.mark.parametrize(
    "body",
    [
        {"expireTime": "2027-01-06T12:00:00+00:00"},
        {"expireTime": "2027-01-05T12:30:00"},
        {"newSessionExpireTime": "2027-01-05T11:00:00Z"},
        {"uses": -1},
        {"use": 1},
        {"fieldMask": "systemInstruction.parts", "bidiGenerateContentSetup": {"model": MODEL}},
        {"bidiGenerateContentSetup": {"model": MODEL, "brandNew": 1}},
    ],
)
def test_a_wrong_token_request_is_refused(body: dict[str, object]) -> None:
    with pytest.raises(WireError):
        Tokens().mint(body, NOW)


def test_without_a_mask_the_whole_setup_is_locked_but_the_handle_is_free() -> None:
    locked = {"model": MODEL, "systemInstruction": {"parts": []}, "sessionResumption": {}}
    token = Tokens().mint({"bidiGenerateContentSetup": locked}, NOW)
    asked = {"model": "models/other", "tools": [], "sessionResumption": {"handle": "h"}}
    assert token.effective(asked) == {**locked, "sessionResumption": {"handle": "h"}}


def test_a_mask_locks_only_what_it_names() -> None:
    setup = {"model": MODEL, "generationConfig": {"temperature": 0.1, "topK": 3}}
    mask = "model,generation_config.temperature,tools"
    token = Tokens().mint({"bidiGenerateContentSetup": setup, "fieldMask": mask}, NOW)
    asked = {
        "model": "models/other",
        "generationConfig": {"temperature": 2, "topP": 1},
        "tools": [{"googleSearch": {}}],
    }
    assert token.effective(asked) == {
        "model": MODEL,
        "generationConfig": {"temperature": 0.1, "topP": 1},
    }
    assert asked["generationConfig"] == {"temperature": 2, "topP": 1}


# --- handles ----------------------------------------------------------------------------------


def memory() -> Memory:
    return Memory(mind=ScriptedMind("", None), context=Context(), model=MODEL)


def test_a_handle_works_only_after_its_socket_is_gone_and_for_two_hours() -> None:
    handles, kept = Handles(), memory()
    handle = handles.issue(kept)
    with pytest.raises(WireError) as refused:
        handles.take(handle, MODEL, NOW)
    assert refused.value.code == 1011
    handles.leave(kept, NOW)
    assert handles.take(handle, MODEL, NOW + timedelta(hours=2)) is kept
    handles.leave(kept, NOW)
    with pytest.raises(WireError) as late:
        handles.take(handle, MODEL, NOW + timedelta(hours=2, seconds=1))
    assert late.value.code == 1008


def test_only_the_newest_handles_of_a_conversation_stay_valid() -> None:
    handles, kept = Handles(), memory()
    issued = [handles.issue(kept) for _ in range(9)]
    handles.leave(kept, NOW)
    with pytest.raises(WireError):
        handles.take(issued[0], MODEL, NOW)
    with pytest.raises(WireError):
        handles.take(issued[8], "models/other", NOW)
    assert handles.take(issued[1], MODEL, NOW) is kept


def test_conversations_past_their_time_are_forgotten() -> None:
    handles, old, new = Handles(), memory(), memory()
    handle = handles.issue(old)
    handles.issue(new)
    handles.leave(old, NOW)
    handles.leave(new, NOW + timedelta(hours=3))
    assert not old.handles
    with pytest.raises(WireError):
        handles.take(handle, MODEL, NOW)
    assert new.handles


# --- the reply's ledger -----------------------------------------------------------------------


def test_what_is_heard_follows_the_clock_from_the_first_audio_on() -> None:
    reply = Reply(speed=2.0)
    reply.begin("one two three four", 1000 * BYTES_PER_MS, now=10.0)
    reply.sent(1000 * BYTES_PER_MS)
    assert reply.heard(10.25) == "one two"
    assert reply.played_ms(10.25) == 500
    assert reply.remaining_s(10.25) == pytest.approx(0.25)
    reply.begin("five six", 400 * BYTES_PER_MS, now=10.3)
    reply.sent(200 * BYTES_PER_MS)
    assert reply.heard(11.0) == "one two three four five"
    assert reply.played_ms(11.0) == 1200
    assert reply.text == "one two three four five six"


# --- the scripted ear -------------------------------------------------------------------------


@given(st.lists(st.integers(min_value=1, max_value=5000), min_size=1, max_size=60))
def test_end_pointing_depends_on_samples_only(cuts: list[int]) -> None:
    pcm = bytes(32 * 300) + tone(400, rate=16_000) + bytes(32 * 600)
    pointer = EnergyEndPointer(silence_ms=500, prefix_ms=100)
    found: list[Activity] = []
    position = 0
    for cut in [*cuts, len(pcm)]:
        found += pointer.feed(pcm[position : position + cut])
        position += cut
    assert found == [Activity(True, 300), Activity(False, 1200)]
    assert len(pointer.utterance()) == 32 * 1200


def test_a_click_is_no_speech() -> None:
    pointer = EnergyEndPointer(silence_ms=500, prefix_ms=100)
    assert pointer.feed(bytes(6400) + tone(80, rate=16_000) + bytes(32_000)) == []


def test_the_tone_can_be_measured() -> None:
    samples = numpy.frombuffer(tone(1000), dtype="<i2")
    assert len(samples) == 24_000
    assert 20 * math.log10(float(numpy.abs(samples).max()) / 32767) == pytest.approx(-12, abs=0.1)
    spectrum = numpy.abs(numpy.fft.rfft(samples))
    assert int(spectrum.argmax()) == 440


# --- the scripted brain -----------------------------------------------------------------------


def test_an_outline_is_made_of_list_items_or_else_of_sentences() -> None:
    assert points_of(["# Light", "text", "- Sugar.", "2. Oxygen"], 20) == [
        "Light",
        "Sugar",
        "Oxygen",
    ]
    assert points_of(["Leaves make sugar. They need", "light."], 20) == [
        "Leaves make sugar",
        "They need light",
    ]


def test_the_move_answer_keeps_the_agenda_and_covers_one_point_at_a_time() -> None:
    system = "META topicId=t1\nTOPIC: Leaves\nOUTLINE:\n| s1 Light\n| s2 Sugar\nREVEAL STATE: "
    first = decide(system + "{}", "LEARNER UTTERANCE\n| plants need light to live\n")
    assert first["mode"] == "ask"
    assert first["updatedRevealState"] == {"agenda": ["Light", "Sugar"], "coveredAngles": ["Light"]}
    state = '{"agenda": ["Light", "Sugar"], "coveredAngles": ["Light"]}'
    probe = decide(system + state, "LEARNER UTTERANCE\n| no idea\n")
    assert probe["mode"] == "probe"
    assert probe["updatedRevealState"]["coveredAngles"] == ["Light"]
    last = decide(system + state + "\nOBSERVER MODE", "LEARNER UTTERANCE\n| it makes sugar\n")
    assert last["mode"] == "conclude"


def test_an_instance_satisfies_its_schema() -> None:
    schema = {
        "type": "OBJECT",
        "properties": {
            "mode": {"type": "STRING", "enum": ["ask", "probe"]},
            "points": {"type": "array", "items": {"$ref": "#/$defs/P"}},
            "skipped": {"type": "string"},
        },
        "required": ["mode", "points"],
        "$defs": {"P": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 2}}}},
    }
    assert instance_of(schema) == {"mode": "ask", "points": [{"n": 2}]}


def test_vectors_keep_their_angles_when_sized() -> None:
    one, other = HashEmbedder().embed(["light and sugar", "sugar and light"])
    assert one == other
    assert sum(value * value for value in sized(one, 64)) == pytest.approx(1.0)
    assert sized(one, 768)[:256] == one
    assert len(sized(one, 768)) == 768
