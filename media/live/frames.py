"""One received frame to the events it carries, in the order they must be handled. Pure, total.

No frame raises: what nobody knows becomes `Unknown`, and what cannot be read becomes
`Unknown(("malformed",))`. The SDK's own reader drops, loops or dies on several of these
(docs/notes/libraries.md), which is why the hot path has this one.

Order within a message: `interrupted` first (audio beside it already belongs to the next reply),
then words and audio, then the end of generation and turn, then the top-level siblings.
"""

from __future__ import annotations

import json
from binascii import Error as Base64Error
from binascii import a2b_base64

from media.live.port import (
    RATE_DOWN,
    Activity,
    GenerationComplete,
    GoAway,
    Handle,
    Interaction,
    Interrupted,
    LearnerText,
    LiveEvent,
    PlainText,
    ReplyAudio,
    ReplyText,
    ToolCall,
    ToolCancelled,
    TurnComplete,
    Unknown,
    Usage,
)

MALFORMED = Unknown(("malformed",))

# No duration of this protocol comes near it.
LONGEST_S = 1e6
# What a goAway that names no readable time is taken for: long enough for a reply to end.
UNSTATED_LEFT_S = 10.0

_TOP = frozenset(
    {
        "setupComplete",
        "serverContent",
        "toolCall",
        "toolCallCancellation",
        "usageMetadata",
        "goAway",
        "sessionResumptionUpdate",
        "voiceActivity",
        "voiceActivityDetectionSignal",
        "interactionStatus",
    }
)
_CONTENT = frozenset(
    {
        "modelTurn",
        "inputTranscription",
        "interimInputTranscription",
        "outputTranscription",
        "interrupted",
        "generationComplete",
        "turnComplete",
        "turnCompleteReason",
        "interactionStatus",
        "waitingForInput",
        "groundingMetadata",
        "urlContextMetadata",
    }
)
_PART = frozenset({"text", "thought", "thoughtSignature", "inlineData"})
_NO_STATUS = (None, "", "INTERACTION_STATUS_UNSPECIFIED")


def parse(frame: str | bytes, *, in_progress: bool = False) -> tuple[LiveEvent, ...]:
    """Events of one frame. Text frames are JSON; binary ones JSON or raw PCM16 24 kHz (VOICE-20).

    `in_progress`: the last completed turn was IN_PROGRESS, so that a lone top-level `IDLE` ends it.
    """
    if not isinstance(frame, str) and frame.lstrip()[:1] != b"{":
        return _raw(frame)
    try:
        message = json.loads(frame)
    except (ValueError, RecursionError):
        return (MALFORMED,) if isinstance(frame, str) else _raw(frame)
    if not isinstance(message, dict):
        return (MALFORMED,)
    return tuple(_message(message, in_progress))


def _raw(frame: bytes) -> tuple[LiveEvent, ...]:
    """Audio, unless every byte of it is readable text: then a message that went wrong."""
    if not frame:
        return ()
    try:
        text = frame.decode()
    except UnicodeDecodeError:
        return (ReplyAudio(frame),)
    if all(char.isprintable() or char in "\r\n\t" for char in text):
        return (MALFORMED,)
    return (ReplyAudio(frame),)


def _message(message: dict[str, object], in_progress: bool) -> list[LiveEvent]:
    events: list[LiveEvent] = []
    unknown = [key for key in message if key not in _TOP]
    content = message.get("serverContent")
    if isinstance(content, dict):
        _content(content, message.get("interactionStatus"), events, unknown)
    elif content is not None:
        unknown.append("serverContent")
    closes = isinstance(content, dict) and content.get("turnComplete")
    if in_progress and not closes and message.get("interactionStatus") == Interaction.IDLE.value:
        # A status of its own message: the exchange left open by IN_PROGRESS is over.
        events.append(TurnComplete())
    if len(message) > 1 or content is None:
        _siblings(message, events)
    if unknown:
        events.append(Unknown(tuple(unknown)))
    return events


def _content(
    content: dict[str, object], outer_status: object, events: list[LiveEvent], unknown: list[str]
) -> None:
    if content.get("interrupted"):
        events.append(Interrupted())
    turn = content.get("modelTurn")
    if turn is not None:
        _parts(turn, events, unknown)
    if len(content) > 1 or turn is None:
        _transcripts(content, events)
        if content.get("generationComplete"):
            events.append(GenerationComplete())
        if content.get("turnComplete"):
            status = _interaction(content.get("interactionStatus"), outer_status)
            events.append(TurnComplete(status, _text(content.get("turnCompleteReason"))))
        unknown += [f"serverContent.{key}" for key in content if key not in _CONTENT]


def _parts(turn: object, events: list[LiveEvent], unknown: list[str]) -> None:
    parts = turn.get("parts") if isinstance(turn, dict) else None
    for part in parts if isinstance(parts, list) else ():
        if not isinstance(part, dict):
            unknown.append("modelTurn.parts")
            continue
        blob = part.get("inlineData")
        if isinstance(blob, dict):
            _blob(blob, events, unknown)
        text = _text(part.get("text"))
        if text and not part.get("thought"):
            events.append(PlainText(text))
        unknown += [f"part.{key}" for key in part if key not in _PART]


def _blob(blob: dict[str, object], events: list[LiveEvent], unknown: list[str]) -> None:
    mime, data = blob.get("mimeType"), blob.get("data")
    if not isinstance(mime, str) or not mime.startswith("audio/") or not isinstance(data, str):
        unknown.append(f"inlineData {mime}")
        return
    try:
        pcm = a2b_base64(data.replace("-", "+").replace("_", "/") + "=" * (-len(data) % 4))
    except (Base64Error, ValueError):
        unknown.append("inlineData.data")
        return
    if pcm:
        events.append(ReplyAudio(pcm, _rate(mime)))


def _rate(mime: str) -> int:
    """The sample rate that `audio/pcm;rate=24000` names; 24 kHz when it names none."""
    _, found, value = mime.partition("rate=")
    digits = value.split(";", 1)[0].strip()
    if not found or len(digits) > 6 or not digits.isascii() or not digits.isdigit():
        return RATE_DOWN
    return int(digits) or RATE_DOWN


def _transcripts(content: dict[str, object], events: list[LiveEvent]) -> None:
    interim = content.get("interimInputTranscription")
    if isinstance(interim, dict) and _text(interim.get("text")):
        events.append(LearnerText(_text(interim.get("text")), interim=True))
    heard = content.get("inputTranscription")
    if isinstance(heard, dict):
        text, finished = _text(heard.get("text")), heard.get("finished") is True
        if text or finished:
            events.append(LearnerText(text, finished))
    spoken = content.get("outputTranscription")
    if isinstance(spoken, dict) and _text(spoken.get("text")):
        events.append(ReplyText(_text(spoken.get("text"))))


def _interaction(inner: object, outer: object) -> Interaction:
    """Either location may carry the status; only absent and `IDLE` end the exchange (VOICE-23)."""
    status = outer if inner in _NO_STATUS else inner
    if status in _NO_STATUS or status == Interaction.IDLE.value:
        return Interaction.IDLE
    return Interaction.IN_PROGRESS


def _siblings(message: dict[str, object], events: list[LiveEvent]) -> None:
    activity = message.get("voiceActivity")
    if isinstance(activity, dict):
        kind = activity.get("type", activity.get("voiceActivityType"))
        if kind in ("ACTIVITY_START", "ACTIVITY_END"):
            offset_ms = round((_seconds(activity.get("audioOffset")) or 0.0) * 1000)
            events.append(Activity(kind == "ACTIVITY_START", offset_ms))
    usage = message.get("usageMetadata")
    if isinstance(usage, dict):
        events.append(_usage(usage))
    update = message.get("sessionResumptionUpdate")
    if isinstance(update, dict):
        events.append(Handle(_text(update.get("newHandle")), update.get("resumable") is True))
    leaving = message.get("goAway")
    if isinstance(leaving, dict):
        left_s = _seconds(leaving.get("timeLeft"))
        events.append(GoAway(UNSTATED_LEFT_S if left_s is None else left_s))
    called = message.get("toolCall")
    calls = called.get("functionCalls") if isinstance(called, dict) else None
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            args = call.get("args")
            arguments = dict(args) if isinstance(args, dict) else {}
            events.append(ToolCall(_text(call.get("id")), _text(call.get("name")), arguments))
    cancelled = message.get("toolCallCancellation")
    ids = cancelled.get("ids") if isinstance(cancelled, dict) else None
    if isinstance(ids, list):
        events.append(ToolCancelled(tuple(_text(call_id) for call_id in ids)))


def _usage(usage: dict[str, object]) -> Usage:
    response = usage.get("responseTokenCount", usage.get("candidatesTokenCount"))
    details = usage.get("responseTokensDetails", usage.get("candidatesTokensDetails"))
    return Usage(
        prompt=_count(usage.get("promptTokenCount")) + _count(usage.get("toolUsePromptTokenCount")),
        response=_count(response),
        thoughts=_count(usage.get("thoughtsTokenCount")),
        cached=_count(usage.get("cachedContentTokenCount")),
        total=_count(usage.get("totalTokenCount")),
        prompt_by_modality=_by_modality(usage.get("promptTokensDetails")),
        response_by_modality=_by_modality(details),
    )


def _by_modality(details: object) -> dict[str, int]:
    counts: dict[str, int] = {}
    for entry in details if isinstance(details, list) else ():
        if isinstance(entry, dict) and (modality := _text(entry.get("modality"))):
            counts[modality] = counts.get(modality, 0) + _count(entry.get("tokenCount"))
    return counts


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _text(value: object) -> str:
    """A string that any encoder takes: JSON may smuggle in lone surrogates."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else value.encode(errors="replace").decode()


def _seconds(value: object) -> float | None:
    """A proto JSON duration (`"9.5s"`) or a plain number of seconds; None for anything else."""
    if isinstance(value, (int, float)):
        return float(value) if 0 <= value < LONGEST_S else None
    if not isinstance(value, str):
        return None
    digits = value.strip().removesuffix("s")
    whole, _, fraction = digits.partition(".")
    if not (whole + fraction).isascii() or not (whole + fraction).isdigit() or len(digits) > 15:
        return None
    return float(f"{whole or 0}.{fraction or 0}")
