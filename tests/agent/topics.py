"""A topic with two sections, its variants, and what is composed of it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from agent.dialogue import MoveRequest
from agent.prompts.flow_c import compose_live_voice_instruction
from agent.prompts.native import compose_live_native_instruction
from agent.topic import Grounded, Section, Source

TOPIC = Grounded(
    topic="Ocean currents",
    kind="core",
    digest="Currents carry heat {around} the globe.",
    needs_grounding=False,
    sources=(Source("Atlas", "https://example.org/atlas"),),
    depth_tier="standard",
    outline=(
        Section("s1", "Surface currents", "Wind drives them."),
        Section("s2", "Deep currents", "Density drives them."),
    ),
)
DOCUMENT = replace(TOPIC, kind="document")
NEWS = replace(TOPIC, kind="news", needs_grounding=True)
MOMENT = datetime(2026, 11, 30, 9, 30, tzinfo=UTC)


def request_for(topic: Grounded = TOPIC, **changes: Any) -> MoveRequest:
    base = MoveRequest(
        topic=topic,
        topic_id="t" * 64,
        grounded_at=MOMENT,
        style="socratic",
        reveal_state={"agenda": list(topic.titles), "coveredAngles": []},
        learner_turns=3,
        utterance="Is it the wind?",
        tutor_reply=None,
        tutor_interrupted=False,
        model="gemini-3.8-flash",
        thinking_level="low",
    )
    return replace(base, **changes)


def decision(text: str = "And what else?", mode: str = "ask") -> str:
    state = {"agenda": list(TOPIC.titles), "coveredAngles": ["Surface currents"]}
    return json.dumps({"mode": mode, "text": text, "updatedRevealState": state})


def native_of(style: str = "socratic", **changes: Any) -> str:
    fields: dict[str, Any] = {
        "topic": TOPIC,
        "style": style,
        "agenda": TOPIC.titles,
        "covered": TOPIC.titles[:1],
        "learner_turns": 3,
    }
    return compose_live_native_instruction(**(fields | changes))


def flow_c_of() -> str:
    state = {"agenda": list(TOPIC.titles), "coveredAngles": list(TOPIC.titles[:1])}
    return compose_live_voice_instruction(
        TOPIC, session_id="s-1", topic_id="t-1", reveal_state=state
    )
