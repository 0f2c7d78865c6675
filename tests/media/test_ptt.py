"""A held key: two windows admit, the onset stays, pauses pass, and each start has one end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from media import turn_events as ev
from media.gate import BLOCK_BYTES, MARGIN_MS, Gate, GateSettings
from media.ptt import BREATH_MS, LONGEST_MS, QUIET_MS, SHORTEST_MS, TAIL_MS, Hold, Passage
from media.turns import State, Turns
from media.vad import VadReading

ZERO = bytes(BLOCK_BYTES)


class Deaf:
    """The open microphone hears nobody; how often it was asked."""

    asked = 0
    says = 0.0

    def feed(self, pcm20: bytes) -> VadReading:
        self.asked += 1
        return VadReading(self.says, self.says)

    def reset(self) -> None:
        """Nothing is remembered."""


def sound(number: int = 0, level: int = 2000) -> bytes:
    """A block whose first sample tells which it is."""
    pcm = np.full(BLOCK_BYTES // 2, level, "<i2")
    pcm[1::2] *= -1
    pcm[0] = number
    return pcm.tobytes()


class Key:
    """A microphone with a key, one gate behind it."""

    def __init__(self, **settings: object) -> None:
        self.ear = Deaf()
        self.gate = Gate(self.ear, GateSettings(**settings))  # type: ignore[arg-type]
        self.at = 50.0
        self.sent = b""
        self.events: list[ev.TurnEvent] = []

    def feed(self, *blocks: bytes) -> None:
        for pcm in blocks:
            step = self.gate.feed(pcm, self.at)
            self.sent += step.forward
            self.events += step.events
            self.at += 0.02

    def down(self, *blocks: bytes) -> None:
        self.gate.hold(True)
        self.feed(*blocks)

    def up(self, *blocks: bytes) -> None:
        self.gate.hold(False)
        self.feed(*blocks)

    def count(self, kind: type[ev.TurnEvent]) -> int:
        return sum(isinstance(event, kind) for event in self.events)

    @property
    def numbers(self) -> list[int]:
        starts = range(0, len(self.sent), BLOCK_BYTES)
        return [int(np.frombuffer(self.sent[s : s + 2], "<i2")[0]) for s in starts]


LONG = [sound(n + 1) for n in range(SHORTEST_MS // 20 + 2)]


@pytest.mark.req("OWN-31")
@pytest.mark.parametrize(
    ("loud", "admitted"),
    [([1], False), ([1, 3], False), ([1, 2], True), ([0, 1], True), ([3, 4], True)],
    ids=["one", "apart", "across-blocks", "one-block", "late"],
)
def test_two_consecutive_windows_admit(loud: list[int], admitted: bool) -> None:
    """`loud`: which 10 ms windows are above the floor; the pair may lie across two blocks."""
    windows = [sound()[:320] if n in loud else bytes(320) for n in range(6)]
    key = Key()
    key.down(*(windows[n] + windows[n + 1] for n in (0, 2, 4)), *[ZERO] * 20)
    assert (key.sent != b"") is admitted
    assert key.count(ev.SpeechStarted) == int(admitted)


@pytest.mark.req("OWN-32", "RTC-9")
def test_the_onset_is_kept_and_a_pause_passes() -> None:
    key = Key()
    key.feed(*(sound(n + 1) for n in range(40)))  # nobody speaks, says the detector
    key.down(*(sound(n + 41) for n in range(20)), *[sound(99, level=0)] * 100)
    (started,) = [event for event in key.events if isinstance(event, ev.SpeechStarted)]
    first = key.numbers[0]
    admitted = round((started.at - 50.0) / 0.02) + 1  # number of the admitting block
    assert admitted - first == 400 // 20
    assert key.numbers[: 61 - first] == list(range(first, 61))
    assert key.numbers[-100:] == [99] * 100  # two seconds of it, sent as they are
    assert started.onset == pytest.approx(50.0 + 40 * 0.02, abs=0.011)


@pytest.mark.req("OWN-34")
def test_energy_is_no_classifier() -> None:
    """Very quiet speech stays out, loud noise gets in: accepted, and so it is."""
    whisper, noise = Key(), Key()
    whisper.down(*(sound(n + 1, level=60) for n in range(50)))
    assert whisper.sent == b""
    rng = np.random.default_rng(3)
    hiss = [rng.integers(-3000, 3000, 320, dtype=np.int16).tobytes() for _ in range(50)]
    noise.down(*hiss)
    assert noise.sent == b"".join(hiss)


@pytest.mark.req("OWN-35")
def test_the_open_microphone_knows_nothing_of_the_key() -> None:
    key = Key()
    key.feed(*[sound(1)] * 50)
    assert (key.ear.asked, key.events, key.sent) == (50, [], b"")
    key.down(*LONG)
    assert key.ear.asked == 50
    key.up(*[ZERO] * 200)
    assert key.ear.asked > 50
    assert not key.gate.holding


@pytest.mark.req("OWN-33")
@pytest.mark.parametrize("service_ends", [True, False])
@pytest.mark.parametrize("tap_ms", [20, 40, 80, 200])
def test_a_short_tap_sends_nothing_however_loud(tap_ms: int, service_ends: bool) -> None:
    """T6: starts == ends == 0."""
    key = Key(service_ends_turns=service_ends)
    key.down(*[sound(1)] * (tap_ms // 20))
    key.up(*[ZERO] * 100)
    assert (key.sent, key.events) == (b"", [])


@pytest.mark.req("OWN-31", "OWN-32")
def test_after_a_hold_the_service_hears_silence_until_somebody_speaks() -> None:
    key = Key(trailing_ms=200)
    key.down(*LONG)
    key.up(*[sound(7)] * 100)
    tail = TAIL_MS // 20
    assert key.numbers[: len(LONG) + tail] == [*range(1, len(LONG) + 1), *[7] * tail]
    rest = key.sent[(len(LONG) + tail) * BLOCK_BYTES :]
    assert rest == ZERO * ((200 + MARGIN_MS) // 20)
    key.ear.says = 1.0
    key.feed(*[sound(8)] * 10)
    assert key.numbers[-8:] == [8] * 8
    assert key.count(ev.SpeechStarted) == 2


@pytest.mark.req("OWN-32")
@pytest.mark.parametrize("service_ends", [True, False])
def test_the_breath_that_the_key_cut_off_is_no_turn(service_ends: bool) -> None:
    """Whatever the detector makes of it; once there is quiet, the microphone is open again."""
    key = Key(service_ends_turns=service_ends)
    key.down(*LONG)
    key.ear.says = 1.0
    key.up(*[sound(7)] * 40)
    key.ear.says = 0.0
    key.feed(*[ZERO] * (QUIET_MS // 20))
    assert (key.count(ev.SpeechStarted), key.count(ev.SpeechEnded)) == (1, 1)
    assert not key.gate.holding
    key.ear.says = 1.0
    key.feed(*[sound(8)] * 10)
    assert key.count(ev.SpeechStarted) == 2
    assert key.numbers[-8:] == [8] * 8


def test_in_a_room_that_is_never_quiet_a_hold_has_its_end() -> None:
    key = Key()
    key.down(*LONG)
    key.ear.says = 1.0
    key.up(*[sound(7)] * ((TAIL_MS + BREATH_MS) // 20))
    assert key.count(ev.SpeechStarted) == 1
    key.feed(*[sound(7)] * 5)
    assert key.count(ev.SpeechStarted) == 2


def test_a_hold_in_the_breath_of_another_is_one_of_its_own() -> None:
    key = Key()
    key.down(*LONG)
    key.up(*[sound(7)] * 10)
    key.down(*LONG)
    key.up(*[ZERO] * 20)
    assert (key.count(ev.SpeechStarted), key.count(ev.SpeechEnded)) == (2, 2)


def test_a_hold_right_after_another_keeps_its_onset() -> None:
    """The trailing silence of the first goes on while the second is not admitted yet."""
    key = Key(trailing_ms=1000)
    key.down(*LONG)
    key.up(*[ZERO] * 10)
    key.sent = b""
    key.down(*LONG)
    pending = SHORTEST_MS // 20
    assert key.sent[: pending * BLOCK_BYTES] == ZERO * pending
    assert key.numbers[pending:] == list(range(1, len(LONG) + 1))


@pytest.mark.req("OWN-29")
def test_speech_in_the_open_goes_on_in_the_hold() -> None:
    """One start, and its end only with the key, whatever the detector would have said."""
    key = Key(service_ends_turns=False)
    key.ear.says = 1.0
    key.feed(*[sound(1)] * 10)
    assert key.count(ev.SpeechStarted) == 1
    key.ear.says = 0.0
    key.down(*[ZERO] * 100)
    assert (key.count(ev.SpeechStarted), key.count(ev.SpeechEnded)) == (1, 0)
    key.up(*[ZERO] * 10)
    assert (key.count(ev.SpeechStarted), key.count(ev.SpeechEnded)) == (1, 1)


def test_a_key_that_got_stuck_comes_up() -> None:
    key = Key()
    key.down(*[sound(1)] * (LONGEST_MS // 20))
    assert key.gate.held
    key.feed(*[sound(1)] * 10)
    assert not key.gate.held
    assert key.count(ev.SpeechEnded) == 1


def test_whoever_is_gone_holds_no_key() -> None:
    key = Key(service_ends_turns=False)
    key.down(*LONG)
    assert [type(event) for event in key.gate.absent(key.at)] == [ev.SpeechEnded]
    assert key.gate.absent(key.at) == ()
    assert not key.gate.holding
    assert not key.gate.open
    assert not key.gate.speaking


_MOVES = st.lists(
    st.tuples(st.sampled_from(["down", "up", "gone", "wait"]), st.integers(0, 30), st.booleans()),
    max_size=30,
)


@settings(max_examples=150, deadline=None)
@given(_MOVES, st.booleans(), st.booleans())
@example([("down", 13, True), ("gone", 1, True), ("down", 13, True)], True, True)
def test_every_start_has_its_end_and_no_block_leaves_twice(
    moves: list[tuple[str, int, bool]], service_ends: bool, talks: bool
) -> None:
    """T6, for any key and any sound, with the open microphone in between."""
    key, number = Key(service_ends_turns=service_ends), 0
    open_now = 0
    for move, blocks, loud in moves:
        key.ear.says = 1.0 if talks and loud else 0.0
        if move == "gone":
            key.events += key.gate.absent(key.at)
        elif move != "wait":
            key.gate.hold(move == "down")
        for _ in range(blocks):
            number += 1
            key.feed(sound(number) if loud else sound(number, level=0))
    key.ear.says = 0.0
    key.up(*[ZERO] * 100)
    for event in key.events:
        if isinstance(event, ev.SpeechStarted | ev.SpeechEnded):
            open_now += 1 if isinstance(event, ev.SpeechStarted) else -1
            assert open_now in (0, 1)
    assert open_now == 0
    sent = [number for number in key.numbers if number]
    assert sent == sorted(set(sent))


@settings(max_examples=150, deadline=None)
@given(_MOVES, st.lists(st.sampled_from(["type", "reply", "play", "done", "drain"]), max_size=30))
def test_keys_typing_and_replies_in_any_order_end_in_quiet(
    moves: list[tuple[str, int, bool]], others: list[str]
) -> None:
    """The gate's events and the machine together, as a lesson wires them: nothing stays hushed,
    every turn ends once."""
    key, turns = Key(), Turns()
    made: dict[str, Callable[[float], ev.TurnEvent]] = {
        "type": lambda at: ev.Typed(at, "typed", "r"),
        "reply": lambda at: ev.TutorAudioArrived(at, 400),
        "play": lambda at: ev.PlayoutStarted(at),
        "done": lambda at: ev.TurnCompleted(at),
        "drain": lambda at: ev.PlayoutDrained(at),
    }
    out: list[ev.Effect] = []
    todo = list(others)
    for move, blocks, loud in moves:
        if move in ("down", "up"):
            key.gate.hold(move == "down")
            if move == "up":
                out += turns.handle(ev.HoldReleased(key.at))
            elif turns.claimable:
                out += turns.handle(ev.HoldClaimed(key.at))
        for _ in range(blocks):
            before = len(key.events)
            key.feed(sound(1) if loud else ZERO)
            for event in key.events[before:]:
                out += turns.handle(event)
        if todo:
            out += turns.handle(made[todo.pop()](key.at))
    out += turns.handle(ev.HoldReleased(key.at))
    before = len(key.events)
    key.up(*[ZERO] * 100)
    for event in key.events[before:]:
        out += turns.handle(event)
    at = key.at
    while (due := turns.next_deadline()) is not None:
        at = max(at, due)
        out += turns.handle(ev.TimePassed(at))
    assert turns.state is State.IDLE
    ended = [e.turn_id for e in out if isinstance(e, ev.FinishTurn | ev.DropReply)]
    assert ended == [f"t{n + 1}" for n in range(turns.opened)]
    silent = False
    for effect in out:
        if isinstance(effect, ev.Pause):
            silent = True
        elif isinstance(effect, ev.Resume | ev.Flush | ev.BeginReply):
            silent = False
    assert not silent


def test_a_hold_is_fed_only_while_it_is_active() -> None:
    hold = Hold()
    assert hold.feed(sound(1), 1.0) is Passage.SHUT
    hold.press()
    hold.press()
    assert hold.pending
    hold.release()
    hold.release()
    assert not hold.active
