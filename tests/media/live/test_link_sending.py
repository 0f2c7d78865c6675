"""What a link sends when: batches, bounds, the pre-roll, silent updates, brackets, tool calls."""

from __future__ import annotations

import asyncio

import pytest

from media.live.link import LinkLimits, LinkUp
from media.live.port import GoAway, Handle, LiveRefused, ToolCall, ToolCancelled
from tests.media.live.fake_live import linked, pcm
from tests.virtual_time import run_virtual

LEGACY = "gemini-3.1-flash-live-preview"


@pytest.mark.req("VOICE-11", "RTC-17")
def test_sound_goes_out_in_forty_millisecond_messages_without_waiting_for_anything_else() -> None:
    async def main() -> None:
        async with linked() as bench:
            for tick in range(5):
                bench.link.audio(pcm(320, 320 * tick))
                await asyncio.sleep(0.02)
            sizes = [len(detail) for _, detail in bench.session.sent if isinstance(detail, bytes)]
            assert sizes == [1280, 1280]
            await bench.settle(0.04)  # the half message is not kept for ever
            assert bytes(bench.session.sound) == pcm(1600)
            bench.link.audio(pcm(6400))
            await bench.settle()
            assert len(bench.session.sent) == 3 + 10

    run_virtual(main())


@pytest.mark.req("RTC-17")
def test_before_the_first_session_only_the_newest_second_is_kept() -> None:
    async def main() -> None:
        async with linked([LiveRefused(1011, "busy")]) as bench:
            bench.link.audio(pcm(20_000))
            assert bench.connector.sessions == []
            await bench.settle(1)
            assert bytes(bench.session.sound) == pcm(16_000, 4_000)
            assert bench.link.stats.samples_dropped == 4_000
            assert bench.of(LinkUp) == [LinkUp(True, model="gemini-3.8-live")]

    run_virtual(main())


def test_a_stuck_session_keeps_one_second_and_a_lost_one_ten() -> None:
    async def main() -> None:
        async with linked(limits=LinkLimits(send_s=100.0)) as bench:
            bench.session.say(Handle("h", True))
            bench.session.stuck = True
            for tick in range(150):
                bench.link.audio(pcm(320, 320 * tick))
                await asyncio.sleep(0.02)
            dropped = bench.link.stats.samples_dropped
            assert dropped == 150 * 320 - 16_000 - 640  # one message is in the stuck send
            bench.session.stuck = False
            bench.session.drop()
            await bench.settle()
            for tick in range(20):  # 0.4 s of the 0.5 s that the redial waits
                bench.link.audio(pcm(320, 48_000 + 320 * tick))
                await asyncio.sleep(0.02)
            await bench.settle(0.2)
            assert bench.link.stats.samples_dropped == dropped
            expected = pcm(640) + pcm(16_000 + 6_400, 32_000)
            assert bytes(bench.session.sound) == expected

    run_virtual(main())


@pytest.mark.req("RTC-17", "RTC-11")
def test_what_was_said_before_the_gate_opened_is_not_cut_by_the_bound() -> None:
    """It comes at once and may be longer than the bound; afterwards the bound is a second again."""

    async def main() -> None:
        async with linked(limits=LinkLimits(send_s=100.0)) as bench:
            bench.link.audio(pcm(38_400))
            await bench.settle(0.1)
            assert bytes(bench.session.sound) == pcm(38_400)
            bench.session.stuck = True
            for tick in range(150):
                bench.link.audio(pcm(320, 320 * tick))
                await asyncio.sleep(0.02)
            dropped = bench.link.stats.samples_dropped
            assert dropped == 150 * 320 - 16_000 - 640

    run_virtual(main())


def test_the_bound_of_a_long_outage_is_ten_seconds() -> None:
    async def main() -> None:
        async with linked([None, "hang"]) as bench:
            bench.session.say(Handle("h", True))
            await bench.settle()
            bench.session.drop()
            await bench.settle(1)
            bench.link.audio(pcm(200_000))
            assert bench.link.stats.samples_dropped == 40_000

    run_virtual(main())


@pytest.mark.req("OBS-20", "OBS-21", "OBS-22")
def test_updates_wait_for_quiet_and_only_the_newest_is_sent() -> None:  # T13
    async def main() -> None:
        async with linked() as bench:
            bench.quiet = False
            bench.link.context("first")
            bench.link.context("second")
            bench.link.context("   ")
            await bench.settle(60)
            assert bench.session.sent == []
            bench.quiet = True
            bench.link.quiet_moment()
            await bench.settle()
            assert bench.session.sent == [("context", "second")]
            assert bench.link.stats.updates_superseded == 1
            bench.link.quiet_moment()
            await bench.settle(1)
            assert len(bench.session.sent) == 1
            bench.link.context("third")  # quiet now: at once
            await bench.settle()
            assert bench.session.sent[1:] == [("context", "third")]

    run_virtual(main())


@pytest.mark.req("OBS-22")
def test_a_superseded_digest_is_carried_over() -> None:
    async def main() -> None:
        async with linked() as bench:
            bench.quiet = False
            bench.link.context("Note: a\nRefreshed digest:\n| fact 1\n| fact 2")
            bench.link.context("Note: b")
            bench.quiet = True
            bench.link.quiet_moment()
            await bench.settle()
            text = "Note: b\nRefreshed digest:\n| fact 1\n| fact 2"
            assert bench.session.sent == [("context", text)]

    run_virtual(main())


@pytest.mark.parametrize(
    ("model", "legal"),
    [
        ("gemini-3.8-live", True),
        ("gemini-2.5-flash-native-audio-preview", True),
        (LEGACY, False),
        ("model-of-tomorrow", False),
    ],
)
def test_an_update_reaches_only_models_that_take_it(model: str, legal: bool) -> None:  # T13
    async def main() -> None:
        async with linked(model=model) as bench:
            bench.link.context("update")
            bench.link.audio(pcm(640))
            await bench.settle()
            assert ("context" in bench.session.kinds()) is legal
            assert bench.link.stats.updates_withheld == (not legal)
            assert "audio" in bench.session.kinds()

    run_virtual(main())


@pytest.mark.req("OBS-21")
def test_an_update_is_never_inside_a_bracket_even_when_all_seems_quiet() -> None:  # T13
    async def main() -> None:
        async with linked() as bench:
            bench.link.activity(True)
            bench.link.audio(pcm(1280))
            await bench.settle()
            bench.link.context("update")
            bench.link.audio(pcm(640))
            bench.link.activity(False)
            await bench.settle()
            kinds = bench.session.kinds()
            assert kinds == ["activity", "audio", "audio", "audio", "activity", "context"]

    run_virtual(main())


def test_an_update_waits_for_the_answer_to_a_tool_call() -> None:  # T13
    async def main() -> None:
        async with linked() as bench:
            bench.session.say(ToolCall("c1", "lookup", {}), ToolCall("c2", "other", {}))
            await bench.settle()
            bench.link.context("update")
            await bench.settle()
            assert bench.session.sent == []
            bench.session.say(ToolCancelled(("c2",)))
            assert bench.link.answer("c1", {"found": 1})
            assert not bench.link.answer("c1", {"found": 2})
            await bench.settle()
            answer = ("tool_response", ("c1", "lookup", {"found": 1}))
            assert bench.session.sent == [answer, ("context", "update")]
            assert not bench.link.answer("c2", {})

    run_virtual(main())


def test_a_call_that_nobody_answers_is_answered_with_an_error() -> None:
    async def main() -> None:
        async with linked() as bench:
            bench.session.say(ToolCall("c1", "lookup", {}))
            await bench.settle(31)
            assert bench.session.kinds() == ["tool_response"]
            assert bench.link.stats.calls_expired == 1

    run_virtual(main())


def test_sound_is_held_while_a_blocking_call_is_open() -> None:  # T14
    async def main() -> None:
        async with linked(model=LEGACY) as bench:
            bench.link.audio(pcm(320))
            await asyncio.sleep(0.02)
            bench.session.say(ToolCall("c1", "lookup", {}))
            await bench.settle()
            for tick in range(100):
                bench.link.audio(pcm(320, 320 + 320 * tick))
                await asyncio.sleep(0.02)
            assert bench.session.sent == []
            bench.link.answer("c1", {})
            await bench.settle(0.1)
            assert bench.session.kinds()[0] == "tool_response"
            assert bytes(bench.session.sound) == pcm(16_000, 101 * 320 - 16_000)

    run_virtual(main())


@pytest.mark.req("OBS-23")
def test_a_held_update_survives_a_resumption_but_not_a_fresh_session() -> None:
    async def main() -> None:
        for handle, expected in (("h", [("context", "update")]), ("", [])):
            async with linked() as bench:
                bench.session.say(Handle(handle, True))
                bench.quiet = False
                bench.link.context("update")
                await bench.settle()
                old = bench.session
                old.drop()
                bench.quiet = True
                bench.link.quiet_moment()
                await bench.settle(1)
                assert old.sent == []
                assert bench.session is not old
                assert bench.session.sent == expected

    run_virtual(main())


@pytest.mark.req("VOICE-64")
def test_typed_turns_keep_their_place_between_sounds() -> None:
    async def main() -> None:
        async with linked() as bench:
            bench.link.audio(pcm(320))
            bench.link.prompt("typed")
            bench.link.prompt("  ")
            bench.link.audio(pcm(640))
            await bench.settle()
            assert bench.session.kinds() == ["audio", "prompt", "audio"]
            bench.session.stuck = True
            for number in range(20):
                bench.link.prompt(str(number))
            assert bench.link.stats.prompts_refused == 4

    run_virtual(main())


def test_an_open_bracket_is_opened_again_on_the_next_session() -> None:
    async def main() -> None:
        async with linked() as bench:
            bench.session.say(Handle("h", True))
            bench.quiet = False
            bench.link.activity(True)
            bench.link.audio(pcm(640))
            await bench.settle()
            bench.session.drop()
            bench.link.audio(pcm(640))
            bench.link.activity(False)
            await bench.settle(1)
            assert bench.session.sent[0] == ("activity", True)
            assert bench.session.kinds() == ["activity", "audio", "activity"]

    run_virtual(main())


def test_a_tap_too_short_for_any_sound_is_never_sent() -> None:  # T6
    async def main() -> None:
        async with linked() as bench:
            bench.link.activity(True)
            bench.link.activity(False)
            await bench.settle()
            assert bench.session.sent == []

    run_virtual(main())


def test_a_hand_over_waits_for_an_open_tool_call_and_comes_before_a_held_update() -> None:
    async def main() -> None:
        async with linked() as bench:
            old = bench.session
            old.say(Handle("h", True), ToolCall("c1", "lookup", {}), GoAway(50.0))
            await bench.settle(6)
            bench.link.context("update")
            await bench.settle(1)
            assert bench.link.up
            assert len(bench.connector.sessions) == 1
            bench.link.answer("c1", {})
            await bench.settle()
            assert old.kinds() == ["tool_response"]
            assert bench.session is not old
            assert bench.session.sent == [("context", "update")]

    run_virtual(main())


@pytest.mark.parametrize("model", ["gemini-3.8-live", LEGACY])
def test_a_withdrawn_call_is_not_answered_and_holds_nothing_back(model: str) -> None:
    """T16: what the learner has overtaken is neither waited for nor sent."""

    async def main() -> None:
        async with linked(model=model) as bench:
            bench.session.say(ToolCall("c1", "lookup", {}))
            await bench.settle()
            assert bench.link.answer("c1", {"found": 1})
            bench.link.withdraw("c1")
            bench.link.withdraw("c2")
            bench.link.audio(pcm(640))
            await bench.settle(60)
            assert bench.session.kinds() == ["audio"]
            assert not bench.link.answer("c1", {"found": 2})

    run_virtual(main())
