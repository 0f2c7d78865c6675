"""What of the microphone may leave for the Live service, and when somebody speaks.

Forwards nothing in silence; at an opening the pre-roll comes first, sample-exact and never twice;
after speech it stays open long enough for the service to notice the end. It never ends a turn
(VOICE-32), except in its own-turns mode, where its events bracket the activity. No I/O; time is
that of the blocks.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Literal

import numpy as np

from media.ptt import TAIL_MS, Hold, Passage
from media.turn_events import SpeechEnded, SpeechEvidence, SpeechStarted, SpeechSustained
from media.vad import SpeechDetector

BLOCK_MS = 20
BLOCK_BYTES = 640
SILENCE = bytes(BLOCK_BYTES)
# On top of the service's silence duration, for the lag of its own detector (RTC-8).
MARGIN_MS = 200
# A sign comes this much after the voice began (median of stage 1).
ONSET_LAG_MS = 40
# A warm block is a sign only above -45 dBFS.
LOUD = 32768 * 10 ** (-45 / 20)
# The meter: -60 dBFS is 0, -10 dBFS is 1; it falls by a fifth a block.
METER_FLOOR_DB, METER_TOP_DB, METER_FALL = -60.0, -10.0, 0.8

Evidence = SpeechEvidence
GateEvent = SpeechEvidence | SpeechStarted | SpeechSustained | SpeechEnded
Mode = Literal["open", "ptt"]


@dataclass(frozen=True, slots=True)
class Threshold:
    """When speech is certain: `sure_ms` voiced by stage 2 at `speech`, and `signs_ms` of signs
    (a block that is sure, or that stage 1 finds warm and loud). The first sign is evidence."""

    speech: float
    sure_ms: int
    signs_ms: int


@dataclass(frozen=True, slots=True)
class GateSettings:
    """`trailing_ms`: forwarded after the last voiced block (the service's silence + margin).

    `hangover_ms`: unvoiced time until `SpeechEnded`; `brief_hangover_ms` while the tutor speaks.
    `service_ends_turns=False` (`liveVadEnabled:false`): the gate shuts with `SpeechEnded`, whose
    hang-over is then the end of the learner's turn.
    """

    mode: Mode = "open"
    preroll_ms: int = 400
    trailing_ms: int = 1500
    hangover_ms: int = 500
    brief_hangover_ms: int = 200
    sustained_ms: int = 500
    still_speech: float = 0.35
    warm: float = 0.5
    quiet: Threshold = Threshold(speech=0.5, sure_ms=40, signs_ms=40)
    over_tutor: Threshold = Threshold(speech=0.6, sure_ms=40, signs_ms=60)
    service_ends_turns: bool = True


@dataclass(frozen=True, slots=True)
class GateStep:
    """`forward`: PCM16 16 kHz to send now, after what the events cause (own-turns mode: activity
    start before it; nothing follows an end); `level` 0..1 for the meter; `open` after this block.
    """

    forward: bytes
    events: tuple[GateEvent, ...]
    level: float
    open: bool


class Gate:
    """One microphone. Every 20 ms block, silence included, goes through `feed`."""

    def __init__(self, vad: SpeechDetector, settings: GateSettings | None = None) -> None:
        self._vad = vad
        self.settings = settings or GateSettings()
        self._before: deque[bytes] = deque(maxlen=self.settings.preroll_ms // BLOCK_MS)
        self._speech = _Speech()
        self._open = False
        self._trailing_ms = 0
        self._over_tutor = False
        self._hold = Hold()
        # After a hold the service hears silence, whatever the room does, until somebody speaks.
        self._muffled = self.settings.mode == "ptt"
        self._level = 0.0

    @property
    def open(self) -> bool:
        return self._open

    @property
    def speaking(self) -> bool:
        return self._speech.certain

    def set_tutor_speaking(self, speaking: bool) -> None:
        """Over the tutor's voice more evidence is needed: it may be an echo."""
        self._over_tutor = speaking

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
        return TAIL_MS if self._muffled else self.settings.hangover_ms

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
            self._open = False
        return events

    def feed(self, pcm20: bytes, at: float) -> GateStep:
        """One block that begins at `at` (s, monotonic). Raises ValueError on another length."""
        if len(pcm20) != BLOCK_BYTES:
            raise ValueError(f"a block has {BLOCK_BYTES} bytes, not {len(pcm20)}")
        rms = _rms(pcm20)
        self._level = max(_level(rms), self._level * METER_FALL)
        events = self._listen(pcm20, rms, at)
        if not self.settings.service_ends_turns and SpeechEnded in map(type, events):
            self._open = False
        forward = self._forward(pcm20, opening=SpeechStarted in map(type, events))
        if self._open and self._may_shut():
            self._open = False
        return GateStep(forward, tuple(events), round(self._level, 3), self._open)

    # --- speech ----------------------------------------------------------------------------------

    def _listen(self, pcm20: bytes, rms: float, at: float) -> list[GateEvent]:
        settings, speech = self.settings, self._speech
        if settings.mode == "ptt" or self._hold.active:
            return self._listen_held(pcm20, at)
        need = settings.over_tutor if self._over_tutor else settings.quiet
        bar = settings.still_speech if speech.certain else need.speech
        reading = self._vad.feed(pcm20)
        if reading.speech >= bar:
            return speech.voiced(at, need, settings.sustained_ms)
        if not speech.certain and reading.stage1 >= settings.warm and rms >= LOUD:
            return speech.hinted(at)
        brief = self._over_tutor and settings.service_ends_turns
        return speech.unvoiced(at, settings.brief_hangover_ms if brief else settings.hangover_ms)

    def _listen_held(self, pcm20: bytes, at: float) -> list[GateEvent]:
        """The hold says what passes; the detector is not asked."""
        hold, speech = self._hold, self._speech
        match hold.feed(pcm20, at):
            case Passage.OPENS:
                return speech.admitted(at, hold.onset)
            case Passage.OPEN:
                return speech.voiced(at, _ADMITTED, self.settings.sustained_ms)
            case Passage.ENDS:
                self._muffled = True
                return speech.released(at)
            case Passage.SHUT:
                return []

    # --- admission -------------------------------------------------------------------------------

    def _forward(self, pcm20: bytes, *, opening: bool) -> bytes:
        forward = b""
        if opening:
            self._open = True
            forward = b"".join(self._before)
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
            if self._muffled or self._hold.pending:
                pcm20 = SILENCE
        return forward + pcm20

    def _may_shut(self) -> bool:
        if not self.settings.service_ends_turns:
            return False
        enough = self._trailing_ms >= self.settings.trailing_ms + MARGIN_MS
        return enough and not self._speech.certain


_ADMITTED = Threshold(speech=0.0, sure_ms=BLOCK_MS, signs_ms=BLOCK_MS)


class _Speech:
    """Blocks to stretches of speech; a stretch ends by the clock, whatever the blocks bring."""

    def __init__(self) -> None:
        self.certain = False
        self.voiced_now = False
        self._voiced_ms = 0
        self._signs_ms = 0
        self._sustained = False
        self._onset = 0.0
        self._last_voiced = 0.0

    def hinted(self, at: float) -> list[GateEvent]:
        """A sign that is not sure: it shortens the way to certainty, and is evidence."""
        first = not self._signs_ms
        if first:
            self._onset = at - ONSET_LAG_MS / 1000
        self._signs_ms += BLOCK_MS
        self._voiced_ms = max(0, self._voiced_ms - BLOCK_MS)
        return [SpeechEvidence(at)] if first else []

    def voiced(self, at: float, need: Threshold, sustained_ms: int) -> list[GateEvent]:
        voiced_ms = self._voiced_ms + BLOCK_MS
        events = self.hinted(at)
        self.voiced_now = True
        self._voiced_ms = voiced_ms
        self._last_voiced = at + BLOCK_MS / 1000
        if not self.certain and voiced_ms >= need.sure_ms and self._signs_ms >= need.signs_ms:
            self.certain = True
            events.append(SpeechStarted(at, self._onset))
        if self.certain and not self._sustained and self._voiced_ms >= sustained_ms:
            self._sustained = True
            events.append(SpeechSustained(at))
        return events

    def admitted(self, at: float, onset: float) -> list[GateEvent]:
        """Certain by decree: a hold was admitted."""
        self._clear()
        events = self.voiced(at, _ADMITTED, BLOCK_MS + 1)
        self._onset = onset
        return [*events[:-1], SpeechStarted(at, onset)]

    def unvoiced(self, at: float, hangover_ms: int) -> list[GateEvent]:
        self.voiced_now = False
        if self.certain:
            if round((at - self._last_voiced) * 1000) >= hangover_ms:
                return self.released(at)
        else:
            # Uncertain: every block without a sign takes back what one with it gave.
            self._voiced_ms = max(0, self._voiced_ms - BLOCK_MS)
            self._signs_ms = max(0, self._signs_ms - BLOCK_MS)
        return []

    def released(self, at: float) -> list[GateEvent]:
        was_certain = self.certain
        self._clear()
        return [SpeechEnded(at)] if was_certain else []

    def _clear(self) -> None:
        self.certain = self.voiced_now = self._sustained = False
        self._voiced_ms = self._signs_ms = 0


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
