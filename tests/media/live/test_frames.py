"""The frame reader: every known message, both status locations, and nothing that raises."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from media.live.frames import MALFORMED, UNSTATED_LEFT_S, parse
from media.live.port import (
    Activity,
    GenerationComplete,
    GoAway,
    Handle,
    Interaction,
    Interrupted,
    LearnerText,
    LiveEvent,
    PlainText,
    ReplyAudio,
    ReplyText,
    ToolCall,
    ToolCancelled,
    TurnComplete,
    Unknown,
    Usage,
)

PCM = bytes(range(256)) * 2  # its base64 has both of the characters that the alphabets disagree on


def audio(pcm: bytes = PCM, mime: str = "audio/pcm;rate=24000") -> dict[str, Any]:
    return {"inlineData": {"mimeType": mime, "data": base64.b64encode(pcm).decode()}}


def content(**fields: Any) -> str:
    return json.dumps({"serverContent": fields})


@pytest.mark.parametrize(
    ("message", "events"),
    [
        ({"setupComplete": {"sessionId": "s"}}, ()),
        ({}, ()),
        ({"serverContent": {}}, ()),
        ({"goAway": {"timeLeft": "9.5s"}}, (GoAway(9.5),)),
        ({"goAway": {"timeLeft": "50s"}}, (GoAway(50.0),)),
        ({"goAway": {}}, (GoAway(UNSTATED_LEFT_S),)),
        ({"goAway": {"timeLeft": "0s"}}, (GoAway(0.0),)),
        ({"goAway": {"timeLeft": "soon"}}, (GoAway(UNSTATED_LEFT_S),)),
        (
            {"sessionResumptionUpdate": {"newHandle": "h", "resumable": True}},
            (Handle("h", True),),
        ),
        ({"sessionResumptionUpdate": {"resumable": False}}, (Handle("", False),)),
        ({"sessionResumptionUpdate": {}}, (Handle("", False),)),
        (
            {"voiceActivity": {"type": "ACTIVITY_START", "audioOffset": "1.2s"}},
            (Activity(True, 1200),),
        ),
        ({"voiceActivity": {"voiceActivityType": "ACTIVITY_END"}}, (Activity(False, 0),)),
        ({"voiceActivity": {"type": "ACTIVITY_UNSPECIFIED"}}, ()),
        ({"toolCallCancellation": {"ids": ["a", "b"]}}, (ToolCancelled(("a", "b")),)),
        (
            {"toolCall": {"functionCalls": [{"id": "a", "name": "f", "args": {"user_id": 1}}]}},
            (ToolCall("a", "f", {"user_id": 1}),),
        ),
        ({"brandNew": {}}, (Unknown(("brandNew",)),)),
        ({"error": {"code": 13}}, (Unknown(("error",)),)),
        ({"serverContent": {"later": 1}}, (Unknown(("serverContent.later",)),)),
        ({"serverContent": [1]}, (Unknown(("serverContent",)),)),
    ],
)
@pytest.mark.req("VOICE-12", "VOICE-13", "VOICE-21", "VOICE-22")
def test_top_level_messages(message: dict[str, Any], events: tuple[LiveEvent, ...]) -> None:
    assert parse(json.dumps(message)) == events
    assert parse(json.dumps(message).encode()) == events


@pytest.mark.req("VOICE-14", "VOICE-16")
@pytest.mark.parametrize(
    ("fields", "events"),
    [
        ({"inputTranscription": {"text": " it is"}}, (LearnerText(" it is"),)),
        ({"inputTranscription": {"finished": True}}, (LearnerText("", finished=True),)),
        ({"inputTranscription": {"text": ""}}, ()),
        ({"interimInputTranscription": {"text": "it"}}, (LearnerText("it", interim=True),)),
        ({"outputTranscription": {"text": " Why?"}}, (ReplyText(" Why?"),)),
        ({"outputTranscription": {"text": "", "finished": True}}, ()),
        ({"interrupted": True}, (Interrupted(),)),
        ({"interrupted": False}, ()),
        ({"generationComplete": True}, (GenerationComplete(),)),
        ({"waitingForInput": True, "groundingMetadata": {}}, ()),
        (
            {"turnComplete": True, "turnCompleteReason": "RESPONSE_REJECTED"},
            (TurnComplete(Interaction.IDLE, "RESPONSE_REJECTED"),),
        ),
    ],
)
def test_content_fields(fields: dict[str, Any], events: tuple[LiveEvent, ...]) -> None:
    assert parse(content(**fields)) == events


@pytest.mark.req("VOICE-15")
def test_parts_are_audio_or_words_and_thoughts_are_neither() -> None:
    parts = [
        audio(),
        {"text": "said"},
        {"text": "private", "thought": True, "thoughtSignature": "s"},
        audio(PCM[:7], "audio/pcm"),
        {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
        {"executableCode": {}},
        7,
    ]
    assert parse(content(modelTurn={"parts": parts})) == (
        ReplyAudio(PCM, 24_000),
        PlainText("said"),
        ReplyAudio(PCM[:7], 24_000),
        Unknown(("inlineData image/png", "part.executableCode", "modelTurn.parts")),
    )


@pytest.mark.parametrize("length", range(1, 8))
def test_both_base64_alphabets_with_and_without_padding(length: int) -> None:
    pcm = bytes([251, 239, 190, 255] * 2)[:length]
    standard = base64.b64encode(pcm).decode()
    for data in (standard, standard.rstrip("="), standard.replace("+", "-").replace("/", "_")):
        part = {"inlineData": {"mimeType": "audio/pcm;rate=16000", "data": data}}
        assert parse(content(modelTurn={"parts": [part]})) == (ReplyAudio(pcm, 16_000),)


def test_broken_base64_is_unknown() -> None:
    part = {"inlineData": {"mimeType": "audio/pcm", "data": "A"}}
    assert parse(content(modelTurn={"parts": [part]})) == (Unknown(("inlineData.data",)),)


@pytest.mark.req("VOICE-23", "VOICE-18")
@pytest.mark.parametrize("outer", [None, "IDLE", "IN_PROGRESS", "INTERACTION_STATUS_UNSPECIFIED"])
@pytest.mark.parametrize("inner", [None, "IDLE", "IN_PROGRESS", "INTERACTION_STATUS_UNSPECIFIED"])
def test_the_interaction_status_counts_in_both_places(inner: str | None, outer: str | None) -> None:
    message: dict[str, Any] = {"serverContent": {"turnComplete": True}}
    if inner is not None:
        message["serverContent"]["interactionStatus"] = inner
    if outer is not None:
        message["interactionStatus"] = outer
    telling = [s for s in (inner, outer) if s in ("IDLE", "IN_PROGRESS")]
    expected = Interaction(telling[0]) if telling else Interaction.IDLE
    assert parse(json.dumps(message)) == (TurnComplete(expected),)


@pytest.mark.req("VOICE-23")
def test_a_status_of_its_own_ends_only_what_was_in_progress() -> None:
    idle = json.dumps({"interactionStatus": "IDLE"})
    assert parse(idle) == ()
    assert parse(idle, in_progress=True) == (TurnComplete(),)
    assert parse(json.dumps({"interactionStatus": "IN_PROGRESS"}), in_progress=True) == ()
    closing = {"serverContent": {"turnComplete": True}, "interactionStatus": "IDLE"}
    assert parse(json.dumps(closing), in_progress=True) == (TurnComplete(),)


@pytest.mark.req("VOICE-24", "VOICE-19")
def test_a_bundle_gives_every_effect_once_and_in_order() -> None:
    message = {
        "toolCall": {"functionCalls": [{"id": "a", "name": "f"}]},
        "goAway": {"timeLeft": "50s"},
        "sessionResumptionUpdate": {"newHandle": "h", "resumable": True},
        "usageMetadata": {
            "promptTokenCount": 10,
            "responseTokenCount": 20,
            "thoughtsTokenCount": 1,
            "cachedContentTokenCount": 2,
            "totalTokenCount": 33,
            "promptTokensDetails": [
                {"modality": "AUDIO", "tokenCount": 6},
                {"modality": "AUDIO", "tokenCount": 1},
                {"modality": "TEXT", "tokenCount": 3},
            ],
            "responseTokensDetails": [{"modality": "AUDIO", "tokenCount": 20}],
        },
        "strange": 1,
        "serverContent": {
            "turnComplete": True,
            "generationComplete": True,
            "outputTranscription": {"text": "words"},
            "inputTranscription": {"text": "heard"},
            "modelTurn": {"parts": [audio()]},
            "interrupted": True,
        },
    }
    usage = Usage(10, 20, 1, 2, 33, {"AUDIO": 7, "TEXT": 3}, {"AUDIO": 20})
    assert parse(json.dumps(message)) == (
        Interrupted(),
        ReplyAudio(PCM),
        LearnerText("heard"),
        ReplyText("words"),
        GenerationComplete(),
        TurnComplete(),
        usage,
        Handle("h", True),
        GoAway(50.0),
        ToolCall("a", "f"),
        Unknown(("strange",)),
    )


@pytest.mark.req("VOICE-20")
@pytest.mark.parametrize(
    ("frame", "events"),
    [
        (b' {"goAway":{"timeLeft":"1s"}}', (GoAway(1.0),)),
        (bytes(640), (ReplyAudio(bytes(640)),)),
        (PCM, (ReplyAudio(PCM),)),
        (b"{" + bytes(639), (ReplyAudio(b"{" + bytes(639)),)),
        (b'{"broken": ', (MALFORMED,)),
        (b"Internal error encountered.", (MALFORMED,)),
        (b"", ()),
        ("not json", (MALFORMED,)),
        ("", (MALFORMED,)),
        ("[1]", (MALFORMED,)),
        ("[" * 100_000, (MALFORMED,)),
        ('{"a": ' + "9" * 5000 + "}", (MALFORMED,)),
    ],
)
def test_frames_that_are_not_json_objects(
    frame: str | bytes, events: tuple[LiveEvent, ...]
) -> None:
    assert parse(frame) == events


def test_words_can_always_be_encoded() -> None:
    (event,) = parse('{"serverContent":{"outputTranscription":{"text":"a\\ud800b\\u00e9"}}}')
    assert event == ReplyText("a?bé")


KEYS = st.sampled_from(
    """
    serverContent modelTurn parts inlineData mimeType data text thought interrupted turnComplete
    interactionStatus inputTranscription outputTranscription interimInputTranscription finished
    usageMetadata promptTokenCount promptTokensDetails modality tokenCount goAway timeLeft
    sessionResumptionUpdate newHandle resumable toolCall functionCalls id name args
    toolCallCancellation ids voiceActivity type audioOffset turnCompleteReason other
    """.split()  # noqa: SIM905
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["IDLE", "ACTIVITY_START", "1e9s", "-3s", "audio/pcm;rate=x", "²s", "AA="]),
)
MESSAGES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)


@given(MESSAGES)
def test_no_message_raises(message: Any) -> None:
    for event in parse(json.dumps(message)):
        assert event is not None


@given(st.binary(max_size=64) | st.text(max_size=64))
def test_no_frame_raises(frame: str | bytes) -> None:
    assert isinstance(parse(frame), tuple)


@pytest.mark.req("RTC-23")
def test_what_a_tool_put_into_the_prompt_is_paid_for() -> None:
    """T23."""
    frame = '{"usageMetadata":{"promptTokenCount":10,"toolUsePromptTokenCount":5}}'
    assert parse(frame) == (Usage(prompt=15),)
