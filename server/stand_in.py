"""The voice that says a reply which the Live service gave in writing only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from server.errands import Errands

ERRAND = "stand-in"
# The learner has been waiting already; after this the reply stays in writing.
VOICE_S = 15.0


class StandIn:
    """`speak` gives PCM16 mono 24 kHz and raises PidjinError."""

    def __init__(self, speak: Callable[[str], Awaitable[bytes]], errands: Errands) -> None:
        self._speak, self._errands = speak, errands

    def voice(
        self, text: str, voiced: Callable[[bytes], None], unvoiced: Callable[[], None]
    ) -> None:
        """Exactly one of the two is called, unless `stop` comes first."""
        self._errands.start(
            ERRAND,
            lambda: self._speak(text),
            lambda pcm: voiced(pcm) if pcm else unvoiced(),
            lambda error: unvoiced(),
            within_s=VOICE_S,
        )

    def stop(self) -> None:
        self._errands.call_off(ERRAND)
