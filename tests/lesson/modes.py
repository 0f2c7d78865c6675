"""What the tests of the other modes share: configurations, the agent's model under control."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from typing import Any

from local_gemini.record import SessionRecord
from local_gemini.wire import text_of
from tests.rig import House

LEGACY = "gemini-3.1-flash-live-preview"
AGENT_VOICED = {"liveNativeReply": False, "liveVadSilenceDurationMs": 400}
CAPTURE_TTS = {**AGENT_VOICED, "liveAgentVoiceEnabled": False}
FLOW_C = {**CAPTURE_TTS, "liveAudioOutputEnabled": True, "liveModel": LEGACY}

START, END = "SPEAK_VERBATIM_OUTPUT_START", "SPEAK_VERBATIM_OUTPUT_END"
ANSWER = "What keeps the pattern for years?"
LINE = "Memory cells keep the pattern."


def between_markers(prompt: str) -> str:
    found = re.search(rf"\n{START}\n(.*)\n{END}$", prompt, re.DOTALL)
    assert found, prompt
    return found[1]


def instruction(record: SessionRecord) -> str:
    return text_of(record.setup["systemInstruction"])


class Agent:
    """The move agent's model: answers with `text`; `hold` keeps it thinking, `broken` makes it
    fail. Works in threads; what the learner said is in `heard`."""

    def __init__(self, text: str = ANSWER) -> None:
        self.text, self.broken = text, 0
        self.heard: list[str] = []
        self.gate = threading.Event()
        self.gate.set()

    def __call__(self, model: str, request: Mapping[str, Any]) -> str | None:
        contents = request.get("contents") or []
        first = text_of(contents[0]) if contents else ""
        if "LEARNER UTTERANCE" not in first:
            return None
        self.heard.append(first.split("LEARNER UTTERANCE", 1)[1].splitlines()[1].removeprefix("| "))
        assert self.gate.wait(30)
        if self.broken:
            self.broken -= 1
            return "I would rather not say."
        system = text_of(request.get("systemInstruction"))
        state = json.loads(re.search(r"^REVEAL STATE: (.*)$", system, re.MULTILINE)[1])  # type: ignore[index]
        state["coveredAngles"] = state["agenda"][:1]
        answer = {"mode": "ask", "text": self.text, "updatedRevealState": state}
        return json.dumps({**answer, "discrepancyFlagged": False})


def spoken_requests(home: House) -> list[str]:
    """Texts that the speech model was asked to say."""
    return [
        text_of(one.body["contents"][-1])
        for one in home.gemini.requests
        if (one.body.get("generationConfig") or {}).get("responseModalities") == ["AUDIO"]
    ]
