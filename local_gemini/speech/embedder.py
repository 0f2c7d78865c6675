"""Sentence embeddings: MiniLM int8 by plain onnxruntime. Stateless, safe from many threads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from local_gemini.speech.models import EMBEDDING, EMBEDDING_WORDS, locate, open_model, require

MAX_TOKENS = 256
WIDTH = 384


class MiniLmEmbedder:
    """Unit vectors of 384 numbers; about 9 CPU ms per sentence, blocking."""

    def __init__(self, models_dir: Path | None = None) -> None:
        require("tokenizers")
        from tokenizers import Tokenizer

        self._model = open_model(locate(EMBEDDING, models_dir))
        self._names = [item.name for item in self._model.get_inputs()]
        self._tokenizer = Tokenizer.from_file(str(locate(EMBEDDING_WORDS, models_dir)))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per text, in order; text beyond 256 word pieces is not looked at."""
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> list[float]:
        encoding = self._tokenizer.encode(text)
        fields = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        feed = {name: np.array([fields[name]], np.int64) for name in self._names}
        hidden = self._model.run(None, feed)[0]
        vector = hidden.mean(axis=1)[0] if hidden.ndim == 3 else hidden[0]
        unit: list[float] = (vector / max(float(np.linalg.norm(vector)), 1e-9)).tolist()
        return unit
