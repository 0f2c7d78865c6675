"""English speech to text: Moonshine tiny by plain onnxruntime. Safe from many threads."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import numpy.typing as npt

from local_gemini.speech.models import DECODER, ENCODER, WORDS, locate, open_model

RATE = 16_000
Samples = npt.NDArray[np.float32]

BEGIN, END = 1, 2
HEADS, HEAD_WIDTH = 8, 36
# Speech rarely exceeds 6.5 tokens a second; the cap bounds a decoder that repeats itself.
TOKENS_PER_S = 6.5
# Cost grows faster than length, so a longer utterance is cut at its quietest point in between.
SEGMENT_MIN_S, SEGMENT_MAX_S = 7, 12
WINDOW = RATE // 10
MARGIN = RATE // 5
PEAK, MAX_GAIN = 0.6, 60.0
SHORTEST = RATE // 10
# What the model says to silence, noise and pure tones.
NOISE_ANSWERS = frozenset({"", "you"})
_REPEAT = re.compile(r"\b(\w[\w' ,]{0,40}?)(?:[ ,.]+\1\b){4,}", re.IGNORECASE)


class MoonshineRecogniser:
    """Transcribes whole utterances of PCM16 mono 16 kHz; about 0.045 CPU s per second of speech."""

    def __init__(self, models_dir: Path | None = None) -> None:
        self._encoder = open_model(locate(ENCODER, models_dir))
        self._decoder = open_model(locate(DECODER, models_dir))
        self._pieces = read_pieces(locate(WORDS, models_dir).read_bytes())
        self._inputs = [item.name for item in self._decoder.get_inputs()]
        self._outputs = [item.name for item in self._decoder.get_outputs()][1:]

    def transcribe(self, pcm16k: bytes) -> str:
        """The words of one utterance; empty when there is nothing but noise. Blocking."""
        whole = pcm16k[: len(pcm16k) // 2 * 2]
        samples: Samples = np.frombuffer(whole, "<i2").astype(np.float32) / np.float32(32768)
        if len(samples) < SHORTEST:
            return ""
        peak = float(np.abs(samples).max())
        if peak == 0.0:
            return ""
        samples *= min(PEAK / peak, MAX_GAIN)
        texts = [self._segment(piece) for piece in segments(samples)]
        text = " ".join(text for text in texts if not is_noise(text))
        return _REPEAT.sub(r"\1", text)

    def _segment(self, samples: Samples) -> str:
        padded = np.pad(samples, MARGIN)[None]
        mask = np.ones(padded.shape, np.int64)
        hidden = self._encoder.run(None, {"input_values": padded, "attention_mask": mask})[0]
        past = {
            name: np.zeros((1, HEADS, 0, HEAD_WIDTH), np.float32)
            for name in self._inputs
            if name.startswith("past")
        }
        tokens: list[int] = []
        current = BEGIN
        for step in range(int(max(1.0, len(samples) / RATE) * TOKENS_PER_S) + 4):
            result = self._decoder.run(
                None,
                {
                    **past,
                    "input_ids": np.array([[current]], np.int64),
                    "encoder_hidden_states": hidden,
                    "encoder_attention_mask": mask,
                    "use_cache_branch": np.array([step > 0]),
                },
            )
            current = int(result[0][0, -1].argmax())
            for name, value in zip(self._outputs, result[1:], strict=True):
                # Cross-attention keys are computed once, in the first step.
                if step == 0 or ".decoder." in name:
                    past[name.replace("present", "past_key_values")] = value
            if current == END:
                break
            tokens.append(current)
        raw = b"".join(self._pieces[token] for token in tokens).decode("utf-8", "ignore")
        return re.sub(r"<[^>]*>", "", raw.replace("\u2581", " ")).strip()


def is_noise(text: str) -> bool:
    """Whether `text` is what the model answers to sound without speech."""
    return "".join(filter(str.isalnum, text)).lower() in NOISE_ANSWERS


def segments(samples: Samples) -> list[Samples]:
    """Cut float samples at 16 kHz into pieces of at most 12 s, each cut at a quiet point."""
    pieces: list[Samples] = []
    rest = samples
    while len(rest) > SEGMENT_MAX_S * RATE:
        head = rest[SEGMENT_MIN_S * RATE : SEGMENT_MAX_S * RATE]
        energy = (head[: len(head) // WINDOW * WINDOW].reshape(-1, WINDOW) ** 2).mean(axis=1)
        quiet = int(np.convolve(energy, np.ones(3) / 3, "same")[1:-1].argmin()) + 1
        cut = SEGMENT_MIN_S * RATE + quiet * WINDOW + WINDOW // 2
        pieces.append(rest[:cut])
        rest = rest[cut:]
    pieces.append(rest)
    return pieces


def read_pieces(data: bytes) -> list[bytes]:
    """The word pieces of a tokenizer.bin: each a one- or two-byte length, then its bytes."""
    pieces: list[bytes] = []
    at = 0
    while at < len(data):
        size = data[at]
        at += 1
        if size >= 128:
            size = data[at] * 128 + size - 128
            at += 1
        pieces.append(data[at : at + size])
        at += size
    return pieces
