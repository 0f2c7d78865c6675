"""HTTP to a running server as one person, by bearer."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout

ANSWER_S = 60.0


class CallFailed(Exception):
    """The lesson could not be held; one sentence on why."""


class Caller:
    """An async context manager."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url.rstrip("/")
        self._token = token
        self._http: ClientSession | None = None

    async def __aenter__(self) -> Caller:
        self._http = ClientSession(
            headers={"Authorization": f"Bearer {self._token}"},
            timeout=ClientTimeout(total=ANSWER_S),
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._http is not None:
            await self._http.close()

    async def ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """The answer of a request that must succeed. Raises CallFailed."""
        if self._http is None:
            raise RuntimeError("use it as an async context manager")
        try:
            async with self._http.request(method, self.url + path, json=body) as response:
                answer: dict[str, Any] = await response.json()
        except (ClientError, TimeoutError, ValueError) as error:
            raise CallFailed(f"{path}: {type(error).__name__} {error}".strip()) from error
        if response.status != 200:
            told = answer.get("error", {}).get("message", "")
            raise CallFailed(f"{path}: {response.status} {told}".strip())
        return answer
