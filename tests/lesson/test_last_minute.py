"""The limit of a voice session comes with a word beforehand, to the learner and to the tutor."""

import asyncio
from pathlib import Path

import pytest

from agent.prompts.wrap_up import WRAP_UP
from server import last_minute
from server.last_minute import LastMinute
from tests.media.peers import until
from tests.rig import house
from tests.virtual_time import run_virtual


@pytest.mark.req("VOICE-63")
async def test_the_last_minute_is_announced_and_the_limit_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(last_minute, "NOTICE_S", 2.0)
    async with house(tmp_path, config={"liveSessionMinutes": 0.12}) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await until(lambda: call.messages("system"), "announced", 10)
            assert call.messages("system") == [
                {"type": "system", "text": last_minute.LAST_MINUTE, "code": "last-minute"}
            ]
            (live,) = home.gemini.sessions
            await until(lambda: live.contexts, "the tutor knows")
            (word,) = live.contexts
            assert word.startswith("[TUTOR STATE UPDATE]")
            assert word.endswith(WRAP_UP)
            assert all(point in word for point in call.messages("agenda")[0]["agenda"])
            await until(lambda: call.farewell, "closed", 10)
            await until(lambda: call.farewell == "session-limit", "told why")
        await home.empty()


@pytest.mark.req("VOICE-63")
def test_an_update_after_the_announcement_repeats_it() -> None:
    async def main() -> None:
        told: list[object] = []
        steered: list[bool] = []
        minute = LastMinute(told.append, lambda: steered.append(True))
        minute.limit(30 * 60)
        await asyncio.sleep(29 * 60 - 1)
        assert (told, steered, minute.steered("update")) == ([], [], "update")
        await asyncio.sleep(2)
        assert (len(told), steered) == (1, [True])
        assert minute.steered("update") == f"update\n{WRAP_UP}"

    run_virtual(main())


def test_a_short_session_and_a_closed_one_are_not_announced() -> None:
    async def main() -> None:
        told: list[object] = []
        short, closed = (LastMinute(told.append, lambda: told.append(1)) for _ in range(2))
        short.limit(80)
        closed.limit(120)
        closed.close()
        await asyncio.sleep(300)
        assert told == []

    run_virtual(main())
