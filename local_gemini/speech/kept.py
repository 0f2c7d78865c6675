"""Sounds of short lines that were said before, up to a bound. Safe from many threads."""

from __future__ import annotations

import threading
from collections import OrderedDict

# A line of 60 letters is 0.2 MB of PCM, so the bytes are what matters; lines that make no sound
# cost only their text, so those are counted.
LINES, BYTES = 256, 8 * 2**20


class KeptLines:
    """What has gone unused for longest is forgotten first."""

    def __init__(self) -> None:
        self._lines: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, line: str) -> bytes | None:
        with self._lock:
            if (known := self._lines.get(line)) is not None:
                self._lines.move_to_end(line)
            return known

    def put(self, line: str, pcm: bytes) -> None:
        with self._lock:
            self._bytes += len(pcm) - len(self._lines.pop(line, b""))
            self._lines[line] = pcm
            while len(self._lines) > LINES or self._bytes > BYTES:
                self._bytes -= len(self._lines.popitem(last=False)[1])

    def clear(self) -> None:
        with self._lock:
            self._lines.clear()
            self._bytes = 0
