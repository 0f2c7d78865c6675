"""Text of a reply to audio position to played position: what has been heard, in words. Pure.

A service sends words before, amid or after their audio, and never says where a word sounds. Each
delta is anchored at the audio received by then; anchors that no voice could speak are discarded,
and between anchors time is shared out by how long the characters take to say.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

# Nobody speaks faster than this (40 characters a second): such an anchor is not one.
FASTEST_MS = 25.0
# Usual pace, for words whose audio has not come yet (15 characters a second).
USUAL_MS = 65.0
# Extra characters' worth of time that punctuation takes.
_PAUSES = {",": 3.0, ";": 4.0, ":": 4.0, ".": 6.0, "?": 6.0, "!": 6.0, "\n": 4.0, "…": 6.0}


class Ledger:
    """One reply. Positions are ms of its audio; text positions are weights (characters)."""

    def __init__(self) -> None:
        self._text = ""
        self._anchors: list[tuple[int, int, float]] = []  # start, end (characters), audio ms
        self._follows: bool | None = None

    @property
    def text(self) -> str:
        return self._text

    def add(self, delta: str, received_ms: float) -> None:
        """Words that came when `received_ms` of audio had come."""
        if not delta:
            return
        if self._follows is None:
            self._follows = received_ms > 0
        start = len(self._text)
        self._text += delta
        if self._anchors and self._anchors[-1][2] == received_ms:
            start = self._anchors.pop()[0]
        self._anchors.append((start, len(self._text), received_ms))

    def heard(self, played_ms: float, received_ms: float, *, complete: bool) -> str:
        """The words spoken up to `played_ms`: a prefix that ends with a word.

        The whole text exactly when all audio of a complete reply has been played.
        """
        if complete and played_ms >= received_ms:
            return self._text if played_ms > 0 else ""
        if played_ms <= 0 or not self._text:
            return ""
        weights = list(accumulate((1.0 + _PAUSES.get(c, 0.0) for c in self._text), initial=0.0))
        said = self._said(weights, played_ms, received_ms, complete)
        return self._text[: self._word_end(weights, said)]

    def _said(
        self, weights: list[float], played_ms: float, received_ms: float, complete: bool
    ) -> float:
        """Weight of the text spoken at `played_ms`, by linear pieces between usable anchors."""
        before = (0.0, 0.0)
        for point in self._points(weights, received_ms, complete):
            if point[0] >= played_ms:
                span = point[0] - before[0]
                share = (played_ms - before[0]) / span if span > 0 else 1.0
                return before[1] + (point[1] - before[1]) * share
            before = point
        return before[1]

    def _points(
        self, weights: list[float], received_ms: float, complete: bool
    ) -> list[tuple[float, float]]:
        """(audio ms, text weight), rising in both."""
        points: list[tuple[float, float]] = []
        last_ms, last_weight = 0.0, 0.0
        for start, end, at in self._anchors:
            weight = weights[end if self._follows else start]
            gained = weight - last_weight
            if gained <= 0 or at - last_ms < gained * FASTEST_MS:
                continue
            points.append((at, weight))
            last_ms, last_weight = at, weight
        rest = weights[-1] - last_weight
        if rest > 0:
            usual = last_ms + rest * USUAL_MS
            points.append((received_ms if complete else max(received_ms, usual), weights[-1]))
        return points

    def _word_end(self, weights: list[float], said: float) -> int:
        """End of the last word of which more than half has been spoken."""
        reached = min(bisect_left(weights, said), len(self._text))
        end = 0
        at = 0
        while at < len(self._text):
            while at < len(self._text) and self._text[at].isspace():
                at += 1
            start = at
            while at < len(self._text) and not self._text[at].isspace():
                at += 1
            if at == start or (start + at) / 2 >= reached:
                break
            end = at
        return end
