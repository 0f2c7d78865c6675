"""An optional OpenAI-compatible chat endpoint that words answers instead of the local tutor.

Blocking, for worker threads. Every failure is logged and answered with None: the caller then uses
its own deterministic answer, so a lesson never depends on this endpoint.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Sequence

import httpx

log = logging.getLogger(__name__)

DEADLINE_S = 12.0
CONNECT_S = 2.0
# After a failure the endpoint is left alone for this long, so that each turn does not wait anew.
REST_S = 20.0
ANSWER_MAX = 64 * 1024
TOKENS_MAX = 2_048


class RemoteModel:
    """`url` is the base of the API (`http://127.0.0.1:11434/v1`); safe from many threads."""

    def __init__(
        self,
        url: str,
        model: str = "",
        *,
        deadline_s: float = DEADLINE_S,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._base = url.rstrip("/").removesuffix("/chat/completions")
        self._model = model
        self._deadline_s = deadline_s
        self._client = httpx.Client(
            timeout=httpx.Timeout(deadline_s, connect=CONNECT_S), transport=transport
        )
        self._lock = threading.Lock()
        self._resting_until = 0.0

    def complete(self, system: str, turns: Sequence[tuple[str, str]]) -> str | None:
        """The next model turn after `turns` (role `user` or `model`, text); None on any failure."""
        with self._lock:
            if time.monotonic() < self._resting_until:
                return None
        roles = {"user": "user", "model": "assistant"}
        messages = [{"role": "system", "content": system}]
        messages += [{"role": roles.get(role, "user"), "content": text} for role, text in turns]
        try:
            answer = self._ask(messages)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, LookupError, TypeError) as error:
            log.warning(
                "local language model failed, the built-in tutor answers",
                extra={"reason": type(error).__name__},
            )
            with self._lock:
                self._resting_until = time.monotonic() + REST_S
            return None
        return answer.strip() or None

    def _ask(self, messages: list[dict[str, str]]) -> str:
        until = time.monotonic() + self._deadline_s
        if not self._model:
            listed = self._client.get(f"{self._base}/models").raise_for_status().json()
            self._model = str(listed["data"][0]["id"])
        body = {"model": self._model, "messages": messages, "max_tokens": TOKENS_MAX}
        received = b""
        with self._client.stream("POST", f"{self._base}/chat/completions", json=body) as response:
            response.raise_for_status()
            for chunk in response.iter_bytes():
                received += chunk
                if time.monotonic() > until:
                    raise httpx.ReadTimeout("the answer took too long")
                if len(received) > ANSWER_MAX:
                    raise ValueError("the answer is too long")
        content = json.loads(received)["choices"][0]["message"]["content"]
        if not isinstance(content, str):
            raise TypeError("the answer holds no text")
        return content
