"""Latency spans of a process: the newest samples of each, and their quantiles. No clock, no I/O."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

# Newest samples kept of each span: at one reply in ten seconds and 32 lessons, ten minutes.
KEPT = 2048

# Microphone block in -> at the gate; -> sent to Live; first reply byte -> first RTP packet.
MIC_TO_GATE = "mic_to_gate"
MIC_TO_LIVE = "mic_to_live"
REPLY_TO_RTP = "reply_to_rtp"
# End of the learner's speech -> first sound of the reply: what a person waits.
LEARNER_TO_TUTOR = "learner_to_tutor"
OFFER_TO_ANSWER = "offer_to_answer"


class Spans:
    """Seconds by name. Never grows: KEPT samples a name, names are the constants above."""

    def __init__(self) -> None:
        self._samples: dict[str, deque[float]] = {}

    def add(self, name: str, seconds: float) -> None:
        samples = self._samples.get(name)
        if samples is None:
            samples = self._samples[name] = deque(maxlen=KEPT)
        samples.append(seconds)

    def quantile(self, name: str, q: float) -> float | None:
        """Nearest-rank quantile of the kept samples in seconds; None without any."""
        samples = sorted(self._samples.get(name, ()))
        if not samples:
            return None
        return samples[min(len(samples) - 1, int(q * len(samples)))]

    def quantiles(self, name: str, qs: tuple[float, ...]) -> tuple[float, ...]:
        """As `quantile`, for several at the price of one; empty without any sample."""
        samples = sorted(self._samples.get(name, ()))
        return tuple(samples[min(len(samples) - 1, int(q * len(samples)))] for q in qs if samples)

    def count(self, name: str) -> int:
        return len(self._samples.get(name, ()))

    def names(self) -> Iterator[str]:
        return iter(sorted(self._samples))

    def clear(self) -> None:
        """Forgets all samples: a measurement starts."""
        self._samples.clear()
