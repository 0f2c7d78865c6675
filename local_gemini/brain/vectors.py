"""Embeddings by text, kept up to a bound. Safe from many threads; the embedder may block."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from local_gemini.engine import Embedder

Vector = npt.NDArray[np.float32]

KEPT_VECTORS = 4_096


class Vectors:
    """Embeddings by text, kept up to a bound; safe from many threads."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: OrderedDict[str, Vector] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of `texts`, in order."""
        with self._lock:
            known = {text: self._kept[text] for text in texts if text in self._kept}
        missing = list(dict.fromkeys(text for text in texts if text not in known))
        for text, vector in zip(missing, self._embedder.embed(missing), strict=True):
            known[text] = np.array(vector, np.float32)
        with self._lock:
            for text in missing:
                self._kept[text] = known[text]
            while len(self._kept) > KEPT_VECTORS:
                self._kept.popitem(last=False)
        return [known[text] for text in texts]
