"""The description of the data channel, generated from the models that are spoken there.

`python -m server.asyncapi` prints docs/asyncapi.json. No message is described twice: a kind that
`server.rtvi` knows is in the document, with an example that the codec itself wrote or reads.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from server import rtvi

_REFERENCES = "#/components/schemas/{model}"
_AT = "2030-01-01T12:00:00.000Z"

_SAID: tuple[BaseModel, ...] = (
    rtvi.bot_ready(),
    rtvi.UserTranscription(
        text="It shows the body a harmless piece.", final=True, timestamp=_AT, user_id="ada",
        turn_id="7f3a-1",
    ),
    rtvi.BotOutput(text="Good. What does the body make then?", turn_id="7f3a-1", segment_id=1),
    rtvi.BotTranscription(text="Good. What does the body", turn_id="7f3a-1"),
    rtvi.BotTtsText(text=" What does the body make then?"),
    rtvi.RtviError(error="The voice service cannot be reached right now.", code="live-down"),
    rtvi.ErrorResponse(error="That message was not understood."),
    rtvi.Metrics(
        ttfb=[rtvi.MetricValue(processor="live", value=0.412)],
        processing=[rtvi.MetricValue(processor="playout", value=0.008)],
        turn=rtvi.TurnTimes(
            turn_id="7f3a-1", gate_ms=180, live_ms=412, playout_ms=8, learner_to_tutor_ms=420
        ),
    ),
    rtvi.Status(state="speaking", may_interrupt=True),
    rtvi.Turn(
        turn_id="7f3a-1", mode="probe", user_text="It shows the body a harmless piece.",
        text="Good. What does the body", unheard=" make then?", interrupted=True, saved=True,
    ),
    rtvi.Agenda(agenda=["Harmless piece", "Memory"], covered_angles=["Memory"], complete=False),
    rtvi.Notice(text="The tutor did not answer. Please say that again.", code="silent_turn"),
    rtvi.System(text="(You interrupted the tutor.)", code="interrupted", turn_id="7f3a-1"),
    rtvi.Cost(
        input_tokens=1200, output_tokens=300, cached_tokens=0, usd=0.0069, model="gemini-3.8-live"
    ),
    rtvi.ActivityLevel(level=0.42, sending=True),
    rtvi.ToolApproval(
        tool_call_id="0.7", tool_name="change_bgm", args={"track_name": "calm"}
    ),
    rtvi.Closed(reason="stopped", text="Voice is off."),
    rtvi.Interruption(turn_id="7f3a-1", heard="Good. What does the body"),
)  # fmt: skip
_HEARD: dict[str, dict[str, Any]] = {
    "client-ready": {"version": rtvi.PROTOCOL_VERSION, "about": {"library": "a client"}},
    "send-text": {"content": "Please tell me about memory cells."},
    "disconnect-bot": {},
    "mic": {"on": False},
    "ptt": {"down": True},
    "style": {"style": "socratic"},
    "reply-speech": {"on": True},
    "stop": {"afterReply": False},
    "replay": {"turnId": "7f3a-1", "rate": 0.8},
    "tool_result": {"toolCallId": "0.7", "status": "approved", "result": {"success": True}},
    "ping": {},
    "trackStatus": {"receiver_index": 0, "enabled": False},
}


def kind_of(model: type[BaseModel]) -> str:
    """The word that names a message on the wire: RTVI's type, or the type of Pidjin's own."""
    for name in ("KIND", "TYPE", "T"):
        kind = getattr(model, name, "")
        if kind:
            return str(kind)
    raise TypeError(f"{model.__name__} has no name on the wire")


def asyncapi() -> dict[str, Any]:
    """AsyncAPI 3.0: `send` is what the server says, `receive` what it understands."""
    said = {**_rtvi_said(), **_own_said(), **{kind: _plain(kind) for kind in rtvi.PLAIN_TYPES}}
    said["peerLeft"] = _PEER_LEFT
    heard = {kind_of(model): _heard(model) for model in rtvi.CLIENT_DATA}
    heard["keep-alive"] = _KEEP_ALIVE
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Pidjin: the data channel of a voice lesson",
            "version": rtvi.PROTOCOL_VERSION,
            "description": (
                "UTF-8 JSON, one message a frame, on the ordered and reliable data channel that "
                "the client opens in its offer (`POST /api/offer`). The envelope and most "
                "messages are RTVI; Pidjin's own ride as "
                "`server-message` and `client-message`. Unknown types and fields are ignored. "
                f"A client frame may have {rtvi.MAX_MESSAGE_BYTES // 1024} KiB."
            ),
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "channels": {
            "lesson": {
                "title": "One lesson",
                "description": "Any label; the messages wait until the client said client-ready.",
                "messages": {
                    kind: {"$ref": f"#/components/messages/{kind}"} for kind in (*said, *heard)
                },
            }
        },
        "operations": {
            "say": _operation("send", said, "What the server says."),
            "understand": _operation("receive", heard, "What a client may say."),
        },
        "components": {"messages": {**said, **heard}, "schemas": _schemas()},
    }


def _operation(action: str, messages: dict[str, Any], summary: str) -> dict[str, Any]:
    return {
        "action": action,
        "channel": {"$ref": "#/channels/lesson"},
        "summary": summary,
        "messages": [{"$ref": f"#/channels/lesson/messages/{kind}"} for kind in messages],
    }


def _schemas() -> dict[str, Any]:
    said = (*rtvi.RTVI_DATA, *rtvi.SERVER_DATA)
    _, out = models_json_schema(
        [(model, "serialization") for model in said], by_alias=True, ref_template=_REFERENCES
    )
    _, into = models_json_schema(
        [(model, "validation") for model in rtvi.CLIENT_DATA],
        by_alias=True,
        ref_template=_REFERENCES,
    )
    schemas = {**{name: _without_null(s) for name, s in out["$defs"].items()}, **into["$defs"]}
    return dict(sorted(schemas.items()))


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The codec leaves out what is None: such a field is optional and never null."""
    required = list(schema.get("required", ()))
    properties = {}
    for name, field in schema.get("properties", {}).items():
        branches = field.get("anyOf", [])
        if {"type": "null"} in branches:
            (field_type,) = (branch for branch in branches if branch != {"type": "null"})
            field = {**field_type, "title": field["title"]}
            required = [other for other in required if other != name]
        properties[name] = field
    return {**schema, "properties": properties, "required": required}


def _ref(model: type[BaseModel]) -> dict[str, Any]:
    return {"$ref": _REFERENCES.format(model=model.__name__)}


def _envelope(kind: str, data: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["label", "type", "data"],
        "properties": {
            "label": {"const": rtvi.LABEL},
            "type": {"const": kind},
            "id": {"type": "string"},
            "data": data,
        },
    }


def _message(kind: str, summary: str, payload: Any, examples: list[Any]) -> dict[str, Any]:
    return {
        "name": kind,
        "summary": summary,
        "payload": payload,
        "examples": [{"payload": example} for example in examples],
    }


def _summary(model: type[BaseModel]) -> str:
    own = model.__dict__.get("__doc__") or ""
    return own.strip().partition("\n")[0]


def _written(model: type[BaseModel]) -> list[Any]:
    return [json.loads(rtvi.encode(m, "1a2b3c4d")) for m in _SAID if type(m) is model]


def _rtvi_said() -> dict[str, Any]:
    return {
        kind_of(model): _message(
            kind_of(model),
            _summary(model),
            _envelope(kind_of(model), _ref(model)),
            _written(model),
        )
        for model in rtvi.RTVI_DATA
    }


def _own_said() -> dict[str, Any]:
    described = {}
    for model in rtvi.SERVER_DATA:
        kind = kind_of(model)
        typed = {"properties": {"type": {"const": kind}}, "required": ["type"]}
        payload = _envelope("server-message", {"allOf": [typed, _ref(model)]})
        described[kind] = _message(kind, _summary(model), payload, _written(model))
    return described


def _plain(kind: str) -> dict[str, Any]:
    frame = json.loads(rtvi.encode(kind, "1a2b3c4d"))
    return _message(kind, "Says all with its type.", _envelope(kind, {"type": "object"}), [frame])


def _heard(model: type[BaseModel]) -> dict[str, Any]:
    kind = kind_of(model)
    examples = [_frame(model, _HEARD[kind])] if kind in _HEARD else []
    return _message(kind, _summary(model), _frame(model, _ref(model), schema=True), examples)


def _frame(model: type[BaseModel], data: dict[str, Any], *, schema: bool = False) -> dict[str, Any]:
    """The client frame around `data`: an example, or the schema of such a frame."""
    kind = kind_of(model)
    if kind == rtvi.TrackStatus.T:
        if not schema:
            return {"type": "signalling", "message": {"type": kind, **data}}
        typed = {"properties": {"type": {"const": kind}}, "required": ["type"]}
        properties = {"type": {"const": "signalling"}, "message": {"allOf": [typed, data]}}
        return {"type": "object", "required": ["type", "message"], "properties": properties}
    own = not hasattr(model, "TYPE")
    if not schema:
        body = {"t": kind, "d": data} if own else data
        envelope = {"label": rtvi.LABEL, "type": "client-message" if own else kind}
        return {**envelope, "id": "1a2b3c4d", "data": body}
    if own:
        properties = {"t": {"const": kind}, "d": data}
        body = {"type": "object", "required": ["t"], "properties": properties}
        return _envelope("client-message", body)
    return _envelope(kind, data)


_PEER_LEFT = _message(
    "peerLeft",
    "The very last frame, after `closed`: the transport of stock clients hangs up and stays away.",
    {
        "type": "object",
        "required": ["type", "message"],
        "properties": {
            "type": {"const": "signalling"},
            "message": {"type": "object", "properties": {"type": {"const": "peerLeft"}}},
        },
    },
    [json.loads(rtvi.PEER_LEFT)],
)
_KEEP_ALIVE = _message(
    "keep-alive",
    "A frame that begins with `ping` and is no JSON, as stock transports send every second.",
    {"type": "string", "pattern": "^ping"},
    ["ping: 1893499200000"],
)


if __name__ == "__main__":
    json.dump(asyncapi(), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")
