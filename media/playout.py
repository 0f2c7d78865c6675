"""The reply on its way to the learner's ear: a queue of PCM with a ledger of its words.

Hands out one 20 ms block per pull; ducks, pauses, resumes and flushes without clicks; knows what
was heard. No asyncio, no clock of its own (time comes with `pull`), no network.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from media.resample import StreamResampler
from media.sound import (
    AUDIBLE_RMS,
    BLOCK_BYTES,
    BYTES_PER_MS,
    DUCKED_GAIN,
    FADE_SAMPLES,
    RATE,
    Flow,
    Heard,
    Sound,
)

__all__ = ["Heard", "Playout", "PlayoutStats"]

# Newest audio is refused beyond this much unplayed audio, and counted.
QUEUE_MS = 600_000
# After a real underrun within a reply so much must be there before it goes on.
REBUFFER_MS = 60
# A rest shorter than a block is played after so many pulls without news.
REST_PULLS = 5
# Replies kept for replay.
KEPT_REPLIES = 3
KEPT_BYTES = 60_000 * BYTES_PER_MS


@dataclass(frozen=True, slots=True)
class PlayoutStats:
    queued_ms: float
    refused_ms: float
    underruns: int
    flushes: int


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
        self._sound: Sound | None = None
        self._kept: OrderedDict[str, Sound] = OrderedDict()
        self._flow = Flow()
        self._foreign: tuple[int, StreamResampler] | None = None
        self._tail: bytes | None = None
        self._refused = 0
        self._underruns = 0
        self._flushes = 0

    # --- what goes in ----------------------------------------------------------------------------

    def begin(self, turn_id: str) -> None:
        """A new reply; one that is still queued is dropped as by `flush`."""
        if self._sound is not None:
            self.flush()
        self._sound = Sound(turn_id)
        self._flow = Flow()
        self._foreign = None

    def audio(self, pcm: bytes, rate: int = RATE) -> None:
        """PCM16 mono of the current reply at `rate` Hz, any length; without one it is ignored."""
        if self._sound is None:
            return
        if self._foreign is not None and self._foreign[0] != rate:
            self._end_of_rate(self._sound)
        if rate != RATE:
            if self._foreign is None:
                self._foreign = rate, StreamResampler(rate, RATE)
            pcm = self._foreign[1].feed(pcm)
        self._queue(self._sound, pcm)

    def _end_of_rate(self, sound: Sound) -> None:
        """What a conversion still holds back belongs to the reply."""
        if self._foreign is not None:
            rest, self._foreign = self._foreign[1].flush(), None
            self._queue(sound, rest)

    def _queue(self, sound: Sound, pcm24k: bytes) -> None:
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
            self._end_of_rate(self._sound)
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

    def _ready(self, sound: Sound) -> int:
        """Bytes to play now: a whole block, or the padded rest of a finished reply."""
        left, flow = sound.left() & ~1, self._flow
        if sound.complete:
            return min(left, BLOCK_BYTES)
        if flow.starved and left < REBUFFER_MS * BYTES_PER_MS:
            flow.idle_pulls += 1
            return min(left, BLOCK_BYTES) if flow.idle_pulls > REST_PULLS else 0
        return BLOCK_BYTES if left >= BLOCK_BYTES else 0

    def _run_dry(self, sound: Sound, at: float) -> None:
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

    def rewind(self, ms: float) -> None:
        """The last `ms` that were pulled never arrived: unheard, and played again."""
        if self._sound is not None:
            back = int(ms) * BYTES_PER_MS
            self._sound.played = max(0, self._sound.played - back)

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
        self._sound, self._flow = None, Flow()
        return heard

    def _fade_away(self) -> None:
        sound, flow = self._sound, self._flow
        if sound is None or not flow.sounding:
            return
        ahead = bytes(sound.pcm[sound.played : sound.played + FADE_SAMPLES * 2])
        self._tail = flow.fade(ahead)

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

    def _keep(self, sound: Sound) -> None:
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
