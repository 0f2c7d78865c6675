"""An admin sees the lessons that run, and ends one."""

from pathlib import Path

import pytest

from local_gemini.scripted import ScriptedEngine
from tests.media.peers import until
from tests.rig import house
from tests.voices import said

pytestmark = pytest.mark.speech


async def test_running_lessons_are_listed_and_one_is_ended(tmp_path: Path) -> None:
    engine = ScriptedEngine(["Memory cells keep the pattern."])
    async with house(tmp_path, engine, config={"liveVadSilenceDurationMs": 500}) as home:
        ada = await home.person()
        topic = await ada.ground("Vaccines")
        assert (await ada.get("/api/admin/lessons"))[0] == 403
        async with ada.call(topic) as call:
            await call.say(said("Memory cells keep the pattern."))
            await until(lambda: call.messages("turn"), "a turn", 20)
            status, answer = await home.admin.get("/api/admin/lessons")
            assert status == 200
            (row,) = answer["lessons"]
            assert row["displayName"] == "Ada"
            assert row["topic"] == "Vaccines"
            assert row["sessionId"] == call.session_id
            assert row["state"] in ("listening", "speaking", "formulating")
            assert row["connected"] is True
            assert row["inputTokens"] > 0
            assert row["replyMs"] >= 0
            assert (row["turns"], row["interruptions"]) == (1, 0)
            assert "pattern" not in str(row)  # nobody's words
            end = f"/api/admin/lessons/{call.session_id}/end"
            assert (await ada.post(end, {}))[0] == 403
            assert await home.admin.post(end, {}) == (200, {"ended": True})
            await until(lambda: call.messages("closed"), "closed")
            assert call.messages("closed")[0]["reason"] == "ended"
        assert (await home.admin.get("/api/admin/lessons"))[1] == {"lessons": []}
        assert (await home.admin.post(end, {}))[0] == 404
