"""The REST doors: keys, scripts, bodies in and out, Google's error objects. The answers themselves
are made in `generate.py`, `embed.py` and `tokens.py`."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from local_gemini.embed import embeddings
from local_gemini.generate import generate, prompt_tokens, request_of, streamed
from local_gemini.house import House
from local_gemini.live import key_of
from local_gemini.models import MODELS, bare, described
from local_gemini.record import RequestRecord
from local_gemini.refusal import DoorStage, problem
from local_gemini.script import carry_out
from local_gemini.tokens import PREFIX
from local_gemini.usage import details
from local_gemini.wire import Json, WireError, camel, message_of

log = logging.getLogger(__name__)

RECORDED_CHARS = 50_000
VERSION = r"/{version:v1|v1beta|v1alpha}"
MOMENTS = {
    "generateContent": "generate",
    "streamGenerateContent": "stream",
    "batchEmbedContents": "embed",
    "embedContent": "embed",
    "countTokens": "count",
}


class RestDoors:
    def __init__(self, house: House) -> None:
        self._house = house

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get(VERSION + "/models", self.list_models),
            web.get(VERSION + "/models/{name}", self.get_model),
            web.post(VERSION + "/models/{call}", self.call),
            web.post(VERSION + "/auth_tokens", self.mint),
        ]

    async def list_models(self, request: web.Request) -> web.StreamResponse:
        return self._stranger(request) or web.json_response(
            {"models": [described(name) for name in MODELS]}
        )

    async def get_model(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        refused = self._stranger(request)
        if refused is not None:
            return refused
        if name not in MODELS:
            return problem(404, f"models/{name} is not found.")
        return web.json_response(described(name))

    async def call(self, request: web.Request) -> web.StreamResponse:
        """`models/<name>:<method>`"""
        model, _, method = request.match_info["call"].rpartition(":")
        if method not in MOMENTS:
            return problem(404, f"Method {method!r} not found.")
        answers: dict[str, Callable[[str, Json], Awaitable[Json]]] = {
            "generateContent": self._generate,
            "streamGenerateContent": self._generate,
            "countTokens": self._count,
            "batchEmbedContents": self._embed,
            "embedContent": self._embed_one,
        }
        answer = answers[method]
        outcome = await self._answered(request, method, model, lambda body: answer(model, body))
        if isinstance(outcome, web.Response):
            return outcome
        if method == "streamGenerateContent":
            return await self._stream(request, outcome)
        return web.json_response(outcome)

    async def mint(self, request: web.Request) -> web.StreamResponse:
        if request.match_info["version"] != "v1alpha":
            return problem(404, "auth_tokens is part of v1alpha.")

        async def minted(body: Json) -> Json:
            token = self._house.tokens.mint(body, self._house.now())
            return {"name": token.name}

        outcome = await self._answered(request, "auth_tokens", "", minted)
        return outcome if isinstance(outcome, web.Response) else web.json_response(outcome)

    # --- what each method answers -------------------------------------------------------------

    async def _generate(self, model: str, body: Json) -> Json:
        return await generate(self._house, model, request_of(body))

    async def _count(self, model: str, body: Json) -> Json:
        request = camel(body)
        inner = request.get("generateContentRequest") or request
        counts = prompt_tokens(request_of({"contents": inner.get("contents"), **_shared(inner)}))
        return {"totalTokens": sum(counts.values()), "promptTokensDetails": details(counts)}

    async def _embed(self, model: str, body: Json) -> Json:
        request = camel(body)
        return {"embeddings": await embeddings(self._house, model, request.get("requests"))}

    async def _embed_one(self, model: str, body: Json) -> Json:
        return {"embedding": (await embeddings(self._house, model, [camel(body)]))[0]}

    # --- the door -----------------------------------------------------------------------------

    def _stranger(self, request: web.Request) -> web.Response | None:
        key = key_of(request)
        if not key:
            return problem(403, "Method doesn't allow unregistered callers.")
        if key.startswith(PREFIX):
            return problem(401, "Ephemeral tokens are for the Live API only.")
        if self._house.api_key is not None and key != self._house.api_key:
            return problem(400, "API key not valid. Please pass a valid API key.")
        return None

    async def _answered(
        self,
        request: web.Request,
        method: str,
        model: str,
        answer: Callable[[Json], Awaitable[Json]],
    ) -> Json | web.Response:
        """Reads, lets the script interfere, answers, records."""
        refused = self._stranger(request)
        if refused is not None:
            return refused
        house = self._house
        body: Json = {}
        try:
            body = message_of(await request.read() or b"{}")
            stage = DoorStage(house.speed)
            moment = MOMENTS.get(method, "token")
            await carry_out(house.script.due(moment, subject={**body, "model": model}), stage)
            if stage.aborted and request.transport is not None:
                request.transport.abort()
            if stage.status:
                outcome: Json | web.Response = problem(stage.status, stage.reason)
            else:
                outcome = stage.body if stage.body is not None else await answer(body)
        except WireError as error:
            outcome = problem(400, error.reason)
        except Exception:  # boundary: the engine's faults are one request's 500
            log.exception("request failed")
            outcome = problem(500, "An internal error has occurred.")
        status = outcome.status if isinstance(outcome, web.Response) else 200
        house.journal.request(RequestRecord(method, bare(model), _without_media(body), status))
        return outcome

    async def _stream(self, request: web.Request, body: Json) -> web.StreamResponse:
        chunks = list(streamed(body)) if body.get("candidates") else [body]
        if request.query.get("alt") != "sse":
            return web.json_response(chunks)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for chunk in chunks:
            await response.write(f"data: {json.dumps(chunk)}\r\n\r\n".encode())
        await response.write_eof()
        return response


def _shared(request: Json) -> Json:
    return {key: request[key] for key in ("systemInstruction", "tools") if key in request}


def _without_media(value: Any) -> Any:
    """For the record: `data` of blobs becomes its length, long text its beginning."""
    if isinstance(value, dict):
        return {
            key: f"<{len(item)} characters>"
            if key == "data" and isinstance(item, str)
            else _without_media(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_without_media(item) for item in value]
    if isinstance(value, str) and len(value) > RECORDED_CHARS:
        return value[:RECORDED_CHARS] + "…"
    return value
