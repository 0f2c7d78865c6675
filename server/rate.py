"""Token buckets in bounded memory. No I/O; the caller brings monotonic seconds."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass


@dataclass(slots=True)
class _Bucket:
    tokens: float
    filled_at: float


class RateLimit:
    """`per_s` sustained and `burst` at once, per key; the least recently seen key is forgotten."""

    def __init__(self, *, per_s: float, burst: float, keys_max: int = 10_000) -> None:
        self._per_s = per_s
        self._burst = burst
        self._keys_max = keys_max
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def take(self, key: str, at: float) -> float:
        """0 when admitted, else the seconds until the next one would be."""
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = _Bucket(self._burst, at)
            if len(self._buckets) > self._keys_max:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(key)
            gained = (at - bucket.filled_at) * self._per_s
            bucket.tokens = min(self._burst, bucket.tokens + gained)
            bucket.filled_at = at
        if bucket.tokens >= 1:
            bucket.tokens -= 1
            return 0.0
        return (1 - bucket.tokens) / self._per_s

    def __len__(self) -> int:
        return len(self._buckets)
