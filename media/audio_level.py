"""The level of an RTP packet as its header tells it (RFC 6464, one-byte form of RFC 8285)."""

from __future__ import annotations

URI = "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
_ONE_BYTE = b"\xbe\xde"
_RESERVED = 15


def read(data: bytes, start: int, end: int, identifier: int) -> int | None:
    """dB below full scale, 0 to 127; `start` and `end` bound the extension with its own header.

    None where the header does not tell it.
    """
    if data[start : start + 2] != _ONE_BYTE:
        return None
    at = start + 4
    while at < end:
        head = data[at]
        if not head:  # padding
            at += 1
            continue
        if head >> 4 == _RESERVED:
            return None
        if head >> 4 == identifier:
            return data[at + 1] & 0x7F if at + 1 < end else None
        at += 2 + (head & 15)
    return None


def extension(level: int, identifier: int) -> bytes:
    """A whole extension with nothing but the level; `level` as `read` gives it."""
    return _ONE_BYTE + bytes((0, 1, identifier << 4, min(max(level, 0), 127), 0, 0))
