"""Texts of one or two sentences, and titles that hold them: nothing counts before it is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from local_gemini.brain import LocalBrain
from tests.local_gemini.bag_embedder import BagEmbedder
from tests.local_gemini.lesson_text import ground, live_instruction, move_request

BRAIN = LocalBrain(BagEmbedder())
STYLES = ("Socratic", "Conversational", "Lecture")
ONE_SENTENCE = "Water boils at 100 degrees."
ONE_LINE = "Mitochondria make ATP for the cell. Ribosomes build proteins."
TWO_LINES = f"{ONE_LINE}\nThe nucleus keeps the DNA and controls what the cell does."
TEXTS = (ONE_SENTENCE, ONE_LINE, TWO_LINES)


def grounded_of(text: str) -> tuple[dict[str, Any], str]:
    """The grounding of `text` under its first line as the title, and that title."""
    title = text.split("\n")[0]
    return ground(BRAIN, text, title), title


def decide(request: dict[str, Any]) -> dict[str, Any]:
    decision: dict[str, Any] = json.loads(BRAIN.generate("any", request).text or "")
    return decision


def covered_after_opening(style: str, text: str) -> tuple[list[str], str]:
    grounded, title = grounded_of(text)
    decision = decide(move_request(grounded, style, {}, "", topic=title))
    return decision["updatedRevealState"]["coveredAngles"], decision["text"]


@pytest.mark.req("STYLE-3", "STYLE-4")
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("style", ["Socratic", "Conversational"])
def test_a_typed_opening_covers_nothing_and_tells_nothing(style: str, text: str) -> None:
    covered, said = covered_after_opening(style, text)
    assert covered == []
    assert said.startswith("Your text: ")
    assert said.endswith("?")


@pytest.mark.parametrize("text", TEXTS)
def test_a_lecture_opens_with_its_first_part_alone(text: str) -> None:
    covered, said = covered_after_opening("Lecture", text)
    agenda = [part["title"] for part in grounded_of(text)[0]["outline"]]
    assert covered == agenda[:1]
    assert said.count(text.split(". ")[0].rstrip(".")) == 1


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("style", STYLES)
def test_a_spoken_opening_counts_like_a_typed_one(style: str, text: str) -> None:
    grounded, title = grounded_of(text)
    agenda = [part["title"] for part in grounded["outline"]]
    told = agenda[:1] if style == "Lecture" else []
    tutor = BRAIN.mind(live_instruction(grounded, style, topic=title))
    reply = " ".join(tutor.answer(""))
    observed = decide(move_request(grounded, style, {}, "", reply=reply, topic=title))
    assert observed["updatedRevealState"]["coveredAngles"] == told
    assert observed["mode"] != "conclude"
    if style != "Lecture":
        assert "?" in " ".join(tutor.answer("I don't know"))


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "reply",
    [
        f"{ONE_LINE[:-1]}: that is our topic. What do mitochondria do?",
        f'Back to our topic, "{ONE_LINE}" What do mitochondria do?',
        f"Our topic: {ONE_LINE} What do mitochondria do?",
        "Is it true that mitochondria make ATP for the cell?",
        "Try to finish this sentence. Mitochondria make ATP for the …",
    ],
)
def test_the_title_questions_and_hints_are_no_explanation(style: str, reply: str) -> None:
    grounded, title = grounded_of(ONE_LINE)
    request = move_request(grounded, style, {}, "I don't know", reply=reply, turns=2, topic=title)
    assert decide(request)["updatedRevealState"]["coveredAngles"] == []


def test_a_sentence_of_the_title_told_for_itself_counts() -> None:
    grounded, title = grounded_of(ONE_LINE)
    reply = "That is fine. Mitochondria make ATP for the cell. What do ribosomes do?"
    request = move_request(
        grounded, "Conversational", {}, "I don't know", reply=reply, turns=2, topic=title
    )
    assert decide(request)["updatedRevealState"]["coveredAngles"] == ["Mitochondria"]


def test_a_title_that_is_the_text_does_not_weigh_down_the_learners_words() -> None:
    grounded, title = grounded_of(ONE_LINE)
    tutor = BRAIN.mind(live_instruction(grounded, "Socratic", topic=title))
    tutor.answer("")
    assert "ribosomes" in " ".join(tutor.answer("They make ATP for the cell"))
    assert "Well done" in (said := " ".join(tutor.answer("They build proteins"))) or "both" in said
