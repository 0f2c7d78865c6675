"""What waits to be sent to the Live service, in order: sound, activity marks, typed turns. Pure.

Sound is bounded in bytes and loses its oldest part; marks stay in place around it, and a bracket
that has lost all its sound disappears as a whole. Typed turns are bounded, the newest is refused.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

SAMPLE_BYTES = 2
PROMPTS_MAX = 16


@dataclass(frozen=True, slots=True)
class Sound:
    """PCM16 mono 16 kHz, at most one message long."""

    pcm: bytes


@dataclass(frozen=True, slots=True)
class Bracket:
    """`activityStart` or `activityEnd`."""

    started: bool


@dataclass(frozen=True, slots=True)
class Typed:
    """A typed learner turn, or (`realtime`) a request of ours to read something out."""

    text: str
    realtime: bool = False


Item = Sound | Bracket | Typed


class Outbox:
    """`batch_bytes` is the size of one audio message; `bound_bytes` may change at any time."""

    def __init__(self, batch_bytes: int, bound_bytes: int) -> None:
        self.bound_bytes = bound_bytes
        self.queued_bytes = 0
        self.dropped_bytes = 0
        self._batch = batch_bytes
        self._items: deque[bytearray | Bracket | Typed] = deque()
        self._prompts = 0

    @property
    def empty(self) -> bool:
        return not self._items

    @property
    def ready(self) -> bool:
        """Whether something can go out now: a whole message, or sound that nothing will extend."""
        if not self._items:
            return False
        head = self._items[0]
        return not isinstance(head, bytearray) or len(head) >= self._batch or len(self._items) > 1

    def audio(self, pcm: bytes) -> None:
        tail = self._items[-1] if self._items else None
        if isinstance(tail, bytearray):
            tail += pcm
        else:
            self._items.append(bytearray(pcm))
        self.queued_bytes += len(pcm)
        self._trim()

    def bracket(self, started: bool) -> None:
        """An end right after its start takes the start back: the service never hears of it."""
        if not started and self._items and self._items[-1] == Bracket(True):
            self._items.pop()
            return
        self._items.append(Bracket(started))

    def prompt(self, text: str, *, realtime: bool = False) -> bool:
        """False when too many typed turns wait already."""
        if self._prompts >= PROMPTS_MAX:
            return False
        self._prompts += 1
        self._items.append(Typed(text, realtime))
        return True

    def holds(self, text: str) -> bool:
        """Whether a typed turn with these words waits already."""
        return Typed(text) in self._items

    def take(self, *, partial: bool, hold_audio: bool = False) -> Item | None:
        """The next item. `partial`: a short last message too; `hold_audio`: stop before sound."""
        if not self._items:
            return None
        head = self._items[0]
        if isinstance(head, bytearray):
            if hold_audio or not (partial or self.ready):
                return None
            return Sound(self._cut(0, self._batch))
        self._items.popleft()
        if isinstance(head, Typed):
            self._prompts -= 1
        return head

    def restore(self, item: Item) -> None:
        """Puts back what could not be sent, before everything else."""
        if isinstance(item, Sound):
            self.queued_bytes += len(item.pcm)
            head = self._items[0] if self._items else None
            if isinstance(head, bytearray):
                head[:0] = item.pcm
            else:
                self._items.appendleft(bytearray(item.pcm))
            return
        if isinstance(item, Typed):
            self._prompts += 1
        self._items.appendleft(item)

    def clear(self) -> None:
        self._items.clear()
        self.queued_bytes = self._prompts = 0

    def _trim(self) -> None:
        while self.queued_bytes > self.bound_bytes:
            index = next(i for i, item in enumerate(self._items) if isinstance(item, bytearray))
            excess = self.queued_bytes - self.bound_bytes
            self.dropped_bytes += len(self._cut(index, excess + excess % SAMPLE_BYTES))

    def _cut(self, index: int, size: int) -> bytes:
        """Removes and returns the first `size` bytes of the sound at `index`."""
        sound = self._items[index]
        assert isinstance(sound, bytearray)
        piece = bytes(sound[:size])
        del sound[:size]
        self.queued_bytes -= len(piece)
        if not sound:
            del self._items[index]
            self._collapse(index)
        return piece

    def _collapse(self, index: int) -> None:
        """Removes a bracket whose sound is gone: the items before and at `index`."""
        if not 0 < index < len(self._items):
            return
        if self._items[index - 1] == Bracket(True) and self._items[index] == Bracket(False):
            del self._items[index]
            del self._items[index - 1]
