"""Blocks to stretches of speech: evidence, certainty, staying power, end. Pure.

A stretch ends by the clock, whatever the blocks bring.
"""

from __future__ import annotations

from dataclasses import dataclass

from media.turn_events import SpeechEnded, SpeechEvidence, SpeechStarted, SpeechSustained

BLOCK_MS = 20
# A sign comes this much after the voice began (median of stage 1).
ONSET_LAG_MS = 40

SpeechEvent = SpeechEvidence | SpeechStarted | SpeechSustained | SpeechEnded


@dataclass(frozen=True, slots=True)
class Threshold:
    """When speech is certain: `sure_ms` voiced by stage 2 at `speech`, and `signs_ms` of signs
    (a block that is sure, or that stage 1 finds warm and loud). `evidence_ms` of signs duck."""

    speech: float
    sure_ms: int
    signs_ms: int
    evidence_ms: int = BLOCK_MS


# What a hold admitted needs no detector.
ADMITTED = Threshold(speech=0.0, sure_ms=BLOCK_MS, signs_ms=BLOCK_MS)


class Utterances:
    """One microphone. `at` is when a block came, in seconds."""

    def __init__(self) -> None:
        self.certain = False
        self.voiced_now = False
        self.sustained = False
        self.voiced_ms = 0
        self._signs_ms = 0
        self._evident = False
        self._onset = 0.0
        self._last_voiced = 0.0

    def hinted(self, at: float, need: Threshold) -> list[SpeechEvent]:
        """A sign that is not sure: it shortens the way to certainty, and is evidence."""
        self.voiced_ms = max(0, self.voiced_ms - BLOCK_MS)
        return self._sign(at, need)

    def _sign(self, at: float, need: Threshold) -> list[SpeechEvent]:
        if not self._signs_ms:
            self._onset = at - ONSET_LAG_MS / 1000
        self._signs_ms += BLOCK_MS
        if self._evident or self._signs_ms < need.evidence_ms:
            return []
        self._evident = True
        return [SpeechEvidence(at)]

    def voiced(self, at: float, need: Threshold, sustained_ms: int) -> list[SpeechEvent]:
        events = self._sign(at, need)
        self.voiced_now = True
        self.voiced_ms += BLOCK_MS
        self._last_voiced = at + BLOCK_MS / 1000
        if not self.certain and self.voiced_ms >= need.sure_ms and self._signs_ms >= need.signs_ms:
            self.certain = True
            events.append(SpeechStarted(at, self._onset))
        if self.certain and not self.sustained and self.voiced_ms >= sustained_ms:
            self.sustained = True
            events.append(SpeechSustained(at))
        return events

    def admitted(self, at: float, onset: float) -> list[SpeechEvent]:
        """Certain by decree: a hold was admitted."""
        self._clear()
        events = self.voiced(at, ADMITTED, 2 * BLOCK_MS)
        self._onset = onset
        return [*events[:-1], SpeechStarted(at, onset)]

    def unvoiced(self, at: float, hangover_ms: float) -> list[SpeechEvent]:
        self.voiced_now = False
        if self.certain:
            if round((at - self._last_voiced) * 1000) >= hangover_ms:
                return self.released(at)
        else:
            # Uncertain: every block without a sign takes back what one with it gave.
            self.voiced_ms = max(0, self.voiced_ms - BLOCK_MS)
            self._signs_ms = max(0, self._signs_ms - BLOCK_MS)
            self._evident = self._evident and self._signs_ms > 0
        return []

    def released(self, at: float) -> list[SpeechEvent]:
        was_certain = self.certain
        self._clear()
        return [SpeechEnded(at)] if was_certain else []

    def _clear(self) -> None:
        self.certain = self.voiced_now = self.sustained = self._evident = False
        self.voiced_ms = self._signs_ms = 0
