"""A link on real websockets that end, or come, in ways no protocol asks for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from media.live import gemini
from media.live.link import LinkDown, LinkEvent, LinkFailed, LinkUp, LiveLink
from media.live.port import GoAway, LiveEvent, LiveSetup, ReplyAudio, Seed, TurnComplete
from media.live.rotation import SHORTEST_S
from tests.media.live.live_service import Behaviour, Service, Wire, ready, served

UNTIL_S = 10.0
HANDLE = '{"sessionResumptionUpdate":{"newHandle":"h%d","resumable":true}}'
GO_AWAY = '{"goAway":{"timeLeft":"%ds"}}'


@dataclass
class Line:
    service: Service
    link: LiveLink
    heard: list[LiveEvent | LinkEvent] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    quiet: bool = True

    def hear(self, event: LiveEvent | LinkEvent) -> None:
        self.heard.append(event)
        self.changed.set()

    def of(self, kind: type) -> list[LiveEvent | LinkEvent]:
        return [event for event in self.heard if isinstance(event, kind)]

    async def until(self, seen: Callable[[], object]) -> None:
        try:
            async with asyncio.timeout(UNTIL_S):
                while not seen():
                    self.changed.clear()
                    await self.changed.wait()
        except TimeoutError:
            pytest.fail(f"heard {self.heard}, handles {self.resumed_with}")

    async def ups(self, count: int) -> None:
        await self.until(lambda: len(self.of(LinkUp)) == count)

    @property
    def resumed_with(self) -> list[str | None]:
        """Of each connection: its handle; None for a fresh session that can be resumed."""
        setups = [wire.first["setup"] for wire in self.service.wires]
        return [
            one.get("sessionResumption", {"handle": "left out"}).get("handle") for one in setups
        ]


@asynccontextmanager
async def line(*behaviours: Behaviour) -> AsyncIterator[Line]:
    """The nth connection meets the nth behaviour; after the last a service that just listens."""
    served_by: Service

    async def behave(wire: Wire) -> None:
        number = served_by.wires.index(wire)
        await (behaviours[number] if number < len(behaviours) else ready)(wire)

    async def compose() -> LiveSetup:
        return LiveSetup(
            model="gemini-3.8-live", instruction="Teach.", seeds=(Seed("user", "earlier"),)
        )

    async with served(behave) as served_by:
        here: Line
        link = LiveLink(
            served_by.connector(),
            compose,
            lambda event: here.hear(event),
            quiet=lambda: here.quiet,
            jitter=lambda: 0.0,
        )
        here = Line(served_by, link)
        async with asyncio.TaskGroup() as group:
            group.create_task(link.run())
            try:
                yield here
            finally:
                await link.close()


def ending(end: Callable[[Wire], object], *, handle: int = 1) -> Behaviour:
    """Ready, seeded, with a handle, and then the end."""

    async def behave(wire: Wire) -> None:
        await wire.ready()
        assert "earlier" in await wire.next()
        await wire.socket.send(HANDLE % handle)
        outcome = end(wire)
        if asyncio.iscoroutine(outcome):
            await outcome
        await wire.socket.wait_closed()

    return behave


def without_code(wire: Wire) -> None:
    """A close frame without a code, which the library does not send by itself."""
    wire.socket.protocol.send_close()
    wire.socket.send_data()


def half_a_frame(wire: Wire) -> None:
    """The head of a frame of 1,000 bytes and ten of them; then the line is dead."""
    transport = wire.socket.transport
    transport.write(b"\x82\x7e\x03\xe8" + b"0123456789")
    asyncio.get_running_loop().call_later(0.05, transport.abort)


def an_end_of_file(wire: Wire) -> None:
    wire.socket.transport.close()


def a_broken_frame(wire: Wire) -> None:
    """A reserved opcode: the client has to close with 1002."""
    wire.socket.transport.write(b"\x83\x00")


def bytes_that_are_no_text(wire: Wire) -> None:
    """A text frame that is not UTF-8: 1007 of our own, which says nothing about our setup."""
    wire.socket.transport.write(b"\x81\x02\xff\xfe")


async def a_frame_too_big(wire: Wire) -> None:
    await wire.socket.send(b"0" * (gemini.MAX_FRAME_BYTES + 1))


@pytest.mark.req("VOICE-4", "VOICE-20")
@pytest.mark.parametrize(
    ("end", "code"),
    [
        (without_code, 1005),
        (half_a_frame, 1006),
        (an_end_of_file, 1006),
        (a_broken_frame, 1002),
        (bytes_that_are_no_text, 1007),
        (a_frame_too_big, 1009),
    ],
)
async def test_a_session_that_ends_against_the_rules_is_resumed(
    end: Callable[[Wire], object], code: int
) -> None:
    async with line(ending(end)) as here:
        await here.ups(2)
        (down,) = here.of(LinkDown)
        assert isinstance(down, LinkDown)
        assert down.reason.startswith(str(code))
        assert here.resumed_with == [None, "h1"]
        assert here.of(LinkFailed) == []


@pytest.mark.req("VOICE-4", "RTC-19")
async def test_a_service_that_does_not_close_cannot_hold_a_hand_over() -> None:
    """T9: it neither reads nor answers our close frame; the old line is cut before the new call."""

    async def deaf(wire: Wire) -> None:
        await wire.ready()
        await wire.socket.send(HANDLE % 1)
        await wire.socket.send(GO_AWAY % 60)
        wire.socket.transport.pause_reading()
        await gone.wait()
        wire.socket.transport.abort()

    gone = asyncio.Event()
    loop = asyncio.get_running_loop()
    async with line(deaf) as here:
        await here.until(lambda: here.of(GoAway))
        started = loop.time()
        here.link.quiet_moment()
        await here.ups(2)
        assert loop.time() - started < 8.0
        assert here.resumed_with == [None, "h1"]
        gone.set()


async def test_a_close_that_is_not_answered_cannot_hold_the_end() -> None:
    async def deaf(wire: Wire) -> None:
        await wire.ready()
        wire.socket.transport.pause_reading()
        await gone.wait()
        wire.socket.transport.abort()

    gone = asyncio.Event()
    loop = asyncio.get_running_loop()
    async with line(deaf) as here:
        await here.ups(1)
        started = loop.time()
        await here.link.close()
        assert loop.time() - started <= 1.2
        gone.set()


@pytest.mark.req("VOICE-21", "VOICE-4")
async def test_a_fresh_session_that_is_sent_away_at_once_is_used_while_it_lasts() -> None:
    """T9: goAway during the re-seed, with time left: no redial is spent on it, and no hurry."""

    async def leaving(wire: Wire) -> None:
        await wire.ready()
        await wire.socket.send(GO_AWAY % 50)
        await wire.socket.send(HANDLE % 2)
        await wire.socket.wait_closed()

    async def refuses(wire: Wire) -> None:
        await wire.socket.close(1007, "Invalid session handle")

    async def drops(wire: Wire) -> None:
        await wire.socket.close(1011, "internal")

    async with line(ending(drops), refuses, leaving) as here:
        await here.ups(2)
        assert here.of(LinkUp)[1] == LinkUp(False, reseeded=True, model="gemini-3.8-live")
        await here.until(lambda: here.of(GoAway))
        began = asyncio.get_running_loop().time()
        await here.ups(3)
        assert asyncio.get_running_loop().time() - began >= SHORTEST_S - 0.1
        assert here.resumed_with == [None, "h1", None, "h2"]
        assert here.of(LinkUp)[2] == LinkUp(False, resumed=True, model="gemini-3.8-live")
        assert here.of(LinkFailed) == []
        assert here.of(LinkDown)[1:] == [LinkDown("rotation")]


@pytest.mark.req("VOICE-4", "VOICE-65")
async def test_a_handle_that_is_refused_twice_is_two_seeded_sessions_and_no_greeting() -> None:
    """T11: each session gives a handle, none of them is taken."""

    async def drops(wire: Wire) -> None:
        await wire.socket.close(1011, "internal")

    async def refuses(wire: Wire) -> None:
        await wire.socket.close(1008, "session not found")

    async def a_turn(wire: Wire) -> None:
        await wire.socket.send('{"serverContent":{"turnComplete":true}}')
        await drops(wire)

    first, second = ending(drops), ending(a_turn, handle=2)
    async with line(first, refuses, second, refuses) as here:
        await here.ups(3)
        assert here.resumed_with == [None, "h1", None, "h2", None]
        ups = [(up.first, up.reseeded) for up in here.of(LinkUp) if isinstance(up, LinkUp)]
        assert ups == [(True, False), (False, True), (False, True)]
        for wire in (here.service.wires[2], here.service.wires[4]):
            assert "historyConfig" in wire.first["setup"]


@pytest.mark.req("VOICE-21", "VOICE-4")
async def test_1011_while_a_hand_over_waits_for_quiet_is_an_ordinary_loss() -> None:
    """T9, T10: goAway, nobody is quiet, and the service does not wait for its own deadline."""

    async def impatient(wire: Wire) -> None:
        await wire.socket.send(GO_AWAY % 50)
        await wire.socket.send(b"\x00\xff" * 480)
        await asyncio.sleep(0.1)
        await wire.socket.close(1011, "internal")

    async with line(ending(impatient)) as here:
        here.quiet = False
        await here.ups(2)
        assert here.of(ReplyAudio)
        assert here.of(LinkDown) == [LinkDown("1011 internal")]
        assert here.resumed_with == [None, "h1"]


@pytest.mark.req("VOICE-4")
async def test_1008_is_answered_by_a_session_that_asks_for_less() -> None:
    async def policy(wire: Wire) -> None:
        await wire.socket.close(1008, "Operation is not implemented, or supported")

    async with line(ending(policy)) as here:
        await here.ups(2)
        assert here.resumed_with == [None, "left out"]
        assert here.of(LinkFailed) == []


async def test_a_handle_that_comes_with_the_goaway_is_the_one_that_is_used() -> None:
    """In one frame with the end of a turn, as the service bundles them."""

    async def bundled(wire: Wire) -> None:
        message = {
            "serverContent": {"turnComplete": True},
            "goAway": {"timeLeft": "60s"},
            "sessionResumptionUpdate": {"newHandle": "newest", "resumable": True},
        }
        await wire.socket.send(json.dumps(message))

    async with line(ending(bundled)) as here:
        here.quiet = False
        await here.until(lambda: here.of(TurnComplete) and here.of(GoAway))
        here.quiet = True
        here.link.quiet_moment()
        await here.ups(2)
        assert here.resumed_with == [None, "newest"]
