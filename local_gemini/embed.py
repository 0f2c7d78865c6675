"""`batchEmbedContents`: one vector a request, in the dimension that was asked for."""

from __future__ import annotations

import math
from typing import Any

from local_gemini.house import House
from local_gemini.models import bare
from local_gemini.wire import Json, WireError, text_of

MAX_REQUESTS = 100
MAX_DIMENSIONS = 3072


async def embeddings(house: House, model: str, requests: Any) -> list[Json]:
    """`{"values": […]}` for each request. Raises WireError."""
    if not isinstance(requests, list) or not 0 < len(requests) <= MAX_REQUESTS:
        raise WireError(f"BatchEmbedContentsRequest.requests: 1 to {MAX_REQUESTS} are allowed.")
    texts: list[str] = []
    sizes: list[int | None] = []
    for request in requests:
        if request.get("model", model) not in (model, f"models/{bare(model)}"):
            raise WireError("The model of a request differs from the one in the address.")
        text = text_of(request.get("content"))
        if not text:
            raise WireError("EmbedContentRequest.content: content is empty.")
        size = request.get("outputDimensionality")
        if size is not None and not 1 <= int(size) <= MAX_DIMENSIONS:
            raise WireError("EmbedContentRequest.outputDimensionality is out of range.")
        texts.append(text)
        sizes.append(None if size is None else int(size))
    vectors = await house.workers.think(house.engine.embedder.embed, texts)
    return [{"values": sized(vector, size)} for vector, size in zip(vectors, sizes, strict=True)]


def sized(vector: list[float], size: int | None) -> list[float]:
    """Cut (and brought back to length 1) or filled up with zeros: angles stay what they are."""
    if size is None or size == len(vector):
        return vector
    if size > len(vector):
        return vector + [0.0] * (size - len(vector))
    cut = vector[:size]
    norm = math.sqrt(sum(value * value for value in cut))
    return [value / norm for value in cut] if norm else cut
