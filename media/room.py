"""How loud the room is when nobody speaks, and how loud the learner is in it. Pure.

Other people's voices are speech to every detector: only their level tells them from the learner.
"""

from __future__ import annotations

import math
from collections import deque

# A level counts as smoothed over about ten blocks; the quietest of the last 2 s is the room's.
SMOOTHING = 0.1
BUCKET_BLOCKS = 10
BUCKETS = 10
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
        # Quietest power of each 200 ms, and how much it sounded like a voice.
        self._buckets: deque[tuple[float, float]] = deque(maxlen=BUCKETS)
        self._restless = 0.0
        self._own = 0.0
        self._own_blocks = 0
        self.floor = 0.0  # RMS; 0 while nothing in it could pass for a voice
        self.din = 0.0  # RMS of its quietest 200 ms, whatever it is; 0 while unknown

    def hear(self, rms: float, speech: float, *, warm: bool) -> None:
        """A block's RMS in sample units, and what the stages make of it, while nobody speaks
        for certain (`warm`) and always (`speech`)."""
        self._restless += RESTLESS_PACE * (warm - self._restless)
        self._power += SMOOTHING * (rms * rms - self._power)
        if self._power < self._lowest:
            self._lowest = self._power
            # A bucket that is quietest where it begins, and rises, shows the end of the one before.
            follows = not self._blocks and self._power > RISES * self._before
            self._voice_likeness = min(speech, self._voice_likeness) if follows else speech
        self._blocks += 1
        if self._blocks == BUCKET_BLOCKS:
            self._buckets.append((self._lowest, self._voice_likeness))
            self._blocks, self._before, self._lowest = 0, self._lowest, math.inf
            self._measure()

    def empty(self) -> None:
        """Nobody and nothing has been heard for long: only the learner's level is remembered."""
        self._power = self._restless = self._voice_likeness = self.floor = self.din = 0.0
        self._blocks, self._lowest, self._before = 0, math.inf, math.inf
        self._buckets.clear()

    @property
    def restless(self) -> bool:
        return self._restless >= RESTLESS

    @property
    def crowded(self) -> bool:
        """There are voices in the background."""
        return self.floor >= QUIET

    def _measure(self) -> None:
        if len(self._buckets) < BUCKETS:
            self.floor = self.din = 0.0
            return
        least = min(power for power, _ in self._buckets)
        likeness = [voice for power, voice in self._buckets if power <= NEAR_LEAST * least]
        self.din = math.sqrt(least)
        self.floor = self.din if sum(likeness) >= LIKE_VOICE * len(likeness) else 0.0

    def learner(self, rms: float) -> None:
        """A block of certain speech."""
        if rms < self.floor * BEGIN:
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
        above, near = (GO_ON, OWN_GO_ON) if going_on else (BEGIN, OWN_BEGIN)
        return rms >= max(self.floor * above, self.own * near)
