"""What of the microphone may leave for the Live service, and when somebody speaks.

Forwards nothing in silence; at an opening the pre-roll comes first, sample-exact and never twice;
after speech it stays open long enough for the service to notice the end. It never ends a turn
(VOICE-32), except in its own-turns mode, where it brackets the activity. No I/O; time is that of
the blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

from media.doorway import BLOCK_BYTES, SILENCE, Doorway
from media.doubt import Doubt
from media.echo import Echo, Hearing
from media.endpoint import Endpoint
from media.gate_settings import (
    CERTAIN,
    CROWD_LEAD_MS,
    DOUBTS,
    FAINT,
    LINGER_MS,
    LOUD,
    MARGIN_MS,
    RESTLESS,
    STRONG,
    GateSettings,
)
from media.meter import Meter, rms
from media.ptt import TAIL_MS, Hold, Passage
from media.room import Room
from media.turn_events import SpeechEnded, SpeechEvidence, SpeechStarted
from media.utterance import ADMITTED, SpeechEvent, Threshold, Utterances
from media.vad import SpeechDetector, VadReading

__all__ = ["BLOCK_BYTES", "MARGIN_MS", "Evidence", "Gate", "GateEvent", "GateSettings", "GateStep"]

# So much digital silence with nothing going on, and the gate rests: 3 s is longer than any memory
# of the room, the detector and the pre-roll.
REST_BLOCKS = 150

Evidence = SpeechEvidence
GateEvent = SpeechEvent


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
        self._doorway = Doorway(self.settings.preroll_ms)
        self._speech = Utterances()
        self._room = Room()
        self._echo = Echo()
        self._meter = Meter()
        self.endpoint = Endpoint(self.settings.hangover_ms)
        self._echoed = False
        self._over_tutor = False
        self._doubt = Doubt()
        self._hold = Hold()
        # After a hold the service hears silence, whatever the room does, until somebody speaks.
        self._muffled = self.settings.mode == "ptt"
        self._hangover = self.settings.hangover_ms
        self._still = 0  # blocks of digital silence in a row

    @property
    def open(self) -> bool:
        return self._doorway.open

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
                self._doorway.forget()
            self._hold.press(adopt=self._speech.certain)

    def absent(self, at: float) -> tuple[GateEvent, ...]:
        """Nobody is on the line and no block will come: what was begun ends now."""
        self._hold.drop()
        events = tuple(self._speech.released(at))
        if events and not self.settings.service_ends_turns:
            self.endpoint.ended()
            self._doorway.shut()
        return events

    def feed(self, pcm20: bytes, at: float) -> GateStep:
        """One block that came at `at` (s, monotonic). Raises ValueError on another length."""
        if len(pcm20) != BLOCK_BYTES:
            raise ValueError(f"a block has {BLOCK_BYTES} bytes, not {len(pcm20)}")
        if pcm20 != SILENCE:
            self._still = 0
        elif self._rests(at):
            return _RESTING
        return self._step(pcm20, at)

    def _rests(self, at: float) -> bool:
        """Nobody has been there for a while, and nothing is going on that time must end."""
        self._still += 1
        if self._still <= REST_BLOCKS or self._doorway.open or self._speech.certain:
            return False
        if self._hold.active or not self._meter.still:
            return False
        if self._still == REST_BLOCKS + 1:
            self._room.empty()
        self._echo.hear(SILENCE, at, voice=False)
        return True

    def _step(self, pcm20: bytes, at: float) -> GateStep:
        loudness = rms(pcm20)
        self._meter.hear(loudness)
        was_open = self._doorway.open
        events = self._listen(pcm20, loudness, at)
        if not self.settings.service_ends_turns:
            self._watch_turn(events)
        began = next((event for event in events if isinstance(event, SpeechStarted)), None)
        if began is not None:
            self._doorway.speech_began(self._lead_ms(at - self._doubt.first(began.onset)))
        forward = self._forward(pcm20, opening=began is not None)
        if self._doorway.open and self._may_shut():
            self._doorway.shut()
        is_open, level = self._doorway.open, round(self._meter.level, 3)
        if self.settings.service_ends_turns or was_open is is_open:
            return GateStep(forward, tuple(events), level, is_open)
        return GateStep(forward, tuple(events), level, is_open, is_open)

    # --- speech ----------------------------------------------------------------------------------

    def _listen(self, pcm20: bytes, loudness: float, at: float) -> list[GateEvent]:
        settings, speech = self.settings, self._speech
        if settings.mode == "ptt" or self._hold.active:
            self._echoed = False
            return self._listen_held(pcm20, at)
        reading = self._vad.feed(pcm20)
        warm = reading.stage1 >= settings.warm
        self._room.hear(loudness, reading.speech, warm=warm, certain=speech.certain)
        sign = warm and loudness >= LOUD
        voice = sign or reading.speech >= settings.still_speech
        hearing = self._echo.hear(pcm20, at, voice=voice)
        self._echoed = hearing is Hearing.ECHO
        self._doubt.heard(at, hearing, voice=voice)
        if self._echoed and not speech.certain:
            return speech.released(at)  # what looked like signs was the tutor
        if self._echoed:
            return self._unvoiced(at)
        if not self._room.admits(loudness, going_on=speech.certain):
            if voice:
                self._room.refused(loudness)
            return self._unvoiced(at)
        need = self._needed(reading, hearing, loudness)
        if reading.speech >= (settings.still_speech if speech.certain else need.speech):
            if speech.certain:
                self._room.learner(loudness)
            return speech.voiced(at, need, settings.sustained_ms)
        if sign and not speech.certain:
            return speech.hinted(at, need)
        return self._unvoiced(at)

    def _needed(self, reading: VadReading, hearing: Hearing, loudness: float) -> Threshold:
        settings = self.settings
        if hearing in DOUBTS:
            return DOUBTS[hearing]
        if self._over_tutor or hearing is Hearing.OWN:
            return settings.over_tutor
        if self._room.faint(loudness):
            return FAINT
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
            self._doorway.shut()

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
                return speech.released(at)  # a sign from the open is none of the hold's

    # --- admission -------------------------------------------------------------------------------

    def _forward(self, pcm20: bytes, *, opening: bool) -> bytes:
        doorway, speech, pending = self._doorway, self._speech, self._hold.pending
        kept = b""
        if speech.certain and (opening or not doorway.open) and self._may_open():
            kept = doorway.admit()
        voiced = speech.voiced_now
        if voiced and doorway.open:
            self._muffled = self.settings.mode == "ptt"
        # A word that sinks into the echo for a moment is a word.
        echoed = self._echoed and not (speech.certain and doorway.trailing_ms < LINGER_MS)
        silenced = self._muffled or echoed or pending
        return kept + doorway.take(
            pcm20, voiced=voiced, silenced=silenced, kept=pending, echoed=echoed
        )

    def _lead_ms(self, since_s: float) -> float:
        """How far the pre-roll reaches back beyond the usual, counted from the onset."""
        if self._hold.active:
            return 0.0  # its onset is known; what was before is not asked for
        return since_s * 1000 + (CROWD_LEAD_MS if self._room.crowded else 0)

    def _may_open(self) -> bool:
        """The service drops its reply when an activity begins: not for a cough."""
        settings = self.settings
        if settings.service_ends_turns or not self._over_tutor or self._hold.active:
            return True
        return self._speech.voiced_ms >= settings.admit_ms

    def _may_shut(self) -> bool:
        if not self.settings.service_ends_turns:
            return False
        enough = self._doorway.trailing_ms >= self.settings.trailing_ms + MARGIN_MS
        return enough and not self._speech.certain


_RESTING = GateStep(b"", (), 0.0, False)
