"""Audio in, utterances out: automatic (the engine's end-pointer) or bracketed by the client.

Counts samples, never the clock. Recognition of a long silence hold starts before the hold ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import numpy
import soxr

from local_gemini.engine import RATE_HEARD, Activity, EndPointer, Pausing

BYTES_PER_MS = RATE_HEARD * 2 // 1000
PIECE_BYTES = 40 * BYTES_PER_MS
# A bracketed utterance keeps its newest part.
MAX_UTTERANCE_BYTES = 300_000 * BYTES_PER_MS
# A hold of this length or more is worth recognising ahead, after this share of it.
AHEAD_HOLD_MS = 300
AHEAD_SHARE = 0.4


@dataclass(slots=True)
class Utterance:
    """What the learner said and its recognition, running or done."""

    pcm: bytes
    words: asyncio.Task[str]


@dataclass(frozen=True, slots=True)
class Edge:
    """Speech began, or ended with an utterance."""

    activity: Activity
    utterance: Utterance | None = None


class Hearing:
    """`recognise` starts a recognition owned by the session; one that starts ahead of the end is
    shown to `interim` as well. `end_pointer` None: bracketed."""

    def __init__(
        self,
        end_pointer: EndPointer | None,
        silence_ms: int,
        recognise: Callable[[bytes], asyncio.Task[str]],
        interim: Callable[[asyncio.Task[str]], None],
    ) -> None:
        self._pointer = end_pointer
        self._silence_ms = silence_ms
        self._recognise = recognise
        self._interim = interim
        self._ahead: Utterance | None = None
        self._speaking = False
        self._bracketed = bytearray()
        self._carried = b""
        self._fed_bytes = 0
        self._rates: dict[int, soxr.ResampleStream] = {}

    @property
    def speaking(self) -> bool:
        return self._speaking

    def close(self) -> None:
        """Nothing is heard any more. A voice detector holds megabytes outside of Python, and a
        session is a cycle that may wait long for the collector: so it is let go here."""
        self._drop_ahead()
        self._pointer = None
        self._bracketed.clear()
        self._carried = b""
        self._rates.clear()

    def carry(self, pcm: bytes) -> None:
        """An utterance whose turn was given up before it was understood: it belongs to the next."""
        self._carried = (self._carried + pcm)[-MAX_UTTERANCE_BYTES:]

    def feed(self, pcm: bytes, rate: int) -> list[Edge]:
        if rate != RATE_HEARD:
            pcm = self._resampled(pcm, rate)
        self._fed_bytes += len(pcm)
        if self._pointer is None:
            if self._speaking:
                self._bracketed += pcm
                del self._bracketed[:-MAX_UTTERANCE_BYTES]
            return []
        edges: list[Edge] = []
        for start in range(0, len(pcm), PIECE_BYTES):
            edges += self._piece(self._pointer, pcm[start : start + PIECE_BYTES])
        return edges

    def flush(self) -> list[Edge]:
        """audioStreamEnd: the microphone paused; silence stands in for what will not come."""
        return self.feed(bytes(self._silence_ms * BYTES_PER_MS + PIECE_BYTES), RATE_HEARD)

    def bracket(self, started: bool) -> Edge | None:
        """activityStart / activityEnd; None when it changes nothing."""
        if started == self._speaking:
            return None
        self._speaking = started
        activity = Activity(started, self._fed_bytes // BYTES_PER_MS)
        if started:
            self._bracketed.clear()
            return Edge(activity)
        return Edge(activity, self._taken(bytes(self._bracketed)))

    def _piece(self, pointer: EndPointer, pcm: bytes) -> list[Edge]:
        edges: list[Edge] = []
        for activity in pointer.feed(pcm):
            self._speaking = activity.started
            if activity.started:
                self._drop_ahead()
                edges.append(Edge(activity))
            else:
                edges.append(Edge(activity, self._taken(pointer.utterance())))
        if self._speaking and self._silence_ms >= AHEAD_HOLD_MS and isinstance(pointer, Pausing):
            quiet = pointer.quiet_ms()
            if quiet < AHEAD_SHARE * self._silence_ms:
                self._drop_ahead()
            elif self._ahead is None:
                heard = self._carried + pointer.utterance()
                self._ahead = Utterance(heard, self._recognise(heard))
                self._interim(self._ahead.words)
        return edges

    def _taken(self, pcm: bytes) -> Utterance:
        ahead, self._ahead = self._ahead, None
        heard, self._carried = self._carried + pcm, b""
        return ahead or Utterance(heard, self._recognise(heard))

    def _drop_ahead(self) -> None:
        if self._ahead is not None:
            self._ahead.words.cancel()
            self._ahead = None

    def _resampled(self, pcm: bytes, rate: int) -> bytes:
        stream = self._rates.get(rate)
        if stream is None:
            stream = self._rates[rate] = soxr.ResampleStream(rate, RATE_HEARD, 1, dtype="int16")
        samples = stream.resample_chunk(numpy.frombuffer(pcm, dtype="<i2"))
        return bytes(samples.astype("<i2").tobytes())
