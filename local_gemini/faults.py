"""The actions a Script is made of. Each returns what `Script.on` takes; none does I/O itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from local_gemini.script import Action, Plan, Stage
from local_gemini.wire import Json

# Speech at -12 dBFS becomes -66 dBFS: audible to nobody.
INAUDIBLE = 0.002


def refuse(code: int, reason: str = "") -> Action:
    """Under 1000: an HTTP status; else the socket is accepted and closed with this code."""

    async def act(stage: Stage) -> None:
        await stage.close(code, reason)

    return act


def close(code: int, reason: str = "") -> Action:
    """A close frame. At a REST moment: an HTTP status."""
    return refuse(code, reason)


def abort() -> Action:
    """TCP dies without a close frame: clients report 1006."""

    async def act(stage: Stage) -> None:
        await stage.abort()

    return act


def hang() -> Action:
    """Nothing more happens at this point; the connection stays open."""

    async def act(stage: Stage) -> None:
        await stage.hang()

    return act


def pause(ms: int) -> Action:
    async def act(stage: Stage) -> None:
        await stage.pause(ms)

    return act


def vanish() -> Action:
    """From now on the server sends nothing (but pongs) on this connection."""

    async def act(stage: Stage) -> None:
        await stage.vanish()

    return act


def go_away(time_left_s: float = 50.0, *, then_close: bool = True) -> Action:
    """`goAway`; when the time is over the socket is closed with 1011, as the service does."""

    async def act(stage: Stage) -> None:
        await stage.go_away(time_left_s, then_close)

    return act


def send(frame: Mapping[str, Any]) -> Action:
    """Any server message: unknown top-level frames, for instance."""

    async def act(stage: Stage) -> None:
        await stage.send(frame)

    return act


def send_content(**fields: Any) -> Action:
    """A serverContent with these fields, known or not."""
    return send({"serverContent": fields})


def send_raw(data: bytes, *, text: bool = False) -> Action:
    """A frame that is not JSON: raw PCM in a binary frame, for instance."""

    async def act(stage: Stage) -> None:
        await stage.send_raw(data, text)

    return act


def interrupt(*, turn_complete: bool = True) -> Action:
    """The service drops its reply by itself; `turnComplete` may be missing after it."""

    async def act(stage: Stage) -> None:
        await stage.interrupt(turn_complete)

    return act


def tool_call(
    name: str,
    args: Mapping[str, Any] | None = None,
    *,
    call_id: str = "call-1",
    wait: bool = True,
) -> Action:
    """Asks for a function; with `wait` the reply starts only when it was answered."""
    return tool_calls([{"id": call_id, "name": name, "args": dict(args or {})}], wait=wait)


def tool_calls(calls: Sequence[Json], *, wait: bool = True) -> Action:
    async def act(stage: Stage) -> None:
        await stage.call_tool(list(calls), wait)

    return act


def usage(**counts: Any) -> Action:
    """A usageMetadata message with exactly these fields."""

    async def act(stage: Stage) -> None:
        await stage.count(counts, None)

    return act


def usage_mode(mode: str) -> Action:
    """`cumulative`: usage from now on sums up the session; `delta`: each turn by itself."""
    if mode not in ("cumulative", "delta"):
        raise ValueError(f"usage is cumulative or delta, not {mode}")

    async def act(stage: Stage) -> None:
        await stage.count({}, mode == "cumulative")

    return act


def answer(body: Json) -> Action:
    """The body of a REST answer, instead of the engine's."""

    async def act(stage: Stage) -> None:
        await stage.answer(body)

    return act


def plan(**changes: Any) -> Action:
    """Changes the turn's Plan by field name."""
    replace(Plan(), **changes)  # a wrong name fails where the script is written

    async def act(stage: Stage) -> None:
        await stage.amend(changes)

    return act


def late_audio(ms: int) -> Action:
    """The reply's first audio comes this much later."""
    return plan(delay_ms=ms)


def silent_audio() -> Action:
    """Audio frames whose samples are next to nothing."""
    return plan(amplitude=INAUDIBLE)


def no_audio() -> Action:
    """Words of the reply without their sound."""
    return plan(mute=True)


def no_reply(reason: str = "") -> Action:
    """turnComplete at once, with `turnCompleteReason` if given."""
    return plan(no_reply=True, reason=reason)


def text_part(text: str) -> Action:
    """The reply comes as a text part, in an audio session, without audio."""
    return plan(text_part=text)


def filler(text: str) -> Action:
    """Extended thinking: this is spoken first and completed IN_PROGRESS, then the answer, IDLE."""
    return plan(filler=text)


def interim(*texts: str) -> Action:
    """Interim transcripts ahead of the final one (at `transcript` or `turn`)."""
    return plan(interims=texts)


def repeat_transcript(times: int = 2) -> Action:
    """The final transcript is sent more than once."""
    return plan(repeats=times)


def unfinished() -> Action:
    """Input transcription never says `finished`, as the service often does."""
    return plan(finished=False)


def no_turn_complete() -> Action:
    return plan(turn_complete=False)


def say(*sentences: str) -> Action:
    """This reply instead of the mind's."""
    return plan(sentences=list(sentences))
