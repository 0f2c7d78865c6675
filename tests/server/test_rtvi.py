"""Frames of the data channel: what goes out is RTVI, what comes in never raises."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server import rtvi
from server.channel import BURST, WAITING_MAX, Channel


@pytest.mark.req("RTC-13")
@given(st.text(max_size=200))
def test_any_text_is_received_or_dropped(frame: str) -> None:
    assert isinstance(rtvi.decode(frame), rtvi.Received | rtvi.Dropped)


@pytest.mark.req("RTC-13")
@pytest.mark.parametrize(
    ("frame", "why"),
    [
        ("{", "malformed"),
        ("[1]", "malformed"),
        ("[" * 60_000, "malformed"),
        ("x" * 70_000, "oversize"),
        ("é" * 40_000, "oversize"),
        ('{"label":"rtvi-ai","type":"no-such"}', "unknown"),
        ('{"label":"rtvi-ai","type":"client-message","data":{"t":"zoom","d":{}}}', "unknown"),
        ('{"type":"send-text","data":{"content":""}}', "malformed"),
        ('{"type":"send-text","data":{"content":"' + "a" * 2001 + '"}}', "malformed"),
        ('{"type":"client-message","data":{"t":"mic","d":{"on":"maybe"}}}', "malformed"),
    ],
)
def test_bad_frames_are_named(frame: str, why: str) -> None:
    assert rtvi.decode(frame) == rtvi.Dropped(why)


@pytest.mark.req("RTC-13")
def test_unknown_fields_are_ignored() -> None:
    got = rtvi.decode(
        '{"label":"rtvi-ai","type":"send-text","id":"7",'
        '"data":{"content":"hello","options":{"run_immediately":true},"mood":1},"x":2}'
    )
    assert got == rtvi.Received("7", rtvi.SendText(content="hello"))


def test_the_stock_transport_is_understood() -> None:
    assert rtvi.decode("ping: 1764500000000") == rtvi.Received("", rtvi.Ping())
    muted = rtvi.decode(
        '{"type":"signalling","message":{"type":"trackStatus","receiver_index":0,"enabled":false}}'
    )
    assert muted == rtvi.Received("", rtvi.TrackStatus(receiver_index=0, enabled=False))


def test_own_messages_ride_as_server_messages() -> None:
    frame = json.loads(rtvi.encode(rtvi.Status(state="speaking", may_interrupt=True)))
    assert frame["label"] == "rtvi-ai"
    assert frame["type"] == "server-message"
    assert frame["data"] == {"type": "status", "state": "speaking", "mayInterrupt": True}


def test_rtvi_messages_keep_their_own_casing() -> None:
    frame = json.loads(
        rtvi.encode(
            rtvi.UserTranscription(text="hi", final=True, timestamp="t", user_id="u", turn_id="1")
        )
    )
    assert frame["type"] == "user-transcription"
    assert frame["data"] == {
        "text": "hi", "final": True, "timestamp": "t", "user_id": "u", "turnId": "1"
    }  # fmt: skip


class _Wire:
    """What a channel sent, and a clock to move."""

    def __init__(self) -> None:
        self.now = 0.0
        self.sent: list[dict[str, object]] = []
        self.got: list[rtvi.Received] = []
        self.channel = Channel(self.got.append, lambda: self.now)

    def send(self, frame: str) -> bool:
        self.sent.append(json.loads(frame))
        return True


def test_messages_wait_for_client_ready_in_order() -> None:
    wire = _Wire()
    wire.channel.attach(wire.send)
    wire.channel.send(rtvi.Notice(text="a", code="x"))
    wire.channel.send("bot-started-speaking")
    assert wire.sent == []
    wire.channel.reply_ready("42", [rtvi.Status(state="listening")])
    assert [m["type"] for m in wire.sent] == [
        "bot-ready", "server-message", "server-message", "bot-started-speaking"
    ]  # fmt: skip
    assert wire.sent[0]["id"] == "42"


def test_waiting_is_bounded_and_drops_the_oldest() -> None:
    wire = _Wire()
    wire.channel.attach(wire.send)
    for n in range(WAITING_MAX + 5):
        wire.channel.send(rtvi.Notice(text=str(n), code="x"))
    wire.channel.reply_ready("", [])
    assert wire.channel.counts["waiting_dropped"] == 5
    assert wire.sent[1]["data"] == {"type": "notice", "text": "5", "code": "x"}


@pytest.mark.req("RTC-13")
def test_a_flood_is_dropped_and_the_next_second_is_heard_again() -> None:
    wire = _Wire()
    frame = '{"type":"client-message","data":{"t":"ping"}}'
    for _ in range(1000):
        wire.channel.received(frame)
    assert len(wire.got) == BURST
    assert wire.channel.counts["too_frequent"] == 1000 - BURST
    wire.now += 1.0
    wire.channel.received(frame)
    assert len(wire.got) == BURST + 1


def test_garbage_is_counted_and_harmless() -> None:
    wire = _Wire()
    wire.channel.received("\x00\x01")
    wire.channel.received("x" * 1_000_000)
    wire.channel.received('{"type":"disconnect-bot","data":{}}')
    assert wire.channel.counts["malformed"] == 1
    assert wire.channel.counts["oversize"] == 1
    assert isinstance(wire.got[0].message, rtvi.DisconnectBot)


@pytest.mark.req("OWN-69")
@pytest.mark.parametrize(
    ("typed", "taken"),
    [
        ("\x00", ""),
        ("\x00 \x07\u200b", ""),
        ("he\x00llo\x1b[2J\n\tthere\x7f", "hello[2J\n\tthere"),
        ("👩‍🔬 weiß 水", "👩‍🔬 weiß 水"),
    ],
)
def test_a_typed_turn_is_taken_without_control_characters(typed: str, taken: str) -> None:
    frame = json.dumps({"type": "send-text", "id": "7", "data": {"content": typed}})
    got = rtvi.decode(frame)
    assert isinstance(got, rtvi.Received)
    assert got.message == rtvi.SendText.model_construct(content=taken)
