"""What the learners say and the tutor answers: speech of the local voice, made once per machine."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import soxr
from numpy.typing import NDArray

from media.meter import rms
from media.opus import Encoder

MIC_RATE, TUTOR_RATE = 48_000, 24_000
FRAME = MIC_RATE // 50
# A microphone in a quiet room: about -65 dBFS.
ROOM_RMS = 18.0
# One round of a lesson: the learner talks 35 % of it, the reply follows the service's hold.
ROUND_S, TALK_S, REPLY_S = 20.0, 7.0, 7.0
ONSET_DB = -25

TALK = (
    "I think it has to do with the light that comes in at the window, because plants grow there.",
    "When I look at it more closely, the colour seems to change with the time of the day.",
    "And I am not sure why, but I remember that water was important as well.",
)
REPLY = (
    "That is a good start, and you have already named the two things that matter most here.",
    "Now think about what happens at night, when there is no light at all for many hours.",
    "What would a plant have to do then, so that it does not starve before the morning?",
)
SHORT = (
    "Please tell me something about this.",
    "No wait, that is not what I meant.",
    "Hold on, I have a question about it.",
    "Could you explain that once more?",
    "Sorry, what does this word mean?",
    "But I thought it was the other way round.",
)
_CACHE = Path(tempfile.gettempdir()) / "pidjin-bench-1"

Samples = NDArray[np.int16]


def _spoken(sentences: tuple[str, ...], name: str) -> Path:
    """A raw file (PCM16 mono 24 kHz) of the sentences. Raises SpeechMissing without the voice."""
    path = _CACHE / f"{name}.raw"
    if not path.exists():
        from local_gemini.speech.voice import JoeVoice

        voice = JoeVoice()
        _CACHE.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_bytes(b"".join(voice.speak(sentence) for sentence in sentences))
        part.replace(path)
    return path


def reply_file() -> Path:
    """The tutor's reply, REPLY_S of it: the learner's next round finds silence."""
    whole = _spoken(REPLY, "reply")
    cut = whole.with_name(f"reply-{REPLY_S:g}s.raw")
    if not cut.exists():
        cut.write_bytes(whole.read_bytes()[: int(REPLY_S * TUTOR_RATE) * 2])
    return cut


def _microphone(path: Path) -> Samples:
    samples = np.fromfile(path, "<i2").astype(np.float32)
    loud = soxr.resample(samples, TUTOR_RATE, MIC_RATE)
    return np.asarray(loud).clip(-32768, 32767).astype(np.int16)


def _in_a_room(samples: Samples, seed: int) -> Samples:
    noise = np.random.default_rng(seed).normal(0, ROOM_RMS, len(samples))
    return (samples + noise).clip(-32768, 32767).astype(np.int16)


def onset(samples: Samples, rate: int) -> int:
    """Index of the first 10 ms that come within 25 dB of the loudest."""
    size = rate // 100
    frames = samples[: len(samples) // size * size].reshape(-1, size).astype(np.float64)
    energy = np.sqrt((frames**2).mean(axis=1))
    return int(np.argmax(energy > energy.max() * 10 ** (ONSET_DB / 20))) * size


class Frame(NamedTuple):
    """20 ms as Opus, and its level in dB below full scale as a browser tells it (RFC 6464)."""

    payload: bytes
    level: int


def level_of(pcm: bytes) -> int:
    """0 to 127."""
    loudness = rms(pcm)
    return min(127, round(-20 * np.log10(loudness / 32768))) if loudness else 127


def packets(samples: Samples, *, loss_percent: int = 0) -> tuple[Frame, ...]:
    """Packets as a browser makes them (voice mode, 32 kb/s, FEC when loss is known)."""
    with Encoder(
        MIC_RATE, "voip", 32_000, 9, fec=loss_percent > 0, loss_percent=loss_percent
    ) as encoder:
        raw = samples.astype("<i2").tobytes()
        size = FRAME * 2
        pieces = [raw[i : i + size] for i in range(0, len(raw) // size * size, size)]
        return tuple(Frame(encoder.encode(piece), level_of(piece)) for piece in pieces)


@dataclass(frozen=True, slots=True)
class Repertoire:
    """Everything a learner can send, encoded: a whole round, the same with FEC, a quiet room, and
    short utterances that begin with their first voiced 10 ms."""

    round: tuple[Frame, ...]
    lossy_round: tuple[Frame, ...]
    room: tuple[Frame, ...]
    short: tuple[tuple[Frame, ...], ...]


def repertoire() -> Repertoire:
    talk = _microphone(_spoken(TALK, "talk"))
    whole = np.zeros(int(ROUND_S * MIC_RATE), np.int16)
    whole[: int(TALK_S * MIC_RATE)] = np.resize(talk, int(TALK_S * MIC_RATE))
    whole = _in_a_room(whole, 1)
    room = _in_a_room(np.zeros(2 * MIC_RATE, np.int16), 2)
    short = []
    for number, sentence in enumerate(SHORT):
        clip = _microphone(_spoken((sentence,), f"short-{number}"))
        short.append(packets(_in_a_room(clip[onset(clip, MIC_RATE) :], 3 + number)))
    return Repertoire(packets(whole), packets(whole, loss_percent=5), packets(room), tuple(short))
