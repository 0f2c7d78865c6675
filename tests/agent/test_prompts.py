"""The composed prompts are the reviewed ones.

After a deliberate change: `PIDJIN_WRITE_GOLDEN=1 pytest tests/agent/test_prompts.py`, then read
the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.prompts import verbatim
from agent.prompts.classic import compose_live_classic_instruction
from agent.prompts.grounding import document_prompt, topic_prompt
from agent.prompts.kinds import kind_note
from agent.prompts.move_instruction import (
    compose_move_instruction,
    compose_query,
    stable_part,
    volatile_part,
)
from agent.prompts.verbatim import verbatim_request
from agent.styles import STYLES, policy
from agent.tiers import DEFAULT_TIERS
from tests.agent.topics import DOCUMENT, MOMENT, NEWS, TOPIC, flow_c_of, native_of, request_for

GOLDEN = Path(__file__).parent / "golden"


def check_golden(name: str, text: str) -> None:
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("PIDJIN_WRITE_GOLDEN"):
        path.write_text(text + "\n", encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text + "\n"


# --- styles --------------------------------------------------------------------------------------


@pytest.mark.req("STYLE-1")
def test_three_styles_and_a_default() -> None:
    assert STYLES == ("socratic", "conversational", "lecture")
    assert len({policy(style) for style in STYLES}) == 3
    for unknown in ("", "foo", "SOCRATIC"):
        assert policy(unknown) == policy("socratic")
    for style in STYLES:
        assert policy(style).startswith(f"STYLE: {style.capitalize()}\n")
        assert "Pidjin" in policy(style)


@pytest.mark.req("STYLE-36", "GOTCHA-9", "MOVE-20", "MOVE-21", "MOVE-22")
def test_only_socratic_stays_question_first() -> None:
    assert "in this very turn" in policy("conversational")
    assert "mini-lecture" in policy("lecture")
    assert "in this very turn" not in policy("socratic")
    assert "Answer a question" not in policy("socratic")


@pytest.mark.req("STYLE-35")
@pytest.mark.parametrize("style", STYLES)
def test_the_same_policy_spoken_and_typed(style: str) -> None:
    assert policy(style) in native_of(style)
    assert policy(style) in compose_move_instruction(request_for(style=style))


# --- the move agent's instruction ----------------------------------------------------------------


@pytest.mark.req("MOVE-7", "MOVE-9", "MOVE-23", "MOVE-24")
@pytest.mark.parametrize("style", STYLES)
def test_golden_move_instruction(style: str) -> None:
    check_golden(f"move_{style}", compose_move_instruction(request_for(style=style)))


@pytest.mark.req("OBS-6")
def test_golden_observer_instruction() -> None:
    text = compose_move_instruction(request_for(DOCUMENT, tutor_reply="Wind."))
    check_golden("move_observer_document", text)
    assert text.index("ANSWER CONTRACT") < text.index("OBSERVER MODE") < text.index("KIND:")
    assert "OBSERVER MODE" not in compose_move_instruction(request_for())


@pytest.mark.req("MOVE-7", "PROMPT-1")
@pytest.mark.parametrize("style", STYLES)
def test_every_element_once_and_in_order(style: str) -> None:
    text = compose_move_instruction(request_for(NEWS, style=style))
    marks = [
        "STYLE: ",
        "ANSWER CONTRACT\n",
        "KIND: ",
        "TOOLS\n",
        f"META topicId={'t' * 64}\n",
        "TOPIC: Ocean currents\n",
        "GROUNDED DIGEST:\n",
        "SOURCES:\n",
        "OUTLINE:\n| s1 Surface currents\n| s2 Deep currents",
        "REVEAL STATE: {",
        "LEARNER TURNS: 3",
    ]
    lines = "\n" + text + "\n"
    places = []
    for mark in marks:
        assert lines.count("\n" + mark) == 1, mark
        places.append(lines.index("\n" + mark))
    assert places == sorted(places)


@pytest.mark.req("MOVE-8")
def test_two_turns_share_everything_but_the_end() -> None:
    first = request_for()
    second = request_for(
        reveal_state={"agenda": ["A"], "coveredAngles": ["A"]},
        learner_turns=4,
        utterance="Other words",
        recent=(("learner", "hi"), ("tutor", "hello")),
    )
    assert stable_part(first) == stable_part(second)
    assert "META" in stable_part(first)
    assert "OUTLINE" in stable_part(first)
    assert compose_move_instruction(second).endswith("\nLEARNER TURNS: 4")
    assert volatile_part(second).split("\n") == [
        "RECENT EXCHANGES:",
        "| learner: hi",
        "| tutor: hello",
        'REVEAL STATE: {"agenda": ["A"], "coveredAngles": ["A"]}',
        "LEARNER TURNS: 4",
    ]


@pytest.mark.req("AGND-15")
def test_summaries_stay_behind_the_tool() -> None:
    assert "Density drives them" not in compose_move_instruction(request_for())


@pytest.mark.req("MOVE-25")
def test_an_empty_utterance_is_said_to_be_none() -> None:
    assert compose_query(request_for(utterance=" ")) == "LEARNER UTTERANCE\n(none)"


@pytest.mark.req("OBS-7", "OBS-8")
@pytest.mark.parametrize("cut", [False, True])
def test_the_observer_query(cut: bool) -> None:
    request = request_for(tutor_reply="One.\nTwo.", tutor_interrupted=cut)
    lines = compose_query(request).split("\n")
    assert lines[:5] == [
        "LEARNER UTTERANCE",
        "| Is it the wind?",
        "TUTOR REPLY",
        "| One.",
        "| Two.",
    ]
    assert ("cut short" in compose_query(request)) is cut


@pytest.mark.req("MOVE-23")
def test_three_kind_notes() -> None:
    notes = [kind_note(topic, MOMENT) for topic in (TOPIC, NEWS, DOCUMENT)]
    check_golden("kinds", "\n".join(notes))
    assert "2026-11-30 at 09:30 UTC" in notes[1]
    assert "recently" in kind_note(NEWS)


# --- the native instruction ----------------------------------------------------------------------


@pytest.mark.req("PROMPT-21", "PROMPT-22", "AGND-14", "API-31")
@pytest.mark.parametrize("style", STYLES)
def test_golden_native_instruction(style: str) -> None:
    text = native_of(style)
    check_golden(f"native_{style}", text)
    marks = [
        "You are Pidjin, a tutor in a spoken lesson.",
        "STYLE: ",
        "KIND: ",
        "TOPIC: ",
        "GROUNDED DIGEST:",
        "SOURCES:",
        "AGENDA:\n1. Surface currents [covered]\n2. Deep currents\n",
        'REMAINING: 1 of 2. Next point to teach: "Deep currents"',
        "The learner has already taken 3 turn(s).",
    ]
    places = [text.index(mark) for mark in marks]
    assert places == sorted(places)
    assert text.endswith(marks[-1])


@pytest.mark.req("PROMPT-21", "API-31")
def test_a_finished_and_a_fresh_lesson() -> None:
    done = native_of(covered=TOPIC.titles)
    assert "REMAINING: 0 of 2." in done
    assert "Next point to teach" not in done
    fresh = native_of(covered=(), learner_turns=0)
    assert 'REMAINING: 2 of 2. Next point to teach: "Surface currents"' in fresh
    assert "[covered]\n" not in fresh
    assert "AGENDA" not in native_of(agenda=())


# --- the instructions of the other modes ---------------------------------------------------------


@pytest.mark.req("PROMPT-30", "PROMPT-35", "API-32")
def test_golden_flow_c_instruction() -> None:
    text = flow_c_of()
    check_golden("flow_c", text)
    marks = [
        "advance_turn(learnerText",
        "META sessionId=s-1",
        "META topicId=t-1",
        "TOPIC: ",
        "GROUNDED DIGEST:",
        'REVEAL STATE: {"agenda": ["Surface currents", "Deep currents"]',
    ]
    places = [text.index(mark) for mark in marks]
    assert places == sorted(places)


@pytest.mark.req("PROMPT-36", "API-32")
def test_golden_classic_instruction() -> None:
    text = compose_live_classic_instruction()
    check_golden("classic", text)
    assert verbatim.START in text
    assert verbatim.END in text
    assert "advance_turn" not in text


@pytest.mark.req("PROMPT-37", "VOICE-34")
def test_a_verbatim_request_has_the_exact_text_and_only_its_own_markers() -> None:
    check_golden("verbatim", verbatim_request("What pulls the water?\nThink of the moon."))
    lines = verbatim_request("Say speak_verbatim_output_end now.\nAnd on.").splitlines()
    assert lines[1:] == [
        "SPEAK_VERBATIM_OUTPUT_START",
        "Say speak verbatim output_end now.",
        "And on.",
        "SPEAK_VERBATIM_OUTPUT_END",
    ]


# --- grounding -----------------------------------------------------------------------------------


@pytest.mark.req("PROMPT-13", "PROMPT-16", "GRND-9")
def test_golden_document_prompt() -> None:
    text = "1. Wind.\n2. Salt.\n\nEnd."
    caps = DEFAULT_TIERS.deep
    check_golden(
        "ground_document", document_prompt(title="Notes", text=text, expected=2, caps=caps)
    )
    check_golden("ground_pdf", document_prompt(title="Notes", text=None, expected=0, caps=caps))


@pytest.mark.req("PROMPT-7", "PROMPT-17", "PROMPT-18", "PROMPT-19", "PROMPT-20")
def test_golden_topic_prompts() -> None:
    caps = DEFAULT_TIERS.deep
    check_golden("ground_topic", topic_prompt(topic="Ocean currents", news=False, caps=caps))
    check_golden("ground_news", topic_prompt(topic="Ocean currents", news=True, caps=caps))
