"""Google's Identity Toolkit over REST: where a browser goes to sign in, and what comes of it.

Only the server speaks to Google, so no page loads a script of Google's. The project's OAuth client
and its secret stay with Firebase; all this needs is the project's web API key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp

TOOLKIT_URL = "https://identitytoolkit.googleapis.com/v1"
TOKEN_URL = "https://securetoken.googleapis.com/v1"  # noqa: S105
PROVIDER = "google.com"
REQUEST_S = 8.0
ANSWER_MAX_BYTES = 64 * 1024


class Trouble(StrEnum):
    """Why somebody is not signed in; the page has a sentence for each."""

    REFUSED = "refused"
    ACCOUNT = "account"
    UNAVAILABLE = "unavailable"
    SETUP = "setup"


class GoogleTrouble(Exception):
    """`said` is Google's own word for it, for the log and the operator; never shown to a person."""

    def __init__(self, trouble: Trouble, said: str) -> None:
        super().__init__(said)
        self.trouble = trouble
        self.said = said


@dataclass(frozen=True, slots=True)
class Authorisation:
    """`url`: where the browser goes; `state` comes back with it; `session_id` does not."""

    url: str
    state: str
    session_id: str


@dataclass(frozen=True, slots=True)
class Tokens:
    """A Firebase ID token, not yet verified, and what renews it."""

    id_token: str
    refresh_token: str


_SETUP_STATUS = frozenset({401, 403, 404})
# The first word of an answer that is no success.
_MEANS: Mapping[str, Trouble] = {
    "USER_DISABLED": Trouble.ACCOUNT,
    "USER_NOT_FOUND": Trouble.ACCOUNT,
    "TOKEN_EXPIRED": Trouble.REFUSED,
    "INVALID_REFRESH_TOKEN": Trouble.REFUSED,
    "INVALID_IDP_RESPONSE": Trouble.REFUSED,
    "OPERATION_NOT_ALLOWED": Trouble.SETUP,
    "CONFIGURATION_NOT_FOUND": Trouble.SETUP,
    "UNAUTHORIZED_DOMAIN": Trouble.SETUP,
    "INVALID_CONTINUE_URI": Trouble.SETUP,
    "PROJECT_NOT_FOUND": Trouble.SETUP,
    "PROJECT_NUMBER_MISMATCH": Trouble.SETUP,
    "INVALID_PROVIDER_ID": Trouble.SETUP,
    "QUOTA_EXCEEDED": Trouble.UNAVAILABLE,
    "TOO_MANY_ATTEMPTS_TRY_LATER": Trouble.UNAVAILABLE,
}


class GoogleAccounts:
    """`api_key` names the project; `public_url` is told to Google, for keys bound to an address.

    Every call raises GoogleTrouble.
    """

    def __init__(
        self, api_key: str, public_url: str, *, toolkit_url: str = "", token_url: str = ""
    ) -> None:
        self._key = api_key
        self._toolkit_url = toolkit_url or TOOLKIT_URL
        self._token_url = token_url or TOKEN_URL
        self._referer = f"{public_url}/"
        self._http: aiohttp.ClientSession | None = None

    async def authorise(self, redirect_uri: str) -> Authorisation:
        """Asks where a browser signs in, to come back to `redirect_uri`."""
        answer = await self._post(
            f"{self._toolkit_url}/accounts:createAuthUri",
            json={
                "providerId": PROVIDER,
                "continueUri": redirect_uri,
                "authFlowType": "CODE_FLOW",
                "customParameter": {"prompt": "select_account"},
            },
        )
        url, session_id = str(answer.get("authUri", "")), str(answer.get("sessionId", ""))
        state = parse_qs(urlsplit(url).query).get("state", [""])[0]
        if not url.startswith(("https://", "http://")) or not state or not session_id:
            raise GoogleTrouble(Trouble.SETUP, "no authorisation address for google.com")
        return Authorisation(url, state, session_id)

    async def exchange(self, landed_on: str, session_id: str) -> Tokens:
        """`landed_on`: the whole address that Google sent the browser back to. Works once."""
        answer = await self._post(
            f"{self._toolkit_url}/accounts:signInWithIdp",
            json={
                "requestUri": landed_on,
                "sessionId": session_id,
                "returnSecureToken": True,
            },
        )
        if answer.get("needConfirmation") is True:
            raise GoogleTrouble(
                Trouble.ACCOUNT, "needConfirmation: another sign-in has the address"
            )
        return _tokens(answer, "idToken", "refreshToken")

    async def refresh(self, refresh_token: str) -> Tokens:
        """Refused or Account when the sign-in was revoked, or the account disabled or deleted."""
        answer = await self._post(
            f"{self._token_url}/token",
            data={"grant_type": "refresh_token", "refresh_token": refresh_token},
        )
        return _tokens(answer, "id_token", "refresh_token")

    async def close(self) -> None:
        """Idempotent."""
        if self._http is not None:
            await self._http.close()
            self._http = None

    async def _post(self, url: str, **body: Any) -> Mapping[str, Any]:
        if self._http is None:
            timeout = aiohttp.ClientTimeout(total=REQUEST_S)
            # A proxy of the environment is for Google, never for a service on this machine.
            proxied = url.startswith("https://")
            self._http = aiohttp.ClientSession(timeout=timeout, trust_env=proxied)
        try:
            async with self._http.post(
                url,
                params={"key": self._key},
                headers={"Referer": self._referer},
                allow_redirects=False,
                **body,
            ) as response:
                raw = await response.content.read(ANSWER_MAX_BYTES)
                status = response.status
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            # The message of a client error may carry the address, and with it the key.
            raise GoogleTrouble(Trouble.UNAVAILABLE, type(error).__name__) from None
        answer = _object(raw)
        if status != 200:
            raise _refusal(status, answer)
        return answer


def _object(raw: bytes) -> Mapping[str, Any]:
    try:
        answer = json.loads(raw)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _refusal(status: int, answer: Mapping[str, Any]) -> GoogleTrouble:
    """Only Google's own word ends a sign-in; what a proxy or a captive portal says does not."""
    error = answer.get("error")
    said = str(error.get("message", "")) if isinstance(error, dict) else ""
    known = _MEANS.get(said.partition(" ")[0].rstrip(":"))
    if status >= 500 or status == 429 or not (said or status in _SETUP_STATUS):
        return GoogleTrouble(Trouble.UNAVAILABLE, said[:200] or f"HTTP {status}")
    if known is None:
        wrong = status in _SETUP_STATUS or "API key" in said
        known = Trouble.SETUP if wrong else Trouble.REFUSED
    return GoogleTrouble(known, said[:200] or f"HTTP {status}")


def _tokens(answer: Mapping[str, Any], id_token: str, refresh_token: str) -> Tokens:
    found = Tokens(str(answer.get(id_token, "")), str(answer.get(refresh_token, "")))
    if not found.id_token or not found.refresh_token:
        raise GoogleTrouble(Trouble.UNAVAILABLE, "an answer without tokens")
    return found
