"""How much evidence opens a gate, and how long it stays open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from media.echo import Hearing
from media.utterance import Threshold

Mode = Literal["open", "ptt"]

# On top of the service's silence duration, for the lag of its own detector (RTC-8).
MARGIN_MS = 500
# A warm block is a sign only above -45 dBFS.
LOUD = 32768 * 10 ** (-45 / 20)
# One window of stage 2 this sure counts for two.
STRONG = 0.85
# While a learner speaks over the tutor, so much of what looks like the echo goes out as sound.
LINGER_MS = 160
# Among the voices of others the pre-roll is longer: a word begins below what they let through.
CROWD_LEAD_MS = 400
# Thresholds: usually, and with music or people in the background; far below the learner's level in
# a noise; over the tutor; and while the tutor is heard and nobody knows yet whether their voice
# comes back.
QUIET = Threshold(speech=0.5, sure_ms=40, signs_ms=40)
CERTAIN = Threshold(speech=STRONG, sure_ms=20, signs_ms=40)
RESTLESS = Threshold(speech=0.8, sure_ms=60, signs_ms=60)
FAINT = Threshold(speech=0.8, sure_ms=200, signs_ms=200)
OVER_TUTOR = Threshold(speech=0.6, sure_ms=40, signs_ms=60)
UNSURE = Threshold(speech=0.6, sure_ms=200, signs_ms=320, evidence_ms=40)
LIKELY = Threshold(speech=0.6, sure_ms=360, signs_ms=560, evidence_ms=360)
DOUBTS = {Hearing.UNSURE: UNSURE, Hearing.LIKELY: LIKELY}


@dataclass(frozen=True, slots=True)
class GateSettings:
    """`trailing_ms`: forwarded after the last voiced block (the service's silence + margin).

    `hangover_ms`: unvoiced time until `SpeechEnded`; `brief_hangover_ms` while the tutor speaks.
    `service_ends_turns=False` (`liveVadEnabled:false`): the gate shuts with `SpeechEnded`, which
    is then the end of the learner's turn, after a silence that `Endpoint` makes of `hangover_ms`.
    `admit_ms`: in own-turns mode so much voice over the tutor opens the gate; a cough is shorter.
    """

    mode: Mode = "open"
    preroll_ms: int = 400
    trailing_ms: int = 1500
    hangover_ms: int = 500
    brief_hangover_ms: int = 200
    sustained_ms: int = 500
    admit_ms: int = 240
    still_speech: float = 0.35
    warm: float = 0.5
    quiet: Threshold = QUIET
    over_tutor: Threshold = OVER_TUTOR
    service_ends_turns: bool = True
