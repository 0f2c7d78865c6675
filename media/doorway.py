"""The samples that pass a gate: kept while it is shut, first at an opening, never twice. Pure."""

from __future__ import annotations

from collections import deque

BLOCK_MS = 20
BLOCK_BYTES = 640  # PCM16 mono 16 kHz
SILENCE = bytes(BLOCK_BYTES)
# So long after its onset speech is certain as a rule; the pre-roll reaches 400 ms before that.
USUAL_MS = 100
# So long before that a block judged to be the tutor's may have been the learner's beginning.
DOUBTFUL_MS = 120
# Most that may wait on top of the pre-roll, while a cough over the tutor is ruled out, or while
# nobody knows whether it is the tutor's echo.
WAITING_MS = 2_000


class Doorway:
    """One microphone's. Whoever owns it says when to open and to shut."""

    def __init__(self, preroll_ms: int) -> None:
        self._preroll = preroll_ms // BLOCK_MS
        self._before: deque[tuple[bytes, bool]] = deque(
            maxlen=(preroll_ms + WAITING_MS) // BLOCK_MS
        )
        self._waiting = 0  # blocks since speech became certain
        self.open = False
        self.trailing_ms = 0  # passed since the last voice

    def forget(self) -> None:
        """Nothing from before will be sent."""
        self._before.clear()

    def speech_began(self, ago_ms: float) -> None:
        """Now certain, begun `ago_ms` ago: from here on blocks wait on top of the pre-roll, which
        is longer where it took long to be sure."""
        self._waiting = max(0, round((ago_ms - USUAL_MS) / BLOCK_MS))

    def admit(self) -> bytes:
        """Opens; gives what was kept and has not been forwarded."""
        self.open = True
        kept = list(self._before)[-(self._preroll + self._waiting) :]
        self._before.clear()
        doubtful = len(kept) - self._waiting - DOUBTFUL_MS // BLOCK_MS
        return b"".join(
            SILENCE if echoed and number < doubtful else pcm20
            for number, (pcm20, echoed) in enumerate(kept)
        )

    def shut(self) -> None:
        self.open = False

    def take(
        self, pcm20: bytes, *, voiced: bool, silenced: bool, kept: bool, echoed: bool = False
    ) -> bytes:
        """What passes of 20 ms. `silenced`: as silence where nobody speaks; `kept`: it may still
        have to be sent as sound; `echoed`: it is the tutor's voice, which the service would take
        for an interruption."""
        self._waiting += 1
        if not self.open or kept:
            self._before.append((pcm20, echoed))
        else:
            self._before.clear()
        if not self.open:
            return b""
        if voiced:
            self.trailing_ms = 0
            return pcm20
        self.trailing_ms += BLOCK_MS
        return SILENCE if silenced else pcm20
