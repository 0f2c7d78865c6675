"""A sound card for a machine without one: PulseAudio null sinks, the same for every browser.

`say` is what the microphone hears, `heard` what the loudspeaker played: the last minutes as
16-bit mono PCM with the monotonic time of every 50 ms block, so that a test can measure silence
and recognise the words that a person would have heard.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import numpy as np
import soxr

RATE = 48_000
BLOCK = RATE // 20  # 50 ms
MEMORY_BLOCKS = 20 * 300
# Below this the loudspeaker counts as silent (full scale 1.0).
SILENT_RMS = 0.004
START_S = 10.0
# Without it the tools buffer about two seconds.
LATENCY = "--latency-msec=20"


class SoundCard:
    """`environment` connects a program to this card."""

    def __enter__(self) -> SoundCard:
        self.home = Path(tempfile.mkdtemp(prefix="card"))
        socket = self.home / "native"
        self.environment = {
            **os.environ,
            "PULSE_SERVER": f"unix:{socket}",
            "XDG_RUNTIME_DIR": str(self.home),
        }
        modules = [
            "module-null-sink sink_name=speaker rate=48000 channels=2",
            "module-null-sink sink_name=mouth rate=48000 channels=1",
            "module-remap-source master=mouth.monitor source_name=mic",
            f"module-native-protocol-unix socket={socket} auth-anonymous=1",
        ]
        load = [word for module in modules for word in ("-L", module)]
        self._daemon = subprocess.Popen(
            ["pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no",
             "--log-level=error", *load],
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        end = time.monotonic() + START_S
        while not socket.exists():
            if self._daemon.poll() is not None or time.monotonic() > end:
                raise RuntimeError("pulseaudio did not start")
            time.sleep(0.05)
        for command in ("set-default-sink speaker", "set-default-source mic"):
            subprocess.run(["pactl", *command.split()], check=True, env=self.environment)
        self._recorder = subprocess.Popen(
            ["parec", LATENCY, "-d", "speaker.monitor", "--format=s16le", "--rate=48000",
             "--channels=1"],
            stdout=subprocess.PIPE,
            env=self.environment,
        )  # fmt: skip
        self._blocks: deque[tuple[float, bytes]] = deque(maxlen=MEMORY_BLOCKS)
        self._ear = threading.Thread(target=self._listen, daemon=True)
        self._ear.start()
        self._talking: list[subprocess.Popen[bytes]] = []
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        for process in (*self._talking, self._recorder, self._daemon):
            process.terminate()
            process.wait()
        self._ear.join()
        assert self._recorder.stdout is not None
        self._recorder.stdout.close()
        shutil.rmtree(self.home, ignore_errors=True)

    def _listen(self) -> None:
        stream = self._recorder.stdout
        assert stream is not None
        while len(block := stream.read(BLOCK * 2)) == BLOCK * 2:
            self._blocks.append((time.monotonic(), block))

    def say(self, wav: Path) -> subprocess.Popen[bytes]:
        """The learner speaks a WAV file; the process ends when it was said."""
        process = subprocess.Popen(
            ["paplay", LATENCY, "--device=mouth", str(wav)], env=self.environment
        )
        self._talking = [p for p in self._talking if p.poll() is None] + [process]
        return process

    @contextlib.contextmanager
    def echo(self) -> Iterator[None]:
        """An open room: what the loudspeaker plays comes back into the microphone, 40 ms later."""
        number = self._pactl(
            "load-module", "module-loopback",
            "source=speaker.monitor", "sink=mouth", "latency_msec=40",
        )  # fmt: skip
        try:
            yield
        finally:
            self._pactl("unload-module", number)

    def _pactl(self, *words: str) -> str:
        done = subprocess.run(
            ["pactl", *words], check=True, env=self.environment, capture_output=True, text=True
        )
        return done.stdout.strip()

    def levels(self, since: float) -> list[tuple[float, float]]:
        """(time, RMS 0..1) of every 50 ms block the loudspeaker played after `since`."""
        return [
            (at, float(np.frombuffer(block, np.int16).astype(np.float32).std()) / 32768)
            for at, block in list(self._blocks)
            if at > since
        ]

    def stalled(self, since: float) -> float:
        """The longest time (s) between two blocks after `since`: 0.05 where nothing stalls."""
        times = [at for at, _ in self.levels(since)]
        return max((b - a for a, b in itertools.pairwise(times)), default=0.0)

    def audible(self, since: float) -> float | None:
        """When the loudspeaker first made a sound after `since`."""
        return next((at for at, rms in self.levels(since) if rms > SILENT_RMS), None)

    def silent(self, since: float, run: int = 6) -> float | None:
        """When `run` silent blocks (50 ms each) in a row began after `since`."""
        levels = self.levels(since)
        for n in range(len(levels) - run + 1):
            if all(rms <= SILENT_RMS for _, rms in levels[n : n + run]):
                return levels[n][0]
        return None

    def heard(self, since: float, until: float | None = None) -> bytes:
        """What was played in that span: PCM16 mono 16 kHz."""
        end = until or time.monotonic()
        pcm = b"".join(block for at, block in list(self._blocks) if since < at <= end)
        samples = np.frombuffer(pcm, np.int16).astype(np.float32)
        return bytes(soxr.resample(samples, RATE, 16_000).clip(-32768, 32767).astype("<i2"))
