"""A silent update at every moment of a turn, for every kind of model: legal order or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from media.live.capabilities import SAFEST, capabilities_of
from media.live.link import LinkDown
from media.live.port import LiveSetup, ReplyAudio, ToolCall, TurnComplete
from tests.media.live.fake_live import MODEL, Bench, linked, pcm
from tests.virtual_time import run_virtual

PROFILES = {
    "free": MODEL,  # takes updates; tools do not block
    "careful": "gemini-2.5-flash-native-audio-preview",  # takes updates; tools block
    "history": "gemini-3.1-flash-live-preview",  # client content at the beginning only
    "unknown": "model-of-tomorrow",
}


async def idle(bench: Bench) -> Callable[[], None]:
    return lambda: None


async def learner_speaks(bench: Bench) -> Callable[[], None]:
    bench.quiet = False
    bench.link.activity(True)
    bench.link.audio(pcm(640))
    await bench.settle(0.1)

    def over() -> None:
        bench.link.audio(pcm(640))
        bench.link.activity(False)
        bench.quiet = True

    return over


async def tutor_speaks(bench: Bench) -> Callable[[], None]:
    bench.quiet = False
    bench.session.say(ReplyAudio(pcm(2400)))
    await bench.settle(0.1)

    def over() -> None:
        bench.session.say(TurnComplete())
        bench.quiet = True

    return over


async def tool_pending(bench: Bench) -> Callable[[], None]:
    bench.session.say(ToolCall("c1", "lookup", {}))
    await bench.settle(0.1)
    return lambda: bench.link.answer("c1", {"found": 1}) and None


MOMENTS = {
    "idle": idle,
    "learner speaks": learner_speaks,
    "tutor speaks": tutor_speaks,
    "tool pending": tool_pending,
}


@pytest.mark.req("OBS-19", "OBS-20", "OBS-21", "OBS-22")
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("profile", PROFILES)
def test_an_update_goes_in_once_between_turns_or_never(profile: str, moment: str) -> None:
    """T13: idle, learner speaks, tutor speaks, tool pending, for each capability profile."""
    model = PROFILES[profile]
    takes = capabilities_of(model).context_mid_session

    async def main() -> None:
        async with linked(model=model) as bench:
            over = await MOMENTS[moment](bench)
            bench.link.context("first")
            if moment == "idle":
                await bench.settle()
            bench.link.context("second")
            bench.link.audio(pcm(640))
            await bench.settle(3)
            if moment != "idle":
                assert "context" not in bench.session.kinds()
            over()
            bench.link.quiet_moment()
            await bench.settle(3)
            bench.link.quiet_moment()
            await bench.settle(3)
            sent = [detail for kind, detail in bench.session.sent if kind == "context"]
            every = ["first", "second"] if moment == "idle" else ["second"]
            assert sent == (every if takes else [])
            assert bench.link.stats.updates_withheld == (0 if takes else len(every))
            assert legal(bench)
            assert bench.of(LinkDown) == []

    run_virtual(main())


def legal(bench: Bench) -> bool:
    """No update inside a bracket or behind an open call; sound inside brackets stays there."""
    inside = False
    for kind, detail in bench.session.sent:
        if kind == "activity":
            inside = bool(detail)
        if kind == "context" and inside:
            return False
    kinds = bench.session.kinds()
    answered = "tool_response" not in kinds or "context" not in kinds
    return answered or kinds.index("tool_response") < kinds.index("context")


def test_an_update_that_a_model_does_not_take_is_in_its_next_instruction() -> None:
    """T13: held until a safe boundary: the next session is composed from the stored state."""
    state = ["agenda: one"]

    async def main() -> None:
        setup = LiveSetup(model=PROFILES["history"], instruction="")

        def compose() -> LiveSetup:
            return replace(setup, instruction=state[-1])

        async with linked(compose=compose) as bench:
            state.append("agenda: one, two")
            bench.link.context("[TUTOR STATE UPDATE]\nagenda: one, two")
            await bench.settle(1)
            assert bench.session.sent == []
            bench.session.drop()
            await asyncio.sleep(1)
            assert [one.instruction for one in bench.connector.setups] == state

    run_virtual(main())


def test_an_unknown_model_is_treated_as_the_most_delicate() -> None:
    assert capabilities_of(PROFILES["unknown"]) == SAFEST
    assert not SAFEST.context_mid_session
    assert SAFEST.blocking_tools
