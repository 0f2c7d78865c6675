"""Ephemeral tokens: minting, uses, expiry, and the setup they lock. No I/O; time comes in.

Facts: default life 30 minutes, 60 s to start a session, both under 20 hours; uses default 1 and
0 means no limit; resuming a session is not a use.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from local_gemini.setup import SETUP
from local_gemini.wire import Json, WireError, camel, camel_key, check_fields

PREFIX = "auth_tokens/"
EXPIRES = timedelta(minutes=30)
NEW_SESSION_EXPIRES = timedelta(seconds=60)
LONGEST = timedelta(hours=20)
MAX_TOKENS = 10_000

CREATE: Mapping[str, Any] = {
    "expireTime": None,
    "newSessionExpireTime": None,
    "uses": None,
    "bidiGenerateContentSetup": SETUP,
    "fieldMask": None,
}


@dataclass(slots=True)
class Token:
    """`mask` None locks the whole setup; else only the named paths. `setup` None locks nothing."""

    name: str
    expires: datetime
    new_session_expires: datetime
    uses: int
    setup: Json | None
    mask: tuple[str, ...] | None
    used: int = 0

    def effective(self, asked: Json) -> Json:
        """The setup that counts: what the token locks wins over what the client asks; only a
        resumption handle always comes from the client."""
        if self.setup is None:
            return asked
        if self.mask is None:
            locked = dict(self.setup)
            asked_resumption = asked.get("sessionResumption")
            if asked_resumption and "sessionResumption" in locked:
                locked["sessionResumption"] = asked_resumption
            locked.setdefault("model", asked.get("model"))
            return locked
        merged: Json = _copy(asked)
        for path in self.mask:
            _transplant(self.setup, merged, path.split("."))
        return merged


class Tokens:
    """All tokens of a server; the oldest are forgotten beyond MAX_TOKENS."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Token] = OrderedDict()

    def mint(self, body: Mapping[str, Any], now: datetime) -> Token:
        """Reads a create request. Raises WireError (the REST door answers 400)."""
        request = camel(dict(body))
        check_fields(request, CREATE, "auth_token")
        expires = _time(request, "expireTime", now + EXPIRES)
        starts = _time(request, "newSessionExpireTime", now + NEW_SESSION_EXPIRES)
        for name, moment in (("expireTime", expires), ("newSessionExpireTime", starts)):
            if not now < moment <= now + LONGEST:
                raise WireError(f"{name} must lie in the next 20 hours.")
        uses = request.get("uses", 1)
        if isinstance(uses, bool) or not isinstance(uses, int) or uses < 0:
            raise WireError("uses must be a whole number, 0 for no limit.")
        token = Token(
            name=PREFIX + secrets.token_urlsafe(24),
            expires=expires,
            new_session_expires=starts,
            uses=uses,
            setup=request.get("bidiGenerateContentSetup"),
            mask=_mask(request.get("fieldMask")),
        )
        self._known[token.name] = token
        while len(self._known) > MAX_TOKENS:
            self._known.popitem(last=False)
        return token

    def admit(self, name: str, now: datetime) -> Token:
        """The token of a connection that may go on to its setup. Raises WireError 1008."""
        token = self._known.get(name)
        if token is None:
            raise WireError("The ephemeral token is not valid.", 1008)
        if now >= token.expires:
            raise WireError("The ephemeral token has expired.", 1008)
        return token

    def start(self, token: Token, resuming: bool, now: datetime) -> None:
        """Counts a use. Raises WireError 1008 for a used-up token or one too late for a new
        session."""
        if resuming:
            return
        if now >= token.new_session_expires:
            raise WireError("The ephemeral token can no longer start a session.", 1008)
        if token.uses and token.used >= token.uses:
            raise WireError("The ephemeral token has been used too many times.", 1008)
        token.used += 1


def _time(request: Mapping[str, Any], name: str, default: datetime) -> datetime:
    value = request.get(name)
    if value is None:
        return default
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError as error:
        raise WireError(f"{name} is not a timestamp.") from error
    if moment.tzinfo is None:
        raise WireError(f"{name} needs a time zone.")
    return moment


def _mask(value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    paths = tuple(
        ".".join(camel_key(step) for step in path.strip().split("."))
        for path in str(value).split(",")
        if path.strip()
    )
    for path in paths:
        head, _, rest = path.partition(".")
        # js-genai#1492: the service refuses paths below a Content.
        if head not in SETUP or (rest and head == "systemInstruction"):
            raise WireError("field_mask is invalid.")
    return paths


def _copy(value: Any) -> Any:
    return {key: _copy(item) for key, item in value.items()} if isinstance(value, dict) else value


def _transplant(source: Json, target: Json, path: list[str]) -> None:
    """Makes `target` carry what `source` has at `path`, and nothing where it has nothing."""
    here: Any = source
    for step in path[:-1]:
        here = here.get(step) if isinstance(here, dict) else None
        target = target.setdefault(step, {})
    last = path[-1]
    if isinstance(here, dict) and last in here:
        target[last] = here[last]
    else:
        target.pop(last, None)
