"""What the agent remembers: the conversation it is in, and nothing of another."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from local_gemini.scripted import ScriptedEngine
from tests.rig import house


@pytest.mark.req("OWN-16")
async def test_the_agent_remembers_its_conversation_and_no_other(tmp_path: Path) -> None:
    requests: list[str] = []

    def noted(model: str, request: Mapping[str, Any]) -> None:
        text = json.dumps(request)
        if "LEARNER UTTERANCE" in text:
            requests.append(text)

    async with house(tmp_path, ScriptedEngine(generate=noted)) as home:
        ada = await home.person()
        topic = await ada.ground()
        async with ada.call(topic) as call:
            await call.ask("My grandmother had smallpox.")
            await call.ask("Second question.")
            first = call.session_id
        assert "smallpox" in requests[1]
        async with ada.call(topic) as other:
            requests.clear()
            await other.ask("What do I know of?")
            assert requests
            assert not any("smallpox" in request for request in requests)
        async with ada.call(topic, first) as again:
            requests.clear()
            await again.ask("Third question.")
            assert any("smallpox" in request for request in requests)
