"""`generateContent` of the local brain: typed moves, observing, sections on demand, plain talk."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.decision import Decision, parse_decision
from local_gemini.brain import LocalBrain, phrases
from tests.local_gemini.bag_embedder import BagEmbedder
from tests.local_gemini.lesson_text import GOOD_ANSWERS, VACCINES, ground, move_request

BRAIN = LocalBrain(BagEmbedder())
GROUNDED = ground(BRAIN, VACCINES)
AGENDA: list[str] = [point["title"] for point in GROUNDED["outline"]]


def decide(style: str, state: dict[str, Any], said: str, **more: Any) -> Decision:
    generated = BRAIN.generate("any", move_request(GROUNDED, style, state, said, **more))
    return parse_decision(generated.text or "")


@pytest.mark.req("PROMPT-1", "PROMPT-6", "STYLE-5", "STYLE-13", "MOVE-12", "MOVE-26")
def test_typed_lesson_ends_with_full_coverage() -> None:
    decision = decide("Socratic", {}, "")
    assert decision.mode == "ask"
    modes = []
    for turn, said in enumerate(GOOD_ANSWERS, 1):
        before = set(decision.updated_reveal_state["coveredAngles"])
        decision = decide("Socratic", decision.updated_reveal_state, said, turns=turn)
        assert decision.updated_reveal_state["agenda"] == AGENDA
        assert before < set(decision.updated_reveal_state["coveredAngles"])
        modes.append(decision.mode)
    assert modes[-1] == "conclude"
    assert "conclude" not in modes[:-1]
    assert "?" not in decision.text


@pytest.mark.req("STYLE-6")
def test_empty_utterances_are_probed_never_revealed() -> None:
    decision = decide("Socratic", {}, "")
    for turn in range(1, 8):
        decision = decide("Socratic", decision.updated_reveal_state, "", turns=turn)
        assert decision.mode in ("ask", "probe")
        assert decision.updated_reveal_state["coveredAngles"] == []


@pytest.mark.req("STYLE-15")
def test_conversational_reveals_at_once() -> None:
    decision = decide("Conversational", {}, "Tell me about memory cells", turns=1)
    assert decision.mode == "reveal"
    assert "bone marrow" in decision.text


@pytest.mark.req("OBS-18", "PROMPT-29")
def test_observer_covers_what_the_learner_showed_or_the_reply_explained() -> None:
    state = {"agenda": AGENDA, "coveredAngles": []}
    shown = decide("Socratic", state, GOOD_ANSWERS[0], reply="Good. What comes next?", turns=1)
    assert shown.updated_reveal_state["coveredAngles"] == AGENDA[:1]
    explained = decide(
        "Socratic",
        state,
        "What are memory cells?",
        reply="Memory cells can survive for decades in the bone marrow. What do you think?",
        turns=1,
    )
    assert explained.updated_reveal_state["coveredAngles"] == [AGENDA[3]]
    assert explained.mode == "reveal"


def test_observer_covers_nothing_for_mentions_questions_and_hints() -> None:
    state = {"agenda": AGENDA, "coveredAngles": [AGENDA[4]]}
    for said, reply in (
        (
            "I don't know",
            "Fine. Here is a hint: think of lymph node. Which word comes first?",
        ),
        ("Hello", f"Let us talk about it. What can you tell me about {AGENDA[0]}?"),
        ("Bananas are yellow", "Let us stay with the topic. Can memory cells survive for decades?"),
    ):
        decision = decide("Socratic", state, said, reply=reply, turns=1)
        assert decision.updated_reveal_state["coveredAngles"] == [AGENDA[4]]
        assert decision.mode in ("ask", "probe")


@pytest.mark.req("OBS-8")
def test_observer_counts_only_heard_words() -> None:
    state = {"agenda": AGENDA, "coveredAngles": []}
    decision = decide(
        "Conversational",
        state,
        "What are memory cells?",
        reply="Sure. Memory cells",
        interrupted=True,
        turns=1,
    )
    assert decision.updated_reveal_state["coveredAngles"] == []


def test_observer_note_is_short_and_names_the_next_point() -> None:
    state = {"agenda": AGENDA, "coveredAngles": AGENDA[:3]}
    decision = decide("Socratic", state, "I don't know", reply="Take your time.", turns=4)
    assert AGENDA[3] in decision.text
    assert len(decision.text) <= 400
    done = decide(
        "Socratic", {"agenda": AGENDA, "coveredAngles": AGENDA}, "Thanks", reply="Well done."
    )
    assert done.mode == "conclude"
    assert "closing summary" in done.text


def test_observer_remembers_which_point_was_asked() -> None:
    state: dict[str, Any] = {"agenda": AGENDA, "coveredAngles": []}
    first = decide("Socratic", state, "Hi", reply=f"What do you know about {AGENDA[3]}?")
    second = decide(
        "Socratic",
        first.updated_reveal_state,
        "They survive for decades and react fast when the germ returns.",
        reply="Good.",
        turns=2,
    )
    assert second.updated_reveal_state["coveredAngles"] == [AGENDA[3]]


@pytest.mark.req("AGND-15", "MOVE-4")
def test_a_missing_section_is_fetched_once() -> None:
    tools = ("get_topic_context", "get_topic_section", "refresh_topic_context")
    state = {"agenda": AGENDA, "coveredAngles": AGENDA[:2]}
    request = move_request(
        GROUNDED, "Conversational", state, "Tell me more", turns=2, tools=tools, with_digest=False
    )
    called = BRAIN.generate("any", request)
    assert called.text is None
    assert called.function_calls == [{"name": "get_topic_section", "args": {"sectionId": "s3"}}]
    for response, expected in (
        ({"status": "ok", "id": "s3", **GROUNDED["outline"][2]}, "stick to the germ"),
        ({"status": "failed", "reason": "unavailable"}, ""),
    ):
        answered = {
            **request,
            "contents": [
                *request["contents"],
                {"role": "model", "parts": [{"functionCall": called.function_calls[0]}]},
                {
                    "role": "user",
                    "parts": [
                        {"functionResponse": {"name": "get_topic_section", "response": response}}
                    ],
                },
            ],
        }
        generated = BRAIN.generate("any", answered)
        assert not generated.function_calls
        assert expected in parse_decision(generated.text or "").text


def test_a_pdf_is_refused_in_plain_words() -> None:
    prompt = "TASK ground-document\nTITLE: Paper\nThe document is the attached file."
    parts = [{"text": prompt}, {"inlineData": {"mimeType": "application/pdf", "data": ""}}]
    generated = BRAIN.generate("any", {"contents": [{"role": "user", "parts": parts}]})
    answer = json.loads(generated.text or "")
    assert answer["digest"] == ""
    assert answer["unreadable"].startswith("The local tutor cannot read this file.")


def test_news_are_not_made_up() -> None:
    prompt = "TASK ground-news\nTITLE: Elections\nBUDGET digestChars=6000 outlineMax=4"
    generated = BRAIN.generate("any", {"contents": [{"role": "user", "parts": [{"text": prompt}]}]})
    answer = json.loads(generated.text or "")
    assert answer["needsGrounding"] is False
    assert "no outside knowledge" in answer["digest"]
    assert len(answer["outline"]) == 4


@pytest.mark.parametrize(
    "request_body",
    [
        {},
        {"contents": []},
        {"contents": [{"parts": [{"text": "What is the weather?"}]}]},
        {"contents": {"parts": {"text": "hi"}}, "systemInstruction": "Be kind."},
        {
            "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
            "systemInstruction": {"parts": [{"text": "META topicId=1\nREVEAL STATE: not json"}]},
        },
        {
            "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
            "systemInstruction": {
                "parts": [
                    {
                        "text": 'META topicId=1\nREVEAL STATE: {"agenda": 3, '
                        '"progress": {"asked": 1, "parked": [2]}}'
                    }
                ]
            },
        },
    ],
)
def test_odd_requests_get_a_text(request_body: dict[str, Any]) -> None:
    assert BRAIN.generate("any", request_body).text


@pytest.mark.parametrize("style", ["Socratic", "Conversational", "Lecture"])
def test_what_a_topic_without_a_text_cannot_tell_is_said_straight(style: str) -> None:
    prompt = "TASK ground-topic\nTITLE: Photosynthesis\nBUDGET digestChars=6000 outlineMax=20"
    body = {"contents": [{"role": "user", "parts": [{"text": prompt}]}]}
    grounded = json.loads(BRAIN.generate("any", body).text or "")
    state: dict[str, Any] = {}
    for turn, words in enumerate(("Hello", "What is photosynthesis?", "just tell me")):
        request = move_request(
            grounded,
            style,
            state,
            words,
            turns=turn,
            tools=("get_topic_context", "get_topic_section"),
            topic="Photosynthesis",
        )
        decision = parse_decision(BRAIN.generate("any", request).text or "")
        state = decision.updated_reveal_state
        assert ("beyond me" in decision.text) is (turn > 0)
        assert not decision.text.startswith(phrases.SURE)
