"""A gate with a key: energy decides, not the detector."""

from __future__ import annotations

import numpy as np
import pytest

from media.doorway import Doorway
from media.gate import BLOCK_BYTES, MARGIN_MS, Gate, GateSettings
from media.ptt import TAIL_MS
from media.turn_events import SpeechEnded, SpeechEvidence, SpeechStarted
from tests.media.ears import Told, block, loud_block

ZERO = bytes(BLOCK_BYTES)


def held(gate: Gate, blocks: list[bytes]) -> tuple[bytes, list[object]]:
    sent, events = b"", []
    for n, pcm in enumerate(blocks):
        step = gate.feed(pcm, n * 0.02)
        sent += step.forward
        events += step.events
    return sent, events


def test_nothing_passes_unless_held() -> None:
    gate = Gate(Told(), GateSettings(mode="ptt"))
    sent, events = held(gate, [loud_block(n) for n in range(100)])
    assert (sent, events) == (b"", [])


@pytest.mark.req("OWN-33")
def test_an_empty_hold_sends_nothing() -> None:
    gate = Gate(Told(), GateSettings(mode="ptt"))
    gate.hold(True)
    sent, events = held(gate, [ZERO] * 50)
    gate.hold(False)
    assert held(gate, [ZERO] * 50) == (b"", [])
    assert (sent, events) == (b"", [])


@pytest.mark.req("OWN-31", "OWN-32", "RTC-9")
def test_a_hold_sends_from_its_pre_roll_to_the_release_then_silence() -> None:
    gate = Gate(Told(), GateSettings(mode="ptt", trailing_ms=100))
    held(gate, [loud_block(n) for n in range(30)])
    gate.hold(True)
    quiet, voice = [ZERO] * 5, [loud_block(n) for n in range(10)]
    sent, events = held(gate, [*quiet, *voice, *quiet])
    assert sent == b"".join([*quiet, *voice, *quiet])
    assert [type(e) for e in events] == [SpeechEvidence, SpeechStarted]
    gate.hold(False)
    sent, events = held(gate, voice * 5)
    assert [type(e) for e in events] == [SpeechEnded]
    tail = TAIL_MS // 20
    assert sent == b"".join(voice[:tail]) + ZERO * ((100 + MARGIN_MS) // 20)


def test_the_tutors_own_voice_in_the_pre_roll_is_silence() -> None:
    """A service that heard it would say at once that it was interrupted."""
    doorway = Doorway(400)
    for n in range(40):
        doorway.take(block(n, 90), voiced=False, silenced=False, kept=False, echoed=n < 38)
    doorway.speech_began(60)
    sent = doorway.admit()
    numbers = [int(np.frombuffer(sent[s : s + 2], "<i2")[0]) for s in range(0, len(sent), 640)]
    assert numbers == [0] * 14 + list(range(34, 40))
