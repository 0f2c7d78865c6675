"""What belongs to which turn on the way to the service: tool answers, sound, typed requests."""

from __future__ import annotations

import asyncio

import pytest

from media.live.link import LiveLink
from media.live.port import Handle, LiveSetup, ToolCall, ToolCancelled, TurnComplete
from media.live.rotation import ANNOUNCED_MAX_S, MARGIN_S, Rotation
from tests.media.live.fake_live import FakeSession, Trace, linked, pcm
from tests.virtual_time import run_virtual

LEGACY = "gemini-3.1-flash-live-preview"


@pytest.mark.req("OWN-36")
def test_t17_a_duplicate_tool_result_is_not_sent_again() -> None:
    async def main() -> None:
        async with linked() as bench:
            bench.session.say(ToolCall("c1", "lookup", {}))
            await bench.settle()
            assert bench.link.answer("c1", {"n": 1})
            assert not bench.link.answer("c1", {"n": 2})
            await bench.settle()
            assert bench.session.sent == [("tool_response", ("c1", "lookup", {"n": 1}))]

    run_virtual(main())


@pytest.mark.req("OWN-36")
def test_t17_a_result_after_its_time_is_late() -> None:
    async def main() -> None:
        async with linked() as bench:
            bench.session.say(ToolCall("c1", "lookup", {}))
            await bench.settle(31)
            assert not bench.link.answer("c1", {"n": 1})
            await bench.settle()
            assert bench.session.kinds() == ["tool_response"]

    run_virtual(main())


@pytest.mark.req("OWN-37", "OWN-54", "OWN-24")
@pytest.mark.parametrize("cause", ["cancelled", "session", "replayed"])
def test_t17_retired_calls_get_no_answer(cause: str) -> None:
    """By the service, by the end of their session, by an id that was answered before."""

    async def main() -> None:
        async with linked() as bench:
            bench.session.say(Handle("h", True), ToolCall("c1", "lookup", {}))
            await bench.settle()
            if cause == "cancelled":
                bench.session.say(ToolCancelled(("c1",)))
            elif cause == "session":
                bench.session.drop()
            else:
                assert bench.link.answer("c1", {})
            await bench.settle(2)
            expected = list(bench.session.sent)
            assert not bench.link.answer("c1", {})
            await bench.settle()
            assert bench.session.sent == expected
            assert len(expected) == (cause == "replayed")

    run_virtual(main())


@pytest.mark.req("OWN-67", "OWN-68")
def test_sound_never_moves_behind_a_typed_request() -> None:
    """T17: one writer, one order. Nothing is held back for a typed request, so nothing is
    discarded under it either; what is dropped is counted by its one reason."""

    async def main() -> None:
        async with linked() as bench:
            bench.session.stuck = True
            bench.link.audio(pcm(640))
            bench.link.prompt("typed")
            bench.link.audio(pcm(640, 640))
            bench.session.say(Handle("h", True))
            await bench.settle()
            bench.session.stuck = False
            bench.session.drop()
            await bench.settle(2)
            assert bench.session.kinds() == ["audio", "prompt", "audio"]
            assert bytes(bench.session.sound) == pcm(1280)
            assert bench.link.stats.samples_dropped == 0

    run_virtual(main())


@pytest.mark.req("RTC-17")
def test_t14_while_a_blocking_call_is_open_sound_waits_bounded_and_comes_after() -> None:
    async def main() -> None:
        async with linked(model=LEGACY) as bench:
            bench.session.say(ToolCall("c1", "lookup", {}))
            await bench.settle()
            for tick in range(75):
                bench.link.audio(pcm(320, 320 * tick))
                await asyncio.sleep(0.02)
            assert bench.session.sent == []
            bench.link.answer("c1", {})
            await bench.settle(0.1)
            kinds = bench.session.kinds()
            assert (kinds[0], set(kinds[1:])) == ("tool_response", {"audio"})
            assert bytes(bench.session.sound) == pcm(16_000, 75 * 320 - 16_000)
            assert bench.link.stats.samples_dropped == 75 * 320 - 16_000

    run_virtual(main())


def test_t27_a_consumer_that_stalls_two_seconds_leaves_no_lag() -> None:
    """The oldest sound is dropped; what is said after the stall is sent within 200 ms."""

    async def main() -> None:
        async with linked() as bench:
            bench.session.stuck = True
            for tick in range(100):
                bench.link.audio(pcm(320, 320 * tick))
                await asyncio.sleep(0.02)
            stats = bench.link.stats
            assert stats.samples_dropped == 100 * 320 - 16_000 - 640
            bench.session.drop()  # the stuck send ends with its line
            await bench.settle(1)
            bench.session.sound.clear()
            said_at = asyncio.get_running_loop().time()
            bench.link.audio(pcm(640, 40_000))
            await bench.settle(0.2)
            last = max(bench.connector.trace.times("audio"))
            assert bytes(bench.session.sound) == pcm(640, 40_000)
            assert last - said_at < 0.2

    run_virtual(main())


@pytest.mark.req("OWN-64")
@pytest.mark.parametrize(("announced_s", "waits_s"), [(20 * 60.0, ANNOUNCED_MAX_S), (5.0, 5.0)])
def test_an_expiring_session_waits_no_longer_than_announced_and_ten_minutes(
    announced_s: float, waits_s: float
) -> None:
    rotation = Rotation(0.0)
    rotation.go_away(100.0, announced_s)
    assert rotation.due(100.0, quiet=True)
    assert not rotation.due(100.0 + waits_s - MARGIN_S - 0.1, quiet=False)
    assert rotation.due(100.0 + waits_s - MARGIN_S, quiet=False)


@pytest.mark.req("OWN-61", "OWN-62")
def test_a_request_typed_while_the_session_expires_goes_to_the_next_once() -> None:
    """Nothing is discarded by the expiry: the request waits in its place, and nothing older is
    run under its name."""

    async def main() -> None:
        async with linked() as bench:
            old = bench.session
            old.say(Handle("h", True))
            await bench.settle()
            old.stuck = True
            bench.link.prompt("newest")
            old.drop(1001, "going away")
            await bench.settle(2)
            assert bench.session is not old
            assert (old.sent, bench.session.sent) == ([], [("prompt", "newest")])

    run_virtual(main())


class Backend:
    """The least that a Live service has to be."""

    def __init__(self) -> None:
        self.setups: list[LiveSetup] = []
        self.sessions: list[FakeSession] = []

    async def connect(self, setup: LiveSetup) -> FakeSession:
        self.setups.append(setup)
        self.sessions.append(FakeSession(Trace(), len(self.sessions)))
        return self.sessions[-1]


@pytest.mark.req("OWN-17", "OWN-18", "OWN-79", "OWN-4")
def test_a_whole_session_runs_on_a_substitute_and_its_setup_reaches_it_unchanged() -> None:
    """Two operations: the setup is composed, the session is opened with it. What the setup says of
    the model, the instruction and the voice is the composer's alone."""

    async def main() -> None:
        backend, composed = Backend(), LiveSetup("gemini-3.8-live", "Teach.", voice_name="Kore")

        async def compose() -> LiveSetup:
            return composed

        heard: list[object] = []
        link = LiveLink(backend, compose, heard.append, quiet=lambda: True)
        async with asyncio.TaskGroup() as group:
            group.create_task(link.run())
            await asyncio.sleep(0.1)
            link.prompt("Hello.")
            link.audio(pcm(640))
            await asyncio.sleep(0.1)
            backend.sessions[0].say(TurnComplete())
            await asyncio.sleep(0.1)
            await link.close()
        assert backend.setups == [composed]
        assert backend.sessions[0].kinds() == ["prompt", "audio"]
        assert TurnComplete() in heard
        assert backend.sessions[0].closed

    run_virtual(main())
