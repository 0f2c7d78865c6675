"""LocalGemini: the whole double, on loopback, with TLS, as an async context manager."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType

from aiohttp import web

from local_gemini.certificate import Certificate, self_signed
from local_gemini.engine import Engine
from local_gemini.house import House
from local_gemini.live import LIVE_PATH, LiveDoor
from local_gemini.record import Journal, RequestRecord, SessionRecord
from local_gemini.rest import RestDoors
from local_gemini.script import Script
from local_gemini.workers import Workers

HOST = "127.0.0.1"
# Inline documents and recordings: the service takes 20 MB a request.
MAX_BODY_BYTES = 24 * 2**20
SHUTDOWN_S = 1.0
UNTIL_S = 10.0


class LocalGemini:
    """Usable once. `speed` divides real-time waits (never input audio, which counts samples).
    `api_key` admits that key only. `recorded=False`: nothing is kept for tests to look at, as
    befits a server that people talk to."""

    def __init__(
        self,
        engine: Engine,
        script: Script | None = None,
        speed: float = 1.0,
        *,
        port: int = 0,
        api_key: str | None = None,
        recorded: bool = True,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        if speed <= 0:
            raise ValueError("speed must be positive")
        self.house = House(
            engine=engine,
            workers=Workers(engine.threads),
            script=script if script is not None else Script(),
            speed=speed,
            now=now,
            api_key=api_key,
            journal=Journal(keep=recorded),
        )
        self._port = port
        self._certificate: Certificate | None = None
        self._runner: web.AppRunner | None = None
        self._live = LiveDoor(self.house)

    async def start(self) -> None:
        """Raises OSError when the port is taken."""
        self._certificate = self_signed()
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.router.add_get(LIVE_PATH, self._live.connect)
        app.add_routes(RestDoors(self.house).routes())
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=SHUTDOWN_S)
        await runner.setup()
        self._runner = runner
        site = web.TCPSite(runner, HOST, self._port, ssl_context=self._certificate.server_context)
        try:
            await site.start()
        except OSError:
            await self.close()
            raise
        self._port = int(runner.addresses[0][1])

    async def close(self) -> None:
        """Idempotent; bounded by SHUTDOWN_S and the sockets' close deadline."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await self._live.close()
            await runner.cleanup()
        self.house.workers.close()

    async def __aenter__(self) -> LocalGemini:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def port(self) -> int:
        return self._port

    @property
    def base_url(self) -> str:
        return f"https://{HOST}:{self._port}"

    @property
    def certificate_pem(self) -> str:
        return self._made().pem

    @property
    def ssl_context(self) -> ssl.SSLContext:
        """A new client context that trusts this server and nobody else."""
        return self._made().client_context()

    @property
    def script(self) -> Script:
        return self.house.script

    @property
    def sessions(self) -> list[SessionRecord]:
        """Live connections in order, refused ones included."""
        return self.house.journal.sessions

    @property
    def requests(self) -> list[RequestRecord]:
        """REST calls in order."""
        return self.house.journal.requests

    async def until(self, seen: Callable[[], object], deadline_s: float = UNTIL_S) -> None:
        """Waits until what is recorded satisfies `seen()`. Raises TimeoutError."""
        await self.house.journal.until(seen, deadline_s)

    async def go_away(self, time_left_s: float = 50.0, *, then_close: bool = True) -> None:
        """Announces the end to every open session; the close follows when the time is over."""
        await self._live.go_away(time_left_s, then_close)

    def _made(self) -> Certificate:
        if self._certificate is None:
            raise RuntimeError("LocalGemini is not started")
        return self._certificate
