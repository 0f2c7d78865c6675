"""WebRTC signalling over HTTP, in the SmallWebRTC convention, so that stock clients connect.

`POST /api/offer` answers an offer, `PATCH /api/offer` takes trickled candidates, `GET
/api/ice-servers` names relays, `POST /api/rtcClose` ends a voice session when a page goes away.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from server.bodies import read_json
from server.callers import Caller
from server.complaints import complaint
from server.context import Context
from server.errors import missing
from server.lessons import Lessons
from server.operations.fields import SessionId, Style, TopicId
from server.roles import Role, require
from server.security import Limits

# Browsers send 2 to 10 KB; a stock client with three sections stays under 30 KB.
OFFER_MAX_BYTES = 256 * 1024
SDP_MAX_CHARS = 200_000
CANDIDATES_MAX = 100
# coturn's REST convention: credentials that expire.
TURN_TTL_S = 3600


class _Loose(BaseModel):
    """Stock clients add fields of their own."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)


class OfferData(_Loose):
    session_id: SessionId = Field(alias="sessionId")
    topic_id: TopicId = Field(alias="topicId")
    style: Style | None = None


class Offer(_Loose):
    """`pc_id` and `restart_pc` are accepted; a new offer always makes a new peer."""

    sdp: Annotated[str, Field(min_length=1, max_length=SDP_MAX_CHARS)]
    type: Literal["offer"]
    pc_id: str | None = None
    restart_pc: bool | None = None
    data: OfferData = Field(alias="requestData")


class Candidates(_Loose):
    """Accepted and not needed: the server learns the client's address from its checks."""

    pc_id: Annotated[str, Field(min_length=1, max_length=64)]
    candidates: Annotated[list[dict[str, Any]], Field(max_length=CANDIDATES_MAX)] = []


class PeerRef(_Loose):
    pc_id: Annotated[str, Field(min_length=1, max_length=64)]


Body = TypeVar("Body", bound=BaseModel)


def _parsed(model: type[Body], payload: Any) -> Body:
    try:
        return model.model_validate(payload)
    except ValidationError as error:
        raise complaint(error) from None


class Signalling:
    """The handlers; `limits` are the process's; `lessons` gives the registry while it is open."""

    def __init__(self, ctx: Context, limits: Limits, lessons: Callable[[], Lessons]) -> None:
        self._ctx, self._limits, self._registry = ctx, limits, lessons

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/api/offer", self.offer),
            web.patch("/api/offer", self.candidates),
            web.get("/api/ice-servers", self.ice_servers),
            web.post("/api/rtcClose", self.close),
        ]

    @property
    def _lessons(self) -> Lessons:
        return self._registry()

    async def _caller(self, request: web.Request) -> Caller:
        caller = await self._ctx.callers.authenticate(request)
        self._limits.caller(caller.uid)
        require(caller.role, Role.APPROVED)
        return caller

    async def offer(self, request: web.Request) -> web.Response:
        caller = await self._caller(request)
        offer = _parsed(Offer, await read_json(request, OFFER_MAX_BYTES))
        opened = await self._lessons.open(
            caller, offer.data.session_id, offer.data.topic_id, offer.sdp, offer.data.style
        )
        return web.json_response(
            {
                "sdp": opened.sdp,
                "type": "answer",
                "pc_id": opened.peer_id,
                "sessionConfig": opened.session_config,
            }
        )

    async def candidates(self, request: web.Request) -> web.Response:
        caller = await self._caller(request)
        body = _parsed(Candidates, await read_json(request, OFFER_MAX_BYTES))
        lesson = self._lessons.owner_of(body.pc_id)
        if lesson is None or lesson.plan.uid != caller.uid:
            raise missing("There is no such connection.")
        return web.json_response({"status": "success"})

    async def close(self, request: web.Request) -> web.Response:
        caller = await self._caller(request)
        body = _parsed(PeerRef, await read_json(request, OFFER_MAX_BYTES))
        return web.json_response({"closed": self._lessons.close_peer(caller, body.pc_id)})

    async def ice_servers(self, request: web.Request) -> web.Response:
        caller = await self._caller(request)
        return web.json_response({"iceServers": self._ice_servers(caller.uid)})

    def _ice_servers(self, uid: str) -> list[dict[str, Any]]:
        settings = self._ctx.settings
        servers = [dict(server) for server in settings.ice_servers]
        if settings.turn_url and settings.turn_secret:
            expires = int(self._ctx.clock.now().timestamp()) + TURN_TTL_S
            username = f"{expires}:{uid}"
            digest = hmac.new(settings.turn_secret.encode(), username.encode(), hashlib.sha1)
            credential = base64.b64encode(digest.digest()).decode()
            urls = [url.strip() for url in settings.turn_url.split(",")]
            servers.append({"urls": urls, "username": username, "credential": credential})
        return servers
