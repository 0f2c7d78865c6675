"""The ledger of one reply: what was sent, and what of it is already heard. Pure; time comes in."""

from __future__ import annotations

from dataclasses import dataclass

from local_gemini.engine import RATE_SPOKEN

BYTES_PER_MS = RATE_SPOKEN * 2 // 1000


@dataclass(slots=True)
class _Sentence:
    text: str
    starts_s: float
    total_ms: int
    sent_ms: int = 0


class Reply:
    """Plays back in real time (times `speed`) from the first audio on, sentence after sentence."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._sentences: list[_Sentence] = []
        self._ends_s = 0.0

    def begin(self, text: str, pcm_bytes: int, now: float) -> None:
        """A sentence whose audio is about to be sent."""
        total_ms = pcm_bytes // BYTES_PER_MS
        starts = max(self._ends_s, now)
        self._sentences.append(_Sentence(text, starts, total_ms))
        self._ends_s = starts + total_ms / 1000 / self._speed

    def sent(self, pcm_bytes: int) -> None:
        self._sentences[-1].sent_ms += pcm_bytes // BYTES_PER_MS

    @property
    def text(self) -> str:
        return " ".join(sentence.text for sentence in self._sentences)

    @property
    def sent_ms(self) -> int:
        return sum(sentence.sent_ms for sentence in self._sentences)

    def remaining_s(self, now: float) -> float:
        """Wall time until everything sent has been heard."""
        return max(0.0, self._ends_s - now)

    def played_ms(self, now: float) -> int:
        return sum(self._played(sentence, now) for sentence in self._sentences)

    def heard(self, now: float) -> str:
        """The words played so far, cut between words."""
        words: list[str] = []
        for sentence in self._sentences:
            if sentence.total_ms == 0:
                continue
            whole = sentence.text.split()
            share = self._played(sentence, now) / sentence.total_ms
            words += whole[: int(len(whole) * share)]
        return " ".join(words)

    def _played(self, sentence: _Sentence, now: float) -> int:
        elapsed = int(max(0.0, now - sentence.starts_s) * 1000 * self._speed)
        return min(sentence.sent_ms, elapsed)
