"""Utterances with labels: real recordings, the local voice, and espeak-ng in several languages.

Everything is float32 at 16 kHz, at -26 dBFS of active level, with true silence outside the labels.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import wave
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import soxr
from numpy.typing import NDArray

from local_gemini.speech import SpeechMissing
from tests.voices import local_voice, reading

RATE = 16_000
HOP = 160  # 10 ms of a label
ACTIVE = 10 ** (-26 / 20)
POCKETSPHINX = Path("/usr/share/pocketsphinx/test/data")
ESPEAK_VOICES = ("en-us", "en-gb+f3", "de", "es+m4", "it+f2", "pl", "fr-fr", "cmn")
ESPEAK_TEXTS = {
    "en": ("Could you tell me more about the second option?", "No, thank you very much.", "Yes."),
    "de": ("Ich glaube, das hat mit dem Licht zu tun.", "Warum ist das so?", "Nein."),
    "es": ("Creo que tiene que ver con la luz.", "No lo sé todavía.", "Sí."),
    "it": ("Forse dipende dalla quantità di acqua.", "Non lo so.", "Sì."),
    "pl": ("Myślę, że to zależy od światła.", "Proszę powtórzyć pytanie.", "Tak."),
    "fr": ("Je pense que cela dépend de la lumière.", "Je ne sais pas encore.", "Oui."),
    "cm": ("wo3 xiang3 zhe4 he2 guang1 you3 guan1 xi4.", "wo3 bu4 zhi1 dao4.", "dui4."),
}
JOE_TEXTS = (
    "I think it has to do with the light that comes in at the window.",
    "When I look at it more closely, the colour seems to change with the time of the day.",
    "Photosynthesis happens in the leaves.",
    "So the water goes up through the stem, and then it leaves as vapour.",
    "She sells them at the market every Friday.",
    "Maybe because it is heavier than air?",
    "Five hundred and twenty four.",
    "Hold on, I have a question about it.",
    "Thank you, that was clear.",
    "Chlorophyll.",
    "Stop.",
    "No.",
    "Yes.",
)

Sound = NDArray[np.float32]
Label = NDArray[np.bool_]


@dataclass(frozen=True)
class Clip:
    """`label`: per 10 ms, whether somebody speaks; gaps below 200 ms belong to the speech."""

    name: str
    source: str
    sound: Sound
    label: Label

    @property
    def onset(self) -> int:
        """Sample where the speech begins."""
        return int(np.argmax(self.label)) * HOP

    @property
    def end(self) -> int:
        """Sample where it is over."""
        return (len(self.label) - int(np.argmax(self.label[::-1]))) * HOP


def db(sound: Sound, hop: int = HOP) -> NDArray[np.float64]:
    """Power of each whole hop in dBFS."""
    whole = len(sound) // hop
    frames = sound[: whole * hop].reshape(whole, hop).astype(np.float64)
    return np.asarray(10 * np.log10((frames**2).mean(1) + 1e-12))


def labelled(name: str, source: str, sound: Sound) -> Clip:
    """A clip of a clean recording; its own background outside the speech becomes silence."""
    power = db(sound)
    # Above the recording's own background, and near enough to its voice.
    voice, background = float(np.percentile(power, 95)), float(np.percentile(power, 5))
    loud = power > max(voice - 35, background + 16, -75.0)
    loud = np.convolve(loud, np.ones(3), "same") >= 2
    edges = np.flatnonzero(np.diff(np.concatenate(([0], loud.astype(int), [0]))))
    label = np.zeros(len(power), bool)
    merged: list[list[int]] = []
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        if merged and start - merged[-1][1] < 20:
            merged[-1][1] = int(end)
        else:
            merged.append([int(start), int(end)])
    for start, end in merged:
        if end - start >= 4:
            label[start:end] = True
    if not label.any():
        raise ValueError(f"{name}: nobody speaks")
    sound = sound[: len(label) * HOP]
    active = sound[np.repeat(label, HOP)]
    near = np.convolve(label, np.ones(11), "same") > 0
    gained = sound * (ACTIVE / np.sqrt(np.mean(active**2)))
    return Clip(name, source, (gained * np.repeat(near, HOP)).astype(np.float32), label)


def _wav(data: bytes) -> Sound:
    with wave.open(io.BytesIO(data)) as recording:
        raw = recording.readframes(2**30)
        rate = recording.getframerate()
    return _at_16k(raw[: len(raw) & ~1], rate)


def _at_16k(pcm: bytes, rate: int) -> Sound:
    sound = (np.frombuffer(pcm, "<i2") / 32768).astype(np.float32)
    return np.asarray(soxr.resample(sound, rate, RATE), np.float32) if rate != RATE else sound


@cache
def recordings() -> tuple[Clip, ...]:
    """People: LibriVox, playing cards, commands. Empty without pocketsphinx-testdata."""
    clips = [
        labelled(path.stem, "recording", _wav(path.read_bytes()))
        for folder in ("librivox", "cards")
        for path in sorted((POCKETSPHINX / folder).glob("*.wav"))
    ]
    for name in ("goforward", "something", "numbers"):
        path = POCKETSPHINX / f"{name}.raw"
        if path.exists():
            clips.append(labelled(name, "recording", _at_16k(path.read_bytes(), RATE)))
    return tuple(clips)


@cache
def joe(texts: tuple[str, ...] = JOE_TEXTS) -> tuple[Clip, ...]:
    """The local voice. Raises SpeechMissing without the extra `local`."""
    return tuple(labelled(text, "joe", joe_says(text)) for text in texts)


@cache
def joe_says(text: str) -> Sound:
    pcm = soxr.resample(joe_24k(text), 24_000, RATE)
    return np.asarray(pcm, np.float32)


@cache
def joe_24k(text: str) -> Sound:
    """As the tutor's reply arrives: 24 kHz."""
    return (np.frombuffer(reading(text), "<i2") / 32768).astype(np.float32)


@cache
def espeak(voices: tuple[str, ...] = ESPEAK_VOICES) -> tuple[Clip, ...]:
    """A robot in several languages. Empty without espeak-ng."""
    return tuple(
        labelled(f"{voice}: {text}", "espeak", sound)
        for voice in voices
        for text in ESPEAK_TEXTS[voice[:2]]
        if (sound := espeak_says(voice, text)) is not None
    )


@cache
def espeak_says(voice: str, text: str) -> Sound | None:
    if shutil.which("espeak-ng") is None:
        return None
    made = subprocess.run(
        ["espeak-ng", "-v", voice, "--stdout", text], capture_output=True, check=True, timeout=20
    )
    return _wav(made.stdout)


def missing() -> str:
    """Which parts of the set this machine cannot make; empty when it is whole."""
    lacks = []
    if not recordings():
        lacks.append("pocketsphinx-testdata")
    if shutil.which("espeak-ng") is None:
        lacks.append("espeak-ng")
    return ", ".join(lacks)


def joe_missing() -> str:
    """Why the local voice cannot speak here; empty when it can."""
    try:
        local_voice()
    except SpeechMissing as missing:
        return str(missing)
    return ""


def everybody() -> tuple[Clip, ...]:
    """All voices of this machine."""
    return recordings() + (() if joe_missing() else joe()) + espeak()
