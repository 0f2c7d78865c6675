"""Does a silent update steer the model, silently (VOICE-59, OBS-19 to OBS-22, GOTCHA-14)."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

from media.live.port import (
    GenerationComplete,
    Interrupted,
    LiveEvent,
    ReplyAudio,
    ReplyText,
    TurnComplete,
    Usage,
)
from scripts.probe.bench import AUDIBLE_RMS, Answer, Bench, Line
from scripts.probe.lesson import FIRST, GO_ON, SECOND, TELL_MUCH, instruction, update
from scripts.probe.report import Check, judged, skipped

STEERING = (
    "silent-injection",
    "no-wedged-turn",
    "injected-fact",
    "no-acknowledgement",
    "override",
)
SIGNALS = ("turn-audio", "turn-words", "turn-end", "turn-usage", "interrupted", "resumption")
STATUS = ("interaction-status",)
SPOKEN = ("spoken-turn",)

_ACKNOWLEDGED = re.compile(
    r"\b(?:state update|tutor state|(?:the|your|an|this) update|updated|noted|acknowledged|"
    r"(?:new|your) instructions?|as instructed|next point to teach)\b",
    re.IGNORECASE,
)


async def steering(bench: Bench) -> AsyncIterator[Check]:
    if not bench.row.context_mid_session:
        for name in STEERING:
            yield skipped(name, "the table gives this model no silent context")
        return
    async with bench.line(instruction()) as line:
        await line.session.send_context(update(FIRST))
        heard = await line.quiet()
        yield judged(
            "silent-injection",
            not heard.spoke and heard.closed is None,
            f"no reply for {bench.patience.quiet_s:g} s",
            f"the update was answered or refused: {heard.gist}",
        )
        first = await line.ask(GO_ON)
        yield judged(
            "no-wedged-turn",
            first.complete and first.closed is None,
            "the turn after an update is answered and ends",
            f"no end of the turn within {bench.patience.answer_s:g} s: {first.gist}",
        )
        yield _uses("injected-fact", first, FIRST)
        said = _ACKNOWLEDGED.search(first.words)
        yield judged(
            "no-acknowledgement",
            bool(first.words) and said is None,
            "the update is not spoken of",
            f"the reply speaks of it: {said.group() if said else first.gist}",
        )
        await line.session.send_context(update(SECOND))
        yield _uses("override", await line.ask(GO_ON), SECOND, not_=FIRST)


def _uses(name: str, answer: Answer, wanted: str, not_: str = "") -> Check:
    stale = bool(not_) and answer.mentions(not_)
    return judged(
        name,
        answer.mentions(wanted) and not stale,
        f"{wanted!r} is named",
        f"{not_!r} is still named" if stale else f"{wanted!r} is not named: {answer.gist}",
    )


async def signals(bench: Bench) -> AsyncIterator[Check]:
    """What the turn machine lives on, and a session that is taken up again."""
    async with bench.line(instruction()) as line:
        answer = await line.ask(GO_ON)
        sound = bool(answer.of(ReplyAudio))
        yield judged(
            "turn-audio",
            answer.loudness > AUDIBLE_RMS,
            f"{sum(len(event.pcm) for event in answer.of(ReplyAudio))} bytes",
            "the audio is silent" if sound else f"no audio: {answer.gist}",
        )
        yield judged(
            "turn-words",
            bool(answer.of(ReplyText)),
            answer.gist,
            f"no transcript of the reply: {answer.gist}",
        )
        yield _end(answer)
        used = answer.of(Usage)
        yield judged(
            "turn-usage",
            any(usage.prompt > 0 and usage.response > 0 for usage in used),
            f"{used[-1].prompt} tokens in, {used[-1].response} out" if used else "",
            "no token counts" if not used else "token counts are empty",
        )
        yield await _interrupted(line, bench)
        handle = line.handle
    yield await _resumed(bench, handle)


def _end(answer: Answer) -> Check:
    order = [type(event) for event in answer.events]
    kinds: tuple[type[LiveEvent], ...] = (GenerationComplete, TurnComplete)
    missing = [kind.__name__ for kind in kinds if kind not in order]
    late = not missing and order.index(GenerationComplete) > order.index(TurnComplete)
    return judged(
        "turn-end",
        not missing and not late and answer.complete,
        "generationComplete, then turnComplete",
        f"no {', '.join(missing)}" if missing else "turnComplete came before generationComplete",
    )


async def _interrupted(line: Line, bench: Bench) -> Check:
    """A prompt in the middle of a reply ends that reply, and is answered itself."""
    await line.session.send_prompt(TELL_MUCH)
    begun = await line.listen(lambda heard: bool(heard.of(ReplyAudio)), bench.patience.answer_s)
    await line.session.send_prompt(GO_ON)
    cut = await line.listen(lambda heard: bool(heard.of(Interrupted)), bench.patience.answer_s / 2)
    after = await line.listen(lambda heard: _answered(heard), bench.patience.answer_s)
    if not begun.of(ReplyAudio) or not cut.of(Interrupted):
        return judged("interrupted", False, "", f"no interrupted came: {cut.gist}")
    return judged(
        "interrupted",
        _answered(after),
        "interrupted came, and the next turn was answered",
        f"the turn after an interruption has no answer: {after.gist}",
    )


def _answered(heard: Answer) -> bool:
    """A turn that ended after it said something; the cut one ends without."""
    said = False
    for event in heard.events:
        said = said or isinstance(event, ReplyAudio | ReplyText)
        if said and isinstance(event, TurnComplete):
            return True
    return False


async def _resumed(bench: Bench, handle: str) -> Check:
    if not bench.row.empty_resumption:
        return skipped("resumption", "the table asks this model for no handle")
    if not handle:
        return judged("resumption", False, "", "no resumable handle came")
    async with bench.line(instruction(), handle=handle) as line:
        answer = await line.ask(GO_ON)
    return judged(
        "resumption",
        answer.complete and bool(answer.words),
        "a session was taken up by its handle",
        f"the resumed session does not answer: {answer.gist}",
    )


async def status(bench: Bench) -> AsyncIterator[Check]:
    """Extended thinking says with each turn whether more is coming (VOICE-23)."""
    before = bench.statuses
    async with bench.line(instruction(), thinking_level="LOW") as line:
        answer = await line.ask(GO_ON)
    turns = [turn.interaction.value for turn in answer.of(TurnComplete)]
    yield judged(
        "interaction-status",
        bench.statuses > before and answer.complete,
        f"turns ended {', '.join(turns)}",
        "turns carry no interactionStatus" if turns else f"no turn ended: {answer.gist}",
    )


async def spoken(bench: Bench) -> AsyncIterator[Check]:
    """A spoken question is understood, written down, and answered."""
    if bench.speech is None:
        yield skipped("spoken-turn", "no recording: give one with --wav, or install pidjin[local]")
        return
    async with bench.line(instruction()) as line:
        await line.speak(bench.speech + bytes(2 * 16 * 1500))
        answer = await line.answer()
    yield judged(
        "spoken-turn",
        bool(answer.learner.strip()) and answer.complete and bool(answer.words),
        f"heard {answer.learner.strip()[:60]!r}",
        f"heard {answer.learner.strip()[:60]!r}, then {answer.gist}",
    )
