"""An engine without models: energy end-pointing, transcripts and replies from lists, a tone for a
voice. Deterministic; cheap enough for a hundred sessions a core."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy

from local_gemini.engine import RATE_HEARD, RATE_SPOKEN, Activity, Engine, Generated, Mind
from local_gemini.scripted_brain import generate

# Louder than this (about -40 dBFS) is speech.
THRESHOLD_RMS = 330.0
FRAME_MS = 10
FRAME_BYTES = RATE_HEARD * 2 * FRAME_MS // 1000
PREROLL_MS = 300
# A short word must be enough to begin, whatever prefix the client asks for.
MAX_COMMIT_MS = 100
MAX_UTTERANCE_MS = 120_000

TONE_HZ = 440
TONE_MS_PER_WORD = 60
# -12 dBFS
TONE_PEAK = 8231
FADE_MS = 5
DIMENSIONS = 256

Transcripts = Sequence[str] | Callable[[bytes], str]
Replies = Sequence[Sequence[str]] | Callable[[str], Sequence[str]]
Generate = Callable[[str, Mapping[str, Any]], Generated | str | None]


class EnergyEndPointer:
    """Exact to 10 ms of samples. Speech begins after min(prefix, 100) ms above the threshold and
    ends after `silence_ms` below it; START tells the onset, END where the silence hold ended."""

    def __init__(self, silence_ms: int, prefix_ms: int) -> None:
        self._hold = max(1, silence_ms // FRAME_MS)
        self._commit = max(1, min(prefix_ms, MAX_COMMIT_MS) // FRAME_MS)
        self._rest = b""
        self._frames = 0
        self._loud = 0
        self._quiet = 0
        self._speaking = False
        self._ring = bytearray()
        self._utterance = bytearray()

    def feed(self, pcm16k: bytes) -> list[Activity]:
        data = self._rest + pcm16k
        whole = len(data) // FRAME_BYTES * FRAME_BYTES
        self._rest = data[whole:]
        samples = numpy.frombuffer(data[:whole], dtype="<i2").astype(numpy.float32)
        levels = numpy.sqrt(numpy.mean(samples.reshape(-1, FRAME_BYTES // 2) ** 2, axis=1))
        found: list[Activity] = []
        for number, level in enumerate(levels):
            frame = data[number * FRAME_BYTES : (number + 1) * FRAME_BYTES]
            found += self._frame(frame, float(level) > THRESHOLD_RMS)
        return found

    def utterance(self) -> bytes:
        return bytes(self._utterance)

    def reset(self) -> None:
        self._speaking = False
        self._loud = self._quiet = 0
        self._utterance.clear()

    def _frame(self, frame: bytes, loud: bool) -> list[Activity]:
        self._frames += 1
        if self._speaking:
            self._utterance += frame
            del self._utterance[: -MAX_UTTERANCE_MS * RATE_HEARD * 2 // 1000]
            self._quiet = 0 if loud else self._quiet + 1
            if self._quiet < self._hold:
                return []
            self._speaking = False
            self._loud = self._quiet = 0
            self._ring.clear()
            return [Activity(False, self._frames * FRAME_MS)]
        self._ring += frame
        self._loud = self._loud + 1 if loud else 0
        del self._ring[: -(PREROLL_MS // FRAME_MS + self._commit) * FRAME_BYTES]
        if self._loud < self._commit:
            return []
        self._speaking = True
        self._quiet = 0
        self._utterance = bytearray(self._ring)
        return [Activity(True, (self._frames - self._loud) * FRAME_MS)]


class PausingEndPointer(EnergyEndPointer):
    """Tells of pauses as well, so that recognition can start ahead."""

    def quiet_ms(self) -> int:
        return self._quiet * FRAME_MS if self._speaking else 0


class ScriptedRecogniser:
    """The next transcript of a list (the last one repeats), or whatever a function says."""

    def __init__(self, transcripts: Transcripts) -> None:
        self._transcripts = transcripts
        self.heard_ms: list[int] = []

    def transcribe(self, pcm16k: bytes) -> str:
        self.heard_ms.append(len(pcm16k) * 1000 // (RATE_HEARD * 2))
        if callable(self._transcripts):
            return self._transcripts(pcm16k)
        if not self._transcripts:
            return ""
        return self._transcripts[min(len(self.heard_ms), len(self._transcripts)) - 1]


@lru_cache(maxsize=512)
def tone(ms: int, hz: float = TONE_HZ, rate: int = RATE_SPOKEN, peak: int = TONE_PEAK) -> bytes:
    """A sine with soft ends: PCM16 mono at `rate`."""
    count = ms * rate // 1000
    wave = numpy.sin(2 * math.pi * hz / rate * numpy.arange(count)) * peak
    fade = min(count // 2, FADE_MS * rate // 1000)
    if fade:
        ramp = numpy.linspace(0.0, 1.0, fade)
        wave[:fade] *= ramp
        wave[-fade:] *= ramp[::-1]
    return bytes(wave.astype("<i2").tobytes())


class ToneVoice:
    """About 60 ms of tone a word, or what a function makes of the text (PCM16 24 kHz)."""

    def __init__(self, speech: Callable[[str], bytes] | None = None) -> None:
        self._speech = speech
        self.spoken: list[str] = []

    def speak(self, text: str) -> bytes:
        self.spoken = [*self.spoken[-999:], text]
        if self._speech is not None:
            return self._speech(text)
        return tone(max(1, len(text.split())) * TONE_MS_PER_WORD)


class HashEmbedder:
    """Words hashed into a bag: the same words, the same direction."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * DIMENSIONS
        for word in text.lower().split():
            digest = hashlib.blake2b(word.encode(), digest_size=4).digest()
            vector[int.from_bytes(digest) % DIMENSIONS] += 1.0
        norm = math.sqrt(sum(value * value for value in vector)) or 1.0
        return [value / norm for value in vector]


class ScriptedMind:
    """Answers from a list (the last one repeats) or a function; remembers what it was told."""

    def __init__(self, instruction: str, replies: Replies | None) -> None:
        self.instruction = instruction
        self.notes: list[str] = []
        self.seeds: list[tuple[str, str]] = []
        self.heard_texts: list[tuple[str, bool]] = []
        self.learner: list[str] = []
        self._replies = replies

    def answer(self, learner: str) -> list[str]:
        self.learner.append(learner)
        if callable(self._replies):
            return list(self._replies(learner))
        if self._replies:
            return list(self._replies[min(len(self.learner), len(self._replies)) - 1])
        return [f"You said: {learner}.", "What makes you think so?"]

    def note(self, text: str) -> None:
        self.notes.append(text)

    def heard(self, text: str, interrupted: bool) -> None:
        self.heard_texts.append((text, interrupted))

    def seed(self, role: str, text: str) -> None:
        self.seeds.append((role, text))


class ScriptedBrain:
    """`minds` are all minds so far. A `generate` function that returns None leaves the answer to
    the rules of `scripted_brain`."""

    def __init__(self, replies: Replies | None, answer: Generate | None) -> None:
        self._replies = replies
        self._answer = answer
        self.minds: list[ScriptedMind] = []

    def mind(self, instruction: str) -> Mind:
        mind = ScriptedMind(instruction, self._replies)
        self.minds = [*self.minds[-999:], mind]
        return mind

    def generate(self, model: str, request: Mapping[str, Any]) -> Generated:
        answer = self._answer(model, request) if self._answer is not None else None
        if answer is None:
            return generate(request)
        return Generated(text=answer) if isinstance(answer, str) else answer


class ScriptedEngine(Engine):
    """An engine for tests and benchmarks. `replies` are lists of sentences.

    `ahead`: recognition may start within a long silence hold (a transcript list then loses an
    entry whenever the learner goes on). `threads`: engine calls run in worker threads as with real
    models. `ears`, `mouth` and `head` are what it was asked.
    """

    def __init__(
        self,
        transcripts: Transcripts = ("I think it has to do with light.",),
        replies: Replies | None = None,
        *,
        speech: Callable[[str], bytes] | None = None,
        generate: Generate | None = None,
        ahead: bool = False,
        threads: bool = False,
    ) -> None:
        self.ears = ScriptedRecogniser(transcripts)
        self.mouth = ToneVoice(speech)
        self.head = ScriptedBrain(replies, generate)
        super().__init__(
            recogniser=self.ears,
            voice=self.mouth,
            embedder=HashEmbedder(),
            brain=self.head,
            end_pointer=PausingEndPointer if ahead else EnergyEndPointer,
            threads=threads,
        )
