"""Reply audio to RTP: one 20 ms frame per tick, encoded at 24 kHz mono low-delay Opus.

The RTP time advances by exactly 960 per tick (a receiver conceals anything else), also while
nothing is said; then nothing is encoded and nothing is sent.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from media.opus import Encoder

FRAME_BYTES = 960  # 20 ms of PCM16 mono at 24 kHz
TICKS_48K = 960  # RFC 7587: the RTP clock of Opus is 48 kHz
# After speech, frames of real silence: without them the receiver stretches the last sound it has.
TAIL_FRAMES = 2

# Low-delay Opus has no in-band copy. Above this loss reported by the browser the stream changes
# to voice mode with FEC (+4 ms, +0.8 % of a core while speaking), below the other one back.
LOSSY = 0.03
CALM = 0.01
CALM_REPORTS = 10
_FEC_PERCENT = 15

Pull = Callable[[float], bytes | None]
Send = Callable[[bytes, int, int, bool], bool]

_SILENCE = bytes(FRAME_BYTES)


@dataclass(slots=True)
class OutboundStats:
    """Counts since the start: ticks, packets and octets sent, packets that found no way out."""

    ticks: int = 0
    sent: int = 0
    octets: int = 0
    unsent: int = 0


class Outbound:
    """Pulls PCM16 24 kHz mono (960 bytes, or None for silence) and hands packets to `send`.

    `send(payload, sequence, timestamp, marker)` says whether the packet left. The marker is set
    on the first packet after silence (RFC 3551 4.1).
    """

    def __init__(self, pull: Pull, send: Send, encode: Callable[[bytes], bytes] | None = None):
        self._pull, self._send, self._encode = pull, send, encode
        self._encoder: Encoder | None = None
        # Below 2^15: a wrap right after the start breaks SRTP's rollover estimate.
        self._sequence = secrets.randbelow(1 << 15)
        self.timestamp = secrets.randbelow(1 << 32)
        self._tail = 0
        self._talking = False
        self._fec = False
        self._calm = 0
        self.stats = OutboundStats()

    def tick(self, at: float) -> None:
        """One step of 20 ms. Raises ValueError on a frame of another size."""
        pcm = self._pull(at)
        timestamp = self.timestamp
        self.timestamp = (timestamp + TICKS_48K) & 0xFFFF_FFFF
        self.stats.ticks += 1
        if pcm is None:
            if not self._tail:
                self._talking = False
                return
            self._tail -= 1
            pcm = _SILENCE
        elif len(pcm) == FRAME_BYTES:
            self._tail = TAIL_FRAMES
        else:
            raise ValueError(f"a frame is {FRAME_BYTES} bytes, not {len(pcm)}")
        payload = self._packet(pcm)
        if self._send(payload, self._sequence, timestamp, not self._talking):
            self.stats.sent += 1
            self.stats.octets += len(payload)
            self._sequence = (self._sequence + 1) & 0xFFFF
            self._talking = True
        else:
            self.stats.unsent += 1

    def _packet(self, pcm: bytes) -> bytes:
        if self._encode is not None:
            return self._encode(pcm)
        if self._encoder is None:
            self._encoder = (
                Encoder(application="voip", bitrate=32_000, fec=True, loss_percent=_FEC_PERCENT)
                if self._fec
                else Encoder()
            )
        return self._encoder.encode(pcm)

    def adapt(self, loss: float) -> None:
        """Takes the share of our packets that the browser reports lost, about once a second."""
        self._calm = self._calm + 1 if loss < CALM else 0
        fec = loss > LOSSY or (self._fec and self._calm < CALM_REPORTS)
        if fec is not self._fec:
            self._fec = fec
            self.close()
            self._encoder = None

    def close(self) -> None:
        """Frees the encoder; idempotent."""
        if self._encoder is not None:
            self._encoder.close()
