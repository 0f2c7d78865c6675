"""How loud the room is when nobody speaks, and how loud the learner is in it. Pure.

Other people's voices are speech to every detector: only their level tells them from the learner.
"""

from __future__ import annotations

import math
from collections import deque

# A level counts as smoothed over about ten blocks; the quietest of the last 2 s is the room's.
# While somebody speaks for certain that may be the learner: then the room is as it was before, or
# as the quietest of the last 3 s if that is louder, and who is as loud as the learner is admitted.
SMOOTHING = 0.1
BUCKET_BLOCKS = 10
BUCKETS, ENOUGH, LASTING = 10, 5, 15
# Voices in the background: stage 2 says so of the quietest moments (within 3 dB of the least).
NEAR_LEAST, LIKE_VOICE = 2.0, 0.2
RISES = 1.1
# Restless: stage 1 is warm for this share of about 2 s though nobody speaks (music, people).
RESTLESS, RESTLESS_PACE = 0.3, 1 / 100
# Below -52 dBFS a room is quiet and asks for nothing.
QUIET = 32768 * 10 ** (-52 / 20)
# In a room full of voices the learner must stand out so far: to begin, and to go on.
BEGIN, GO_ON = 10 ** (8 / 20), 10 ** (6 / 20)
# And come so near to their own usual level, once 1.5 s of it are known.
OWN_BEGIN, OWN_GO_ON = 10 ** (-6 / 20), 10 ** (-12 / 20)
OWN_KNOWN_BLOCKS = 75
# Louder is believed within 3 s of speech; quieter in 30 s, or others would become the learner.
OWN_PACE, OWN_PACE_DOWN = 1 / 150, 1 / 1500
# Who is refused for being quieter than usual lowers what is usual: by 6 dB in 12 s of talking.
OWN_DOUBT = 10 ** (-0.01 / 20)
# In any noise a voice so far below the learner's is faint: it may be somebody else.
FAINT = 10 ** (-8 / 20)


class Room:
    """One microphone. `hear` every block, `learner` those that are surely the learner's."""

    def __init__(self) -> None:
        self._power = 0.0
        self._blocks = 0
        self._lowest = self._before = math.inf
        self._voice_likeness = 0.0
        # Quietest power of each 200 ms, how much it sounded like a voice, and whether somebody
        # spoke for certain.
        self._buckets: deque[tuple[float, float, bool]] = deque(maxlen=LASTING)
        self._certain = False
        self._restless = 0.0
        self._own = 0.0
        self._own_blocks = 0
        self.floor = 0.0  # RMS; 0 while nothing in it could pass for a voice
        self.din = 0.0  # RMS of its quietest 200 ms, whatever it is; 0 while unknown
        self._valley = 0.0  # RMS of the quietest 200 ms of the last 2 s, whoever spoke

    def hear(self, rms: float, speech: float, *, warm: bool, certain: bool = False) -> None:
        """A block's RMS in sample units, what the two stages make of it, and whether somebody
        speaks for certain."""
        self._restless += RESTLESS_PACE * ((warm and not certain) - self._restless)
        self._certain = self._certain or certain
        self._power += SMOOTHING * (rms * rms - self._power)
        if self._power < self._lowest:
            self._lowest = self._power
            # A bucket that is quietest where it begins, and rises, shows the end of the one before.
            follows = not self._blocks and self._power > RISES * self._before
            self._voice_likeness = min(speech, self._voice_likeness) if follows else speech
        self._blocks += 1
        if self._blocks == BUCKET_BLOCKS:
            self._buckets.append((self._lowest, self._voice_likeness, self._certain))
            self._blocks, self._before, self._lowest = 0, self._lowest, math.inf
            self._certain = False
            self._measure()

    def empty(self) -> None:
        """Nobody and nothing has been heard for long: only the learner's level is remembered."""
        self._power = self._restless = self._voice_likeness = self.floor = self.din = 0.0
        self._blocks, self._lowest, self._before = 0, math.inf, math.inf
        self._certain = False
        self._buckets.clear()

    @property
    def restless(self) -> bool:
        return self._restless >= RESTLESS

    @property
    def crowded(self) -> bool:
        """There are voices in the background."""
        return self.floor >= QUIET

    def _measure(self) -> None:
        buckets = list(self._buckets)
        self._valley = _level(buckets[-BUCKETS:])[0] if len(buckets) >= BUCKETS else 0.0
        unspoken = [bucket for bucket in buckets[-BUCKETS:] if not bucket[2]]
        if len(unspoken) >= ENOUGH and len(buckets) >= BUCKETS:
            self.floor, self.din = _level(unspoken)
        elif len(buckets) == LASTING:
            floor, din = _level(buckets)
            self.floor, self.din = max(self.floor, floor), max(self.din, din)

    def learner(self, rms: float) -> None:
        """A block of certain speech; its peaks count, for they are what stands out of a room."""
        if rms < max(self.floor, self._valley) * BEGIN:
            return
        self._own_blocks += 1
        pace = OWN_PACE if rms > self._own else OWN_PACE_DOWN
        if self._own_blocks <= 2 * OWN_KNOWN_BLOCKS:
            pace = max(pace, 1 / self._own_blocks)
        self._own += pace * (rms - self._own)

    def refused(self, rms: float) -> None:
        """A block that `admits` did not; nobody is refused for ever."""
        if rms >= self.floor * BEGIN:
            self._own *= OWN_DOUBT

    def faint(self, rms: float) -> bool:
        """Whether a voice of this level may be somebody else's, in a room that is not quiet."""
        return self.din >= QUIET and rms < self.own * FAINT

    @property
    def own(self) -> float:
        """Mean RMS of the learner's certain speech; 0 while unknown."""
        return self._own if self._own_blocks >= OWN_KNOWN_BLOCKS else 0.0

    def admits(self, rms: float, *, going_on: bool) -> bool:
        """Whether a voice of this level may be the learner's."""
        if not self.crowded:
            return True
        if going_on and rms >= self.own * OWN_BEGIN > 0:
            return True
        above, near = (GO_ON, OWN_GO_ON) if going_on else (BEGIN, OWN_BEGIN)
        return rms >= max(self.floor * above, self.own * near)


def _level(buckets: list[tuple[float, float, bool]]) -> tuple[float, float]:
    """RMS of the quietest of them if it could pass for a voice, else 0; and whatever it is."""
    least = min(power for power, _, _ in buckets)
    likeness = [voice for power, voice, _ in buckets if power <= NEAR_LEAST * least]
    din = math.sqrt(least)
    return (din if sum(likeness) >= LIKE_VOICE * len(likeness) else 0.0), din
