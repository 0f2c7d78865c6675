"""Ephemeral tokens: minted by the product's gateway, used as a browser would (VOICE-3, API-33)."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from agent.gemini import ModelError, ModelGateway
from agent.live_token import LiveConstraints
from media.live.frames import parse
from media.live.gemini import GOOGLE_BASE_URL
from media.live.port import ReplyText, TurnComplete
from scripts.probe.bench import Bench
from scripts.probe.lesson import FIRST, GO_ON, SECOND, about
from scripts.probe.report import Check, failed, judged, passed

NAMES = ("token-minted", "token-connects", "token-locked", "token-uses")
PATH = "/ws/google.ai.generativelanguage.v1alpha.GenerativeService.BidiGenerateContentConstrained"
USES = 2
OPEN_S = 10.0
MAX_FRAME_BYTES = 8 << 20


class Refused(Exception):
    """The endpoint did not take the connection, or ended it."""


async def tokens(bench: Bench) -> AsyncIterator[Check]:
    gateway = ModelGateway(bench.api_key, bench.base_url, bench.ssl_context, OPEN_S)
    now = datetime.now(UTC)
    try:
        token = await gateway.mint_live_token(
            LiveConstraints(bench.model, about(FIRST), silence_ms=500),
            uses=USES,
            expire_time=now + timedelta(minutes=5),
            new_session_expire_time=now + timedelta(minutes=2),
        )
    except ModelError as error:
        yield failed("token-minted", f"{error} {error.detail}".strip())
        for name in NAMES[1:]:
            yield failed(name, "there is no token")
        return
    finally:
        await gateway.aclose()
    yield judged(
        "token-minted",
        token.name.startswith("auth_tokens/"),
        f"for {USES} uses",
        "a token does not begin with auth_tokens/",
    )
    plain: dict[str, object] = {
        "model": f"models/{bench.model.removeprefix('models/')}",
        "generationConfig": {"responseModalities": ["AUDIO"]},
        "outputAudioTranscription": {},
    }
    try:
        async with opened(bench, token.name, plain):
            yield passed("token-connects", "on the constrained endpoint, by access_token")
    except Refused as refused:
        yield failed("token-connects", str(refused))
        for name in NAMES[2:]:
            yield failed(name, "the token opens no session")
        return
    yield await _locked(bench, token.name, plain)
    try:
        async with opened(bench, token.name, plain):
            yield failed("token-uses", f"a token for {USES} uses opened {USES + 1} sessions")
    except Refused as refused:
        yield passed("token-uses", f"use {USES + 1} is refused: {refused}")


async def _locked(bench: Bench, token: str, plain: dict[str, object]) -> Check:
    """A client that asks for another lesson gets the one of the token, or none."""
    changed = {**plain, "systemInstruction": {"parts": [{"text": about(SECOND)}]}}
    try:
        async with opened(bench, token, changed) as socket:
            words = await _words(socket, bench.patience.answer_s)
    except Refused as refused:
        return passed("token-locked", f"another setup is refused: {refused}")
    if SECOND.casefold() in words.casefold():
        return failed("token-locked", f"the client's own instruction was followed: {words[:80]!r}")
    return judged(
        "token-locked",
        FIRST.casefold() in words.casefold(),
        "another instruction has no effect",
        f"the token's instruction was not followed: {words[:80]!r}",
    )


async def _words(socket: ClientConnection, within_s: float) -> str:
    """The answer to a typed turn, as far as it came in time. Raises Refused."""
    turn = {"turns": [{"role": "user", "parts": [{"text": GO_ON}]}], "turnComplete": True}
    words = ""
    try:
        async with asyncio.timeout(within_s):
            await socket.send(json.dumps({"clientContent": turn}))
            while True:
                events = parse(await socket.recv())
                words += "".join(event.text for event in events if isinstance(event, ReplyText))
                if any(isinstance(event, TurnComplete) for event in events):
                    return words
    except TimeoutError:
        return words
    except ConnectionClosed as closed:
        raise Refused(_reason(closed)) from closed


@asynccontextmanager
async def opened(
    bench: Bench, token: str, setup: dict[str, object]
) -> AsyncIterator[ClientConnection]:
    """A session as a direct client opens it, set up. Raises Refused."""
    base = urlsplit(bench.base_url or GOOGLE_BASE_URL)
    local = base.hostname in ("127.0.0.1", "localhost")
    opening = connect(
        f"wss://{base.netloc}{PATH}?access_token={quote(token, safe='/')}",
        ssl=bench.ssl_context or ssl.create_default_context(),
        open_timeout=OPEN_S,
        close_timeout=1,
        max_size=MAX_FRAME_BYTES,
        compression=None,
        proxy=None if local else True,
    )
    try:
        async with asyncio.timeout(OPEN_S):
            socket = await opening
            await socket.send(json.dumps({"setup": setup}))
            first = json.loads(await socket.recv())
    except ConnectionClosed as closed:
        raise Refused(_reason(closed)) from closed
    except InvalidStatus as status:
        raise Refused(f"HTTP {status.response.status_code}") from status
    except (OSError, TimeoutError, ValueError) as error:
        raise Refused(f"{type(error).__name__} {error}".strip()) from error
    try:
        if "setupComplete" not in first:
            raise Refused("the first message was not setupComplete")
        yield socket
    finally:
        await socket.close()


def _reason(closed: ConnectionClosed) -> str:
    frame = closed.rcvd or closed.sent
    return f"{frame.code} {frame.reason}".strip() if frame else "the connection broke"
