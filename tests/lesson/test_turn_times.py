"""What a running lesson tells of its times: to the page, to the log, never in words."""

import logging
from pathlib import Path

import pytest

from local_gemini.scripted import ScriptedEngine
from tests.media.peers import until
from tests.rig import house, said

pytestmark = pytest.mark.speech

WORDS = "Memory cells keep the pattern."


@pytest.mark.req("OWN-11", "CARD-13")
async def test_every_turn_tells_its_times_to_page_and_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "server.conversation")
    config = {"liveVadSilenceDurationMs": 500}
    async with house(tmp_path, ScriptedEngine([WORDS]), config=config) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            await call.say(said(WORDS))
            await until(lambda: call.messages("turn"), "spoken", 20)
            await call.ask("And in writing?")
            spoken, typed = call.messages("metrics")
            running = home.ctx.metrics.render()
        await home.empty()
        ended = home.ctx.metrics.render()
    turns = [turn["turnId"] for turn in call.messages("turn")]
    assert [told["turn"]["turnId"] for told in (spoken, typed)] == turns
    assert {one["processor"] for one in spoken["processing"]} == {
        "gate",
        "playout",
        "learner_to_tutor",
    }
    assert [one["processor"] for one in typed["ttfb"]] == ["live"]
    assert 0 < spoken["ttfb"][0]["value"] < 5
    assert spoken["turn"]["learnerToTutorMs"] >= spoken["turn"]["liveMs"]
    lines = [record for record in caplog.records if record.message == "turn_metrics"]
    assert [record.turn for record in lines] == turns  # type: ignore[attr-defined]
    for record in lines:
        assert "pattern" not in str(vars(record))
        assert "writing" not in str(vars(record))
    for figures in (running, ended):
        assert "pidjin_turns_total 2\n" in figures
        assert "pidjin_lessons_asleep 0\n" in figures
        for span in ("turn_gate", "turn_live", "turn_playout", "learner_to_tutor"):
            assert f'pidjin_span_seconds{{quantile="0.5",span="{span}"}} ' in figures
        assert ada.uid not in figures
