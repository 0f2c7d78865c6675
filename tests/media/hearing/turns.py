"""The end of a turn on sentences with pauses, by our own detection and by a service that detects it
in what the gate lets through: false ends, and waits after true ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from local_gemini.speech.end_pointer import SileroEndPointer
from media.doorway import SILENCE
from media.endpoint import Endpoint
from media.gate import BLOCK_BYTES, Gate, GateSettings
from media.turn_events import SpeechEnded, SpeechStarted
from media.vad import Vad
from tests.media.hearing.clips import RATE, Clip, joe, recordings
from tests.media.hearing.sentences import Spoken, with_pauses
from tests.media.hearing.trial import pcm

LEAD_S, AFTER_S = 0.6, 4.0


class Plain(Endpoint):
    """A fixed silence, whatever was said."""

    @property
    def hangover_ms(self) -> int:
        return self._silence_ms


@dataclass
class Ends:
    """`false`: pauses that were taken for the end, of `pauses`; `waits_s` after true ends."""

    pauses: int = 0
    false: int = 0
    turns: list[int] = field(default_factory=list)
    waits_s: list[float] = field(default_factory=list)

    @property
    def median_wait_s(self) -> float:
        return float(np.median(self.waits_s))


def sentences() -> tuple[Clip, ...]:
    """Long enough to pause in."""
    everything = recordings() + joe()
    return tuple(clip for clip in everything if (clip.end - clip.onset) / RATE >= 1.4)


def paused(clips: Iterable[Clip], *pauses: tuple[float, ...]) -> list[Spoken]:
    made = (with_pauses(clip, each) for clip in clips for each in pauses)
    return [spoken for spoken in made if spoken is not None]


def judge(
    spoken: Iterable[Spoken],
    *,
    silence_ms: int = 1500,
    plain_ms: int | None = None,
    thinking_s: float = 0.0,
) -> Ends:
    """`plain_ms`: a fixed silence instead, for comparison."""
    ends = Ends()
    settings = GateSettings(service_ends_turns=False, hangover_ms=silence_ms)
    for each in spoken:
        gate = Gate(Vad(), settings)
        if plain_ms is not None:
            gate.endpoint = Plain(plain_ms)
        if thinking_s:
            gate.thinking(thinking_s)
        lead, after = (np.zeros(int(s * RATE), np.float32) for s in (LEAD_S, AFTER_S))
        raw = pcm(np.concatenate((lead, each.sound, after)))
        end_s, times, starts = LEAD_S + each.end / RATE, [], 0
        for number in range(len(raw) // BLOCK_BYTES):
            at = (number + 1) * 0.02
            step = gate.feed(raw[number * BLOCK_BYTES : (number + 1) * BLOCK_BYTES], at)
            starts += SpeechStarted in map(type, step.events)
            times += [at for event in step.events if isinstance(event, SpeechEnded)]
        ends.pauses += len(each.pauses_s)
        ends.false += sum(at < end_s for at in times)
        ends.turns.append(starts)
        ends.waits_s += [at - end_s for at in times[-1:] if at >= end_s]
    return ends


# What the product sends on while an answer is due, and the default of `liveVadPrefixPaddingMs`.
PATIENCE_S, PREFIX_MS = 6.0, 300


def judge_live(
    spoken: Iterable[Spoken], *, silence_ms: int = 1500, gated: bool = True
) -> tuple[Ends, int]:
    """The service ends the turns; beside it how many it was starved of (they ended never).

    The service is the embedded one's detector, which is another than the gate's and counts only
    audio that it gets. `gated=False`: it hears everything, for comparison.
    """
    ends, starved = Ends(), 0
    for each in spoken:
        gate = Gate(Vad(), GateSettings(trailing_ms=silence_ms))
        service = SileroEndPointer(silence_ms, PREFIX_MS)
        lead, after = (np.zeros(int(s * RATE), np.float32) for s in (LEAD_S, 2 * AFTER_S))
        raw = pcm(np.concatenate((lead, each.sound, after)))
        end_s, times, starts = LEAD_S + each.end / RATE, [], 0
        patient_until = 0.0
        for number in range(len(raw) // BLOCK_BYTES):
            at = (number + 1) * 0.02
            block = raw[number * BLOCK_BYTES : (number + 1) * BLOCK_BYTES]
            step = gate.feed(block, at)
            if SpeechEnded in map(type, step.events):
                patient_until = at + PATIENCE_S
            patience = SILENCE if at < patient_until else b""
            heard = (step.forward or patience) if gated else block
            for activity in service.feed(heard) if heard else ():
                starts += activity.started
                if not activity.started:
                    times.append(at)
        ends.pauses += len(each.pauses_s)
        ends.false += sum(at < end_s for at in times)
        ends.turns.append(starts)
        ends.waits_s += [at - end_s for at in times[-1:] if at >= end_s]
        starved += not any(at >= end_s for at in times)
    return ends, starved
