"""A deterministic stand-in for sentence embeddings: hashed word stems, no model."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from local_gemini.brain.language import stems

WIDTH = 384


class BagEmbedder:
    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        made = []
        for text in texts:
            vector = np.zeros(WIDTH)
            for item in stems(text):
                vector[zlib.crc32(item.encode()) % WIDTH] += 1
            made.append((vector / max(float(np.linalg.norm(vector)), 1e-9)).tolist())
        return made
