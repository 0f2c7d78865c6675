"""Each column of the capability table, tried on the real model whatever the table says."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

from media.live.capabilities import SAFEST, THINKING_LEVELS, Capabilities, Seeding, Typing
from media.live.port import LearnerText, LiveClosed, LiveRefused, Seed
from scripts.probe.bench import Bench
from scripts.probe.lesson import FIRST, GO_ON, instruction, update
from scripts.probe.report import AGREES, MISMATCH, NO_ROW, UNPROBED, Column

QUIET = bytes(2 * 16 * 200)  # 0.2 s
LONG_SILENCE_MS = 4000
SEEDS = (Seed("user", "What is slack water?"), Seed("model", "The time without current."))

# Nothing is held back: what the service thinks of it is the question.
_ALL = Capabilities(
    context_mid_session=True,
    typing=Typing.CONTENT,
    seeding=Seeding.HISTORY,
    thinking_levels=THINKING_LEVELS,
    empty_resumption=True,
    manual_activity=True,
    audio_stream_end=True,
)


async def columns(bench: Bench) -> AsyncIterator[Column]:
    row = bench.row
    resumption = await _resumption(bench)
    plain = replace(_ALL, empty_resumption=resumption)
    yield _column(row, "empty_resumption", row.empty_resumption, resumption)
    tried: tuple[tuple[str, object, Callable[[Bench, Capabilities], Awaitable[object]]], ...] = (
        ("context_mid_session", row.context_mid_session, _context),
        ("typing", row.typing.value, _typing),
        ("seeding", row.seeding.value, _seeding),
        ("thinking_levels", row.thinking_levels, _thinking),
        ("manual_activity", row.manual_activity, _activity),
        ("audio_stream_end", row.audio_stream_end, _stream_end),
    )
    for name, table, probe in tried:
        yield _column(row, name, table, await probe(bench, plain))
    for name in ("tools", "blocking_tools"):
        yield Column(name, _text(getattr(row, name)), "-", UNPROBED)


def _column(row: Capabilities, name: str, table: object, observed: object) -> Column:
    if observed is None:
        verdict = UNPROBED
    elif observed == table:
        verdict = AGREES
    else:
        verdict = NO_ROW if row is SAFEST else MISMATCH
    return Column(name, _text(table), _text(observed), verdict)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return " ".join(value) or "none"
    return "-" if value is None else str(value)


async def _context(bench: Bench, plain: Capabilities) -> bool:
    """After realtime input: some models take client content as first history only."""
    try:
        async with bench.line(instruction(), row=plain) as line:
            await line.speak(QUIET)
            await line.session.send_context(update(FIRST))
            return (await line.quiet()).closed is None
    except (LiveClosed, LiveRefused):
        return False


async def _typing(bench: Bench, plain: Capabilities) -> str:
    """The way of the table if a prompt is answered that way, else the other one, else neither."""
    ways = sorted(Typing, key=lambda way: way is not bench.row.typing)
    for way in ways:
        try:
            async with bench.line(instruction(), row=replace(plain, typing=way)) as line:
                await line.speak(QUIET)
                if (await line.ask(GO_ON)).complete:
                    return way.value
        except (LiveClosed, LiveRefused):
            continue
    return "neither"


async def _seeding(bench: Bench, plain: Capabilities) -> str | None:
    """Past turns are taken silently, and a question after them is answered."""
    if bench.row.seeding is Seeding.NONE:
        return None
    row = replace(plain, seeding=bench.row.seeding, typing=bench.row.typing)
    try:
        async with bench.line(instruction(), row=row, seeds=SEEDS) as line:
            heard = await line.quiet()
            if heard.spoke or heard.closed is not None:
                return Seeding.NONE.value
            good = (await line.ask(GO_ON)).complete
            return bench.row.seeding.value if good else Seeding.NONE.value
    except (LiveClosed, LiveRefused):
        return Seeding.NONE.value


async def _thinking(bench: Bench, plain: Capabilities) -> tuple[str, ...]:
    taken = []
    for level in THINKING_LEVELS:
        try:
            async with bench.line(instruction(), row=plain, thinking_level=level):
                taken.append(level)
        except LiveRefused:
            continue
    return tuple(taken)


async def _resumption(bench: Bench) -> bool:
    try:
        async with bench.line(instruction(), row=_ALL) as line:
            heard = await line.listen(lambda _: bool(line.handle), bench.patience.quiet_s)
            return heard.closed is None
    except LiveRefused:
        return False


async def _activity(bench: Bench, plain: Capabilities) -> bool:
    try:
        async with bench.line(instruction(), row=plain, vad_enabled=False) as line:
            await line.session.send_activity(True)
            await line.speak(QUIET)
            await line.session.send_activity(False)
            heard = await line.listen(lambda answer: answer.spoke, bench.patience.quiet_s)
            return heard.closed is None
    except (LiveClosed, LiveRefused):
        return False


async def _stream_end(bench: Bench, plain: Capabilities) -> bool | None:
    """Whether the end of the stream ends the turn, long before silence could."""
    if bench.speech is None:
        return None
    try:
        async with bench.line(instruction(), row=plain, silence_ms=LONG_SILENCE_MS) as line:
            await line.speak(bench.speech)
            await line.session.send_silence_end()
            heard = await line.listen(
                lambda answer: answer.spoke or _final(answer.of(LearnerText)),
                min(bench.patience.quiet_s, LONG_SILENCE_MS / 2000),
            )
            return heard.spoke or _final(heard.of(LearnerText))
    except (LiveClosed, LiveRefused):
        return False


def _final(texts: list[LearnerText]) -> bool:
    return any(text.finished and not text.interim for text in texts)
