"""The reply on its way to the learner's ear: a queue of PCM with a ledger of its words.

Hands out one 20 ms block per pull; ducks, pauses, resumes and flushes without clicks; knows what
was heard. No asyncio, no clock of its own (time comes with `pull`), no network.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from media.ledger import Ledger

RATE = 24_000
BLOCK_MS = 20
BLOCK_BYTES = RATE * BLOCK_MS // 1000 * 2
BYTES_PER_MS = RATE * 2 // 1000
# Newest audio is refused beyond this much unplayed audio, and counted.
QUEUE_MS = 600_000
# After a real underrun within a reply so much must be there before it goes on.
REBUFFER_MS = 60
# A rest shorter than a block is played after so many pulls without news.
REST_PULLS = 5
FADE_SAMPLES = RATE * 5 // 1000
DUCKED_GAIN = 10 ** (-15 / 20)
# A ducked voice comes back over five blocks (100 ms); it goes down within one.
RISE_PER_BLOCK = (1.0 - DUCKED_GAIN) / 5
# Replies kept for replay.
KEPT_REPLIES = 3
KEPT_BYTES = 60_000 * BYTES_PER_MS
# Below -50 dBFS nobody hears a voice (GENAI facts: replies at near-zero amplitude occur).
AUDIBLE_RMS = 32768 * 10 ** (-50 / 20)

_FADE_IN = np.linspace(0.0, 1.0, FADE_SAMPLES, dtype=np.float32)
_FADE_OUT = _FADE_IN[::-1].copy()


@dataclass(frozen=True, slots=True)
class Heard:
    """What the learner heard of a reply and what not; ms of its audio."""

    text: str
    unheard: str
    played_ms: float
    total_ms: float


@dataclass(frozen=True, slots=True)
class PlayoutStats:
    queued_ms: float
    refused_ms: float
    underruns: int
    flushes: int


@dataclass(slots=True)
class _Sound:
    """One reply: everything received, how far it has been played, its words."""

    turn_id: str
    pcm: bytearray = field(default_factory=bytearray)
    received: int = 0
    played: int = 0
    complete: bool = False
    ledger: Ledger = field(default_factory=Ledger)
    loudest: float = 0.0

    def add(self, pcm: bytes) -> None:
        fresh = self.received & ~1
        self.pcm += pcm
        self.received += len(pcm)
        self.complete = False
        samples = np.frombuffer(bytes(self.pcm[fresh : self.received & ~1]), "<i2")
        if len(samples):
            rms = float(np.sqrt(np.mean(np.square(samples, dtype=np.float32))))
            self.loudest = max(self.loudest, rms)

    def left(self) -> int:
        return self.received - self.played

    def forget(self) -> None:
        """Drops the sound, keeps the account of it."""
        self.pcm = bytearray()

    def heard(self) -> Heard:
        # A half sample at the very end can never be played.
        total = (self.received & ~1) / BYTES_PER_MS
        played = self.played / BYTES_PER_MS
        text = self.ledger.heard(played, total, complete=self.complete)
        return Heard(text, self.ledger.text[len(text) :], played, total)


@dataclass(slots=True)
class _Flow:
    """How the sound leaves: level, standing still, gaps."""

    gain: float = 1.0
    target: float = 1.0
    paused: bool = False
    rising: bool = False
    sounding: bool = False
    starved: bool = False
    idle_pulls: int = 0

    def shape(self, raw: bytes, *, rising: bool) -> bytes:
        """One block at the present level; level changes are ramps, edges are faded."""
        rising = rising or self.rising
        self.rising = False
        block = raw.ljust(BLOCK_BYTES, b"\0")
        if self.gain == self.target == 1.0 and not rising:
            return block
        samples = np.frombuffer(block, "<i2").astype(np.float32)
        after = self.target if self.target < self.gain else self.gain + RISE_PER_BLOCK
        after = min(after, self.target)
        samples *= np.linspace(self.gain, after, len(samples), dtype=np.float32)
        self.gain = after
        if rising:
            samples[:FADE_SAMPLES] *= _FADE_IN
        return samples.astype("<i2").tobytes()


def _ignore(turn_id: str, at: float) -> None:
    """Nobody asked to be told."""


class Playout:
    """`on_started`/`on_drained` tell of each stretch of sound; a flush tells nobody."""

    def __init__(
        self,
        *,
        on_started: Callable[[str, float], None] = _ignore,
        on_drained: Callable[[str, float], None] = _ignore,
    ) -> None:
        self.on_started = on_started
        self.on_drained = on_drained
        self._sound: _Sound | None = None
        self._kept: OrderedDict[str, _Sound] = OrderedDict()
        self._flow = _Flow()
        self._tail: bytes | None = None
        self._refused = 0
        self._underruns = 0
        self._flushes = 0

    # --- what goes in ----------------------------------------------------------------------------

    def begin(self, turn_id: str) -> None:
        """A new reply; one that is still queued is dropped as by `flush`."""
        if self._sound is not None:
            self.flush()
        self._sound = _Sound(turn_id)
        self._flow = _Flow()

    def audio(self, pcm24k: bytes) -> None:
        """PCM16 mono 24 kHz of the current reply, any length; without one it is ignored."""
        sound = self._sound
        if sound is None:
            return
        room = max(0, QUEUE_MS * BYTES_PER_MS - sound.left())
        if len(pcm24k) > room:
            # Whole samples only, or everything after would be shifted by a byte.
            room += (len(pcm24k) - room) & 1
            self._refused += len(pcm24k) - room
            pcm24k = pcm24k[:room]
        sound.add(pcm24k)

    def text(self, delta: str) -> None:
        """Words of the current reply, before or after their audio."""
        if self._sound is not None:
            self._sound.ledger.add(delta, self._sound.received / BYTES_PER_MS)

    def complete(self) -> None:
        """No more audio is expected; audio that comes all the same reopens the reply."""
        if self._sound is not None:
            self._sound.complete = True

    # --- what comes out --------------------------------------------------------------------------

    def pull(self, at: float) -> bytes | None:
        """The next 960 bytes, or None: nothing to send."""
        if self._tail is not None:
            tail, self._tail = self._tail, None
            return tail
        sound, flow = self._sound, self._flow
        if sound is None or flow.paused:
            return None
        size = self._ready(sound)
        if not size:
            self._run_dry(sound, at)
            return None
        raw = bytes(sound.pcm[sound.played : sound.played + size])
        sound.played += size
        started = not flow.sounding
        block = flow.shape(raw, rising=started and sound.played > size)
        flow.sounding, flow.starved, flow.idle_pulls = True, False, 0
        if started:
            self.on_started(sound.turn_id, at)
        return block

    def _ready(self, sound: _Sound) -> int:
        """Bytes to play now: a whole block, or the padded rest of a finished reply."""
        left, flow = sound.left() & ~1, self._flow
        if sound.complete:
            return min(left, BLOCK_BYTES)
        if flow.starved and left < REBUFFER_MS * BYTES_PER_MS:
            flow.idle_pulls += 1
            return min(left, BLOCK_BYTES) if flow.idle_pulls > REST_PULLS else 0
        return BLOCK_BYTES if left >= BLOCK_BYTES else 0

    def _run_dry(self, sound: _Sound, at: float) -> None:
        flow = self._flow
        if not flow.sounding:
            return
        flow.sounding = False
        if not sound.complete:
            flow.starved = True
            self._underruns += 1
        self.on_drained(sound.turn_id, at)

    # --- the learner's voice ---------------------------------------------------------------------

    def duck(self) -> None:
        """-15 dB within one block."""
        self._flow.target = DUCKED_GAIN

    def unduck(self) -> None:
        self._flow.target = 1.0

    def pause(self) -> None:
        """Fades out within 5 ms and stands still; the faded samples will be played again."""
        if not self._flow.paused:
            self._flow.paused = True
            self._fade_away()

    def resume(self) -> None:
        """Goes on at the very sample where it was paused, at full level."""
        flow = self._flow
        if flow.paused:
            flow.paused, flow.rising = False, True
            flow.gain = flow.target = 1.0

    def flush(self) -> Heard:
        """Drops what has not been played; a block of fade-out is all that still goes out."""
        sound = self._sound
        if sound is None:
            return Heard("", "", 0.0, 0.0)
        if not self._flow.paused:
            self._fade_away()
        heard = sound.heard()
        if sound.left():
            self._flushes += 1
        self._keep(sound)
        self._sound, self._flow = None, _Flow()
        return heard

    def _fade_away(self) -> None:
        sound, flow = self._sound, self._flow
        if sound is None or not flow.sounding:
            return
        ahead = bytes(sound.pcm[sound.played : sound.played + FADE_SAMPLES * 2])
        ahead = ahead[: len(ahead) & ~1]
        if not ahead:
            return
        samples = np.frombuffer(ahead, "<i2").astype(np.float32)
        faded = samples * _FADE_OUT[-len(samples) :] * flow.gain
        self._tail = faded.astype("<i2").tobytes().ljust(BLOCK_BYTES, b"\0")

    # --- what was heard --------------------------------------------------------------------------

    @property
    def turn_id(self) -> str | None:
        return self._sound.turn_id if self._sound else None

    @property
    def playing(self) -> bool:
        """Something is left to be heard (also while paused)."""
        return self._sound is not None and self._sound.left() >= 2

    @property
    def audible(self) -> bool:
        """The current reply has had a chunk that a person would hear; true without audio."""
        sound = self._sound
        return sound is None or not sound.received or sound.loudest >= AUDIBLE_RMS

    def heard(self, turn_id: str | None = None) -> Heard:
        """Of the current reply, or of one of the last three by its turn."""
        sound = self._sound
        if turn_id is not None and (sound is None or sound.turn_id != turn_id):
            sound = self._kept.get(turn_id)
        return sound.heard() if sound else Heard("", "", 0.0, 0.0)

    def recording(self, turn_id: str) -> bytes | None:
        """PCM16 24 kHz of a kept reply as far as it was received; None when it is gone."""
        sound = self._sound
        if sound is None or sound.turn_id != turn_id:
            sound = self._kept.get(turn_id)
        return bytes(sound.pcm) if sound and sound.pcm else None

    @property
    def stats(self) -> PlayoutStats:
        queued = self._sound.left() / BYTES_PER_MS if self._sound else 0.0
        return PlayoutStats(queued, self._refused / BYTES_PER_MS, self._underruns, self._flushes)

    def _keep(self, sound: _Sound) -> None:
        """The account of the last replies; their sound within a byte bound, oldest out first."""
        if not sound.played:
            return
        self._kept[sound.turn_id] = sound
        while len(self._kept) > KEPT_REPLIES:
            self._kept.popitem(last=False)
        kept = sum(len(old.pcm) for old in self._kept.values())
        for old in self._kept.values():
            if kept <= KEPT_BYTES:
                break
            kept -= len(old.pcm)
            old.forget()
