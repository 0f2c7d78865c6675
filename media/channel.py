"""The data channel of one peer: text both ways, bounded, never an exception into the library."""

from __future__ import annotations

from collections.abc import Callable

from aiortc import RTCDataChannel

# Waiting to be sent; also the largest message that the library takes (262 144 bytes).
BUFFER_BYTES = 256 * 1024


class Channel:
    """Takes the first channel that the browser opens; another one only after that has closed."""

    def __init__(self, on_open: Callable[[], None], on_message: Callable[[str], None]) -> None:
        self._on_open, self._on_message = on_open, on_message
        self._channel: RTCDataChannel | None = None
        self.refused = 0  # messages not sent (too much waiting, too large) or not readable

    @property
    def open(self) -> bool:
        return self._channel is not None and self._channel.readyState == "open"

    def adopt(self, channel: RTCDataChannel) -> None:
        """A channel that the browser opened."""
        if self.open:
            return
        self._channel = channel
        channel.on("message", lambda message: self._receive(channel, message))
        self._on_open()

    def send(self, text: str) -> bool:
        """Queues a message; False when not open or when it does not fit the buffer."""
        channel = self._channel
        if channel is None or channel.readyState != "open":
            return False
        if channel.bufferedAmount + len(text.encode()) > BUFFER_BYTES:
            self.refused += 1
            return False
        try:
            channel.send(text)
        except ValueError:  # larger than the other side takes
            self.refused += 1
            return False
        return True

    def close(self) -> None:
        """Lets go of the library's channel, and with it of the whole connection."""
        self._channel = None

    def _receive(self, channel: RTCDataChannel, message: str | bytes) -> None:
        if channel is not self._channel:
            return
        if isinstance(message, bytes):
            try:
                message = message.decode()
            except UnicodeDecodeError:
                self.refused += 1
                return
        self._on_message(message)
