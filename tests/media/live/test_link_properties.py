"""Whatever a service does in whatever order: one socket at a time, nothing twice, one end."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from media.live.link import LinkFailed, LinkUp
from media.live.port import (
    GoAway,
    Handle,
    LiveRefused,
    ReplyAudio,
    ToolCall,
    ToolCancelled,
    TurnComplete,
    Usage,
)
from tests.media.live.fake_live import Bench, linked, pcm
from tests.virtual_time import run_virtual

SAMPLES = 320
PROFILES = (
    "gemini-3.8-live",
    "gemini-3.1-flash-live-preview",
    "gemini-2.5-flash-native-audio-preview",
    "unknown",
)

_SERVICE = st.sampled_from(
    [
        GoAway(0.0),
        GoAway(1.0),
        GoAway(4.0),
        GoAway(50.0),
        GoAway(1e9),
        Handle("h", True),
        Handle("", False),
        Handle("later", False),
        ReplyAudio(pcm(10)),
        TurnComplete(),
        ToolCall("c1", "lookup", {}),
        ToolCall("", "nameless", {}),
        ToolCancelled(("c1", "c9")),
        Usage(),
    ]
)
_CODES = st.sampled_from([1000, 1001, 1005, 1006, 1007, 1008, 1009, 1011, 1013, 4000])
_REASONS = st.sampled_from(["", "internal", "session not found", "Deadline expired", "try again"])
_REFUSALS = st.one_of(
    st.none(), st.none(), st.builds(LiveRefused, st.one_of(_CODES, st.just(0)), _REASONS)
)


class Player:
    """What the lesson and the service do, one act at a time; counts what it has given."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.spoken = self.typed = 0

    def speak(self) -> None:
        self.bench.link.audio(pcm(SAMPLES, self.spoken))
        self.spoken += SAMPLES

    def type(self) -> None:
        self.bench.link.prompt(f"typed {self.typed}")
        self.typed += 1

    def act(self, what: object) -> None:
        bench = self.bench
        match what:
            case "speak":
                self.speak()
            case "type":
                self.type()
            case "begin" | "end":
                bench.link.activity(what == "begin")
            case "update":
                bench.link.context("update")
            case "quiet" | "loud":
                bench.quiet = what == "quiet"
                bench.link.quiet_moment()
            case "sleep":
                bench.link.sleep()
            case "renew":
                bench.link.renew()
            case "answer":
                bench.link.answer("c1", {})
            case "withdraw":
                bench.link.withdraw("c1")
            case (int() as code, str() as reason) if bench.connector.sessions:
                bench.session.drop(code, reason)
            case _ if bench.connector.sessions and not isinstance(what, tuple):
                bench.session.say(what)  # type: ignore[arg-type]


_LESSON = st.sampled_from(
    ["speak", "speak", "type", "begin", "end", "update", "quiet", "loud", "sleep", "renew",
     "answer", "withdraw"]
)  # fmt: skip
_ACTS = st.lists(
    st.tuples(
        st.one_of(_LESSON, _SERVICE, st.tuples(_CODES, _REASONS)),
        st.sampled_from([0.0, 0.0, 0.01, 0.05, 0.6, 3.0, 40.0]),
    ),
    max_size=40,
)


@pytest.mark.req("VOICE-4", "VOICE-21", "VOICE-64", "OBS-21", "RTC-19")
@settings(max_examples=100, deadline=None)
@given(_ACTS, st.lists(_REFUSALS, max_size=6), st.sampled_from(PROFILES))
def test_any_order_of_faults_keeps_the_promises_of_a_link(
    acts: list[tuple[object, float]], refusals: list[LiveRefused | None], model: str
) -> None:
    """T9, T10, T11: order close -> connect, nothing lost without being counted, one first time."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        async with linked(refusals, model=model) as bench:
            player = Player(bench)
            for what, wait in acts:
                player.act(what)
                await asyncio.sleep(wait)
            player.act("quiet")
            player.act("withdraw")
            await bench.settle(120)
            if not bench.of(LinkFailed):
                delivered(bench, player)
            started = loop.time()
            await bench.link.close()
            assert loop.time() - started <= 1.0
            assert bench.run.done()
        check(bench, player)

    run_virtual(main())


def check(bench: Bench, player: Player) -> None:
    trace, link = bench.connector.trace, bench.link
    # One socket at a time, and never one that stays open.
    opened, accepted = 0, iter(bench.connector.accepted)
    for what in trace.words():
        if what == "connect":
            assert opened == 0
            opened += next(accepted)
        elif what == "close":
            opened -= 1
        elif what != "compose":
            assert opened == 1
    assert all(session.closed for session in bench.connector.sessions)
    # Only the first session may be greeted; a failure is the last word.
    ups = bench.of(LinkUp)
    assert [up.first for up in ups if isinstance(up, LinkUp)] == [True, False, *[False] * 99][
        : len(ups)
    ]
    failed = bench.of(LinkFailed)
    assert len(failed) <= 1
    assert not failed or bench.heard[-1] is failed[0]
    # Every typed turn at most once and in order; sound in order, never twice.
    sent = [(kind, detail) for session in bench.connector.sessions for kind, detail in session.sent]
    typed = [detail for kind, detail in sent if kind == "prompt"]
    assert typed == [f"typed {n}" for n in range(player.typed) if f"typed {n}" in typed]
    sound = b"".join(bytes(session.sound) for session in bench.connector.sessions)
    numbers = [int.from_bytes(sound[at : at + 2], "little") for at in range(0, len(sound), 2)]
    assert numbers == sorted(set(numbers))
    assert len(numbers) == link.stats.samples_sent
    assert len(numbers) + link.stats.samples_dropped <= player.spoken
    _in_order(bench)


def delivered(bench: Bench, player: Player) -> None:
    """Nothing waits any more, and what was not sent has been counted."""
    stats = bench.link.stats
    assert bench.link.up or bench.link.asleep
    assert stats.prompts_sent + stats.prompts_refused == player.typed
    assert stats.samples_sent + stats.samples_dropped == player.spoken


def _in_order(bench: Bench) -> None:
    for session in bench.connector.sessions:
        inside = False
        for kind, detail in session.sent:
            if kind == "activity":
                inside = bool(detail)
            assert not (kind == "context" and inside)
