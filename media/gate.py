"""What of the microphone may leave for the Live service, and when somebody speaks.

Forwards nothing in silence; at an opening the pre-roll comes first, sample-exact and never twice;
after speech it stays open long enough for the service to notice the end. It never ends a turn
(VOICE-32), except in its own-turns mode, where it brackets the activity. No I/O; time is that of
the blocks.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Literal

import numpy as np

from media.echo import Echo, Hearing
from media.endpoint import Endpoint
from media.ptt import TAIL_MS, Hold, Passage
from media.room import Room
from media.turn_events import SpeechEnded, SpeechEvidence, SpeechStarted
from media.utterance import ADMITTED, BLOCK_MS, SpeechEvent, Threshold, Utterances
from media.vad import SpeechDetector, VadReading

__all__ = ["Evidence", "Gate", "GateEvent", "GateSettings", "GateStep", "Threshold"]

BLOCK_BYTES = 640
SILENCE = bytes(BLOCK_BYTES)
# On top of the service's silence duration, for the lag of its own detector (RTC-8).
MARGIN_MS = 500
# A warm block is a sign only above -45 dBFS.
LOUD = 32768 * 10 ** (-45 / 20)
# The meter: -60 dBFS is 0, -10 dBFS is 1; it falls by a fifth a block.
METER_FLOOR_DB, METER_TOP_DB, METER_FALL = -60.0, -10.0, 0.8
# One window of stage 2 this sure counts for two.
STRONG = 0.85
# Thresholds: usually, and with music or people in the background; over the tutor; and while the
# tutor is heard and nobody knows yet whether their voice comes back.
QUIET = Threshold(speech=0.5, sure_ms=40, signs_ms=40)
CERTAIN = Threshold(speech=STRONG, sure_ms=20, signs_ms=40)
RESTLESS = Threshold(speech=0.8, sure_ms=60, signs_ms=60)
OVER_TUTOR = Threshold(speech=0.6, sure_ms=40, signs_ms=60)
UNSURE = Threshold(speech=0.6, sure_ms=200, signs_ms=320, evidence_ms=260)
LIKELY = Threshold(speech=0.6, sure_ms=360, signs_ms=560, evidence_ms=360)
_DOUBTS = {Hearing.UNSURE: UNSURE, Hearing.LIKELY: LIKELY}
# Most that may wait at the gate on top of the pre-roll, while a cough over the tutor is ruled out.
WAITING_MS = 600

Evidence = SpeechEvidence
GateEvent = SpeechEvent
Mode = Literal["open", "ptt"]


@dataclass(frozen=True, slots=True)
class GateSettings:
    """`trailing_ms`: forwarded after the last voiced block (the service's silence + margin).

    `hangover_ms`: unvoiced time until `SpeechEnded`; `brief_hangover_ms` while the tutor speaks.
    `service_ends_turns=False` (`liveVadEnabled:false`): the gate shuts with `SpeechEnded`, which
    is then the end of the learner's turn, after a silence that `Endpoint` makes of `hangover_ms`.
    `admit_ms`: in own-turns mode so much voice over the tutor opens the gate; a cough is shorter.
    """

    mode: Mode = "open"
    preroll_ms: int = 400
    trailing_ms: int = 1500
    hangover_ms: int = 500
    brief_hangover_ms: int = 200
    sustained_ms: int = 500
    admit_ms: int = 240
    still_speech: float = 0.35
    warm: float = 0.5
    quiet: Threshold = QUIET
    over_tutor: Threshold = OVER_TUTOR
    service_ends_turns: bool = True


@dataclass(frozen=True, slots=True)
class GateStep:
    """`forward`: PCM16 16 kHz to send now, after what the events cause (nothing follows an end);
    `level` 0..1 for the meter; `open` after this block. `activity`, own-turns mode only: True
    begins the service's activity before `forward`, False ends it after.
    """

    forward: bytes
    events: tuple[GateEvent, ...]
    level: float
    open: bool
    activity: bool | None = None


class Gate:
    """One microphone. Every 20 ms block, silence included, goes through `feed`."""

    def __init__(self, vad: SpeechDetector, settings: GateSettings | None = None) -> None:
        self._vad = vad
        self.settings = settings or GateSettings()
        kept_ms = self.settings.preroll_ms + WAITING_MS
        self._before: deque[bytes] = deque(maxlen=kept_ms // BLOCK_MS)
        self._speech = Utterances()
        self._room = Room()
        self._echo = Echo()
        self.endpoint = Endpoint(self.settings.hangover_ms)
        self._open = False
        self._waiting = 0  # blocks since speech became certain
        self._trailing_ms = 0
        self._echoed = False
        self._over_tutor = False
        self._hold = Hold()
        # After a hold the service hears silence, whatever the room does, until somebody speaks.
        self._muffled = self.settings.mode == "ptt"
        self._hangover = self.settings.hangover_ms
        self._level = 0.0

    @property
    def open(self) -> bool:
        return self._open

    @property
    def speaking(self) -> bool:
        return self._speech.certain

    @property
    def echo_delay_ms(self) -> int | None:
        """How late the tutor's own voice comes back; None while it does not."""
        return self._echo.delay_ms

    def set_tutor_speaking(self, speaking: bool) -> None:
        """Over the tutor's voice more evidence is needed: it may be an echo."""
        self._over_tutor = speaking

    def played(self, pcm24k: bytes, at: float) -> None:
        """20 ms (PCM16 mono 24 kHz) that leave for the learner at `at`, as ducked or faded.

        Raises ValueError on another length.
        """
        self._echo.played(pcm24k, at)

    def thinking(self, seconds: float) -> None:
        """Own-turns mode: in the learner's next turn a silence of `seconds` may be thought."""
        self.endpoint.thinking(seconds)

    @property
    def held(self) -> bool:
        """Push-to-talk: a key is down."""
        return self._hold.down

    @property
    def holding(self) -> bool:
        """A key is down, or what was said in its hold is not all through."""
        return self._hold.active

    @property
    def lag_ms(self) -> int:
        """From the end of what was said last to its `SpeechEnded`."""
        return TAIL_MS if self._muffled else self._hangover

    def hold(self, down: bool) -> None:
        """Push-to-talk. While it is down energy admits, then tails and pauses pass (OWN-32); speech
        that was heard in the open goes on in it. In ptt mode nothing from before is sent."""
        if not down:
            self._hold.release()
        elif not self._hold.down:
            if self.settings.mode == "ptt":
                self._before.clear()
            self._hold.press(adopt=self._speech.certain)

    def absent(self, at: float) -> tuple[GateEvent, ...]:
        """Nobody is on the line and no block will come: what was begun ends now."""
        self._hold.drop()
        events = tuple(self._speech.released(at))
        if events and not self.settings.service_ends_turns:
            self.endpoint.ended()
            self._open = False
        return events

    def feed(self, pcm20: bytes, at: float) -> GateStep:
        """One block that came at `at` (s, monotonic). Raises ValueError on another length."""
        if len(pcm20) != BLOCK_BYTES:
            raise ValueError(f"a block has {BLOCK_BYTES} bytes, not {len(pcm20)}")
        rms = _rms(pcm20)
        self._level = max(_level(rms), self._level * METER_FALL)
        was_open = self._open
        events = self._listen(pcm20, rms, at)
        if not self.settings.service_ends_turns:
            self._watch_turn(events)
        forward = self._forward(pcm20, opening=SpeechStarted in map(type, events))
        if self._open and self._may_shut():
            self._open = False
        level = round(self._level, 3)
        if self.settings.service_ends_turns or was_open is self._open:
            return GateStep(forward, tuple(events), level, self._open)
        return GateStep(forward, tuple(events), level, self._open, self._open)

    # --- speech ----------------------------------------------------------------------------------

    def _listen(self, pcm20: bytes, rms: float, at: float) -> list[GateEvent]:
        settings, speech = self.settings, self._speech
        if settings.mode == "ptt" or self._hold.active:
            self._echoed = False
            return self._listen_held(pcm20, at)
        reading = self._vad.feed(pcm20)
        warm = reading.stage1 >= settings.warm
        self._room.hear(rms, reading.speech, warm=warm and not speech.certain)
        sign = warm and rms >= LOUD
        voice = sign or reading.speech >= settings.still_speech
        hearing = self._echo.hear(pcm20, at, voice=voice)
        self._echoed = hearing is Hearing.ECHO
        if self._echoed and not speech.certain:
            return speech.released(at)  # what looked like signs was the tutor
        if self._echoed or not self._room.admits(rms, going_on=speech.certain):
            return self._unvoiced(at)
        need = self._needed(reading, hearing)
        if reading.speech >= (settings.still_speech if speech.certain else need.speech):
            if speech.certain:
                self._room.learner(rms)
            return speech.voiced(at, need, settings.sustained_ms)
        if sign and not speech.certain:
            return speech.hinted(at, need)
        return self._unvoiced(at)

    def _needed(self, reading: VadReading, hearing: Hearing) -> Threshold:
        settings = self.settings
        if hearing in _DOUBTS:
            return _DOUBTS[hearing]
        if self._over_tutor or hearing is Hearing.OWN:
            return settings.over_tutor
        if self._room.restless:
            return RESTLESS
        return CERTAIN if reading.speech >= STRONG else settings.quiet

    def _unvoiced(self, at: float) -> list[GateEvent]:
        settings = self.settings
        if self._over_tutor and (settings.service_ends_turns or not self._speech.sustained):
            self._hangover = settings.brief_hangover_ms
        elif settings.service_ends_turns:
            self._hangover = settings.hangover_ms
        else:
            self._hangover = self.endpoint.hangover_ms
        return self._speech.unvoiced(at, self._hangover)

    def _watch_turn(self, events: list[GateEvent]) -> None:
        """Own-turns mode: what the end of the turn depends on."""
        if SpeechStarted in map(type, events):
            self.endpoint.started()
        if self._speech.certain:
            self.endpoint.hear(voiced=self._speech.voiced_now)
        if SpeechEnded in map(type, events):
            self.endpoint.ended()
            self._open = False

    def _listen_held(self, pcm20: bytes, at: float) -> list[GateEvent]:
        """The hold says what passes; the detector is not asked."""
        hold, speech = self._hold, self._speech
        match hold.feed(pcm20, at):
            case Passage.OPENS:
                return speech.admitted(at, hold.onset)
            case Passage.OPEN:
                return speech.voiced(at, ADMITTED, self.settings.sustained_ms)
            case Passage.ENDS:
                self._muffled = True
                return speech.released(at)
            case Passage.SHUT:
                return []

    # --- admission -------------------------------------------------------------------------------

    def _forward(self, pcm20: bytes, *, opening: bool) -> bytes:
        forward = b""
        if opening:
            self._waiting = 0
        if self._speech.certain and (opening or not self._open) and self._may_open():
            self._open = True
            kept = self.settings.preroll_ms // BLOCK_MS + self._waiting
            forward = b"".join(list(self._before)[-kept:])
            self._before.clear()
        self._waiting += 1
        if not self._open or self._hold.pending:
            # Only what has not been forwarded: a pre-roll never repeats a sample.
            self._before.append(pcm20)
        else:
            self._before.clear()
        if not self._open:
            return b""
        if self._speech.voiced_now:
            self._trailing_ms = 0
            self._muffled = self.settings.mode == "ptt"
        else:
            self._trailing_ms += BLOCK_MS
            if self._muffled or self._echoed or self._hold.pending:
                pcm20 = SILENCE
        return forward + pcm20

    def _may_open(self) -> bool:
        """The service drops its reply when an activity begins: not for a cough."""
        settings = self.settings
        if settings.service_ends_turns or not self._over_tutor or self._hold.active:
            return True
        return self._speech.voiced_ms >= settings.admit_ms

    def _may_shut(self) -> bool:
        if not self.settings.service_ends_turns:
            return False
        enough = self._trailing_ms >= self.settings.trailing_ms + MARGIN_MS
        return enough and not self._speech.certain


def _samples(pcm: bytes) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.frombuffer(pcm, "<i2").astype(np.float32)


def _rms(pcm: bytes) -> float:
    if not any(pcm):
        return 0.0
    samples = _samples(pcm)
    return math.sqrt(float(np.dot(samples, samples)) / len(samples))


def _level(rms: float) -> float:
    if rms < 1.0:
        return 0.0
    db = 20 * math.log10(rms / 32768)
    return min(1.0, max(0.0, (db - METER_FLOOR_DB) / (METER_TOP_DB - METER_FLOOR_DB)))
