"""The walk in all three styles, without models: what it asks, when it tells, how it ends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local_gemini.brain import LocalBrain
from local_gemini.brain.mind import LocalMind
from local_gemini.brain.naming import running
from tests.local_gemini.bag_embedder import BagEmbedder
from tests.local_gemini.lesson_text import (
    GOOD_ANSWERS,
    TITLE,
    VACCINES,
    ground,
    live_instruction,
    state_update,
)

BRAIN = LocalBrain(BagEmbedder())
GROUNDED = ground(BRAIN, VACCINES)
AGENDA: list[str] = [point["title"] for point in GROUNDED["outline"]]
STYLES = ("Socratic", "Conversational", "Lecture")


def mind(style: str = "Socratic", covered: Sequence[str] = (), turns: int = 0) -> LocalMind:
    return BRAIN.mind(live_instruction(GROUNDED, style, covered, turns))


def say(tutor: LocalMind, words: str) -> str:
    """One exchange, heard to its end."""
    reply = " ".join(tutor.answer(words))
    tutor.heard(reply, interrupted=False)
    return reply


def told(reply: str) -> bool:
    """Whether the reply holds a sentence of the document."""
    source = " ".join(VACCINES.split())
    return any(
        line.strip() in source for line in reply.replace("?", ".").split(". ") if len(line) > 40
    )


def point_with(word: str) -> str:
    return next(p["title"] for p in GROUNDED["outline"] if word in p["summary"])


@pytest.mark.req("STYLE-3", "STYLE-4")
def test_opening_is_short_and_gives_nothing_away() -> None:
    reply = say(mind(), "Hello")
    assert TITLE in reply
    assert reply.count("?") == 1
    assert len(mind().answer("Hi there")) <= 4
    assert not told(reply)


@pytest.mark.req("STYLE-5", "STYLE-7", "STYLE-13", "AGND-4", "MOVE-26")
def test_good_answers_lead_to_the_closing() -> None:
    tutor = mind()
    say(tutor, "Hello")
    replies = [say(tutor, answer) for answer in GOOD_ANSWERS]
    for reply in replies[:-1]:
        assert reply.count("?") == 1
        assert len(reply.split()) <= 85
    assert "?" not in replies[-1]
    assert "In short:" in replies[-1]
    assert 2 <= len([line for line in replies[-1].split(". ") if line]) <= 3


@pytest.mark.req("STYLE-6")
@pytest.mark.parametrize("words", ["I don't know", "", "No idea, sorry.", "hmm, I forgot"])
def test_non_answers_never_reveal_and_never_cover(words: str) -> None:
    tutor = mind()
    say(tutor, "Hello")
    seen = [say(tutor, words) for _ in range(24)]
    for reply in seen:
        assert reply.count("?") == 1
        assert not told(reply)
        assert "In short:" not in reply
    assert len(set(seen)) > 6  # it does not ask the same thing for ever


def test_non_answers_move_on_to_other_points() -> None:
    tutor = mind()
    say(tutor, "Hello")
    text = " ".join(say(tutor, "I don't know") for _ in range(16)).lower()
    assert sum(running(title).lower() in text for title in AGENDA) >= 4


@pytest.mark.parametrize(
    "words",
    [
        "Bananas are yellow and I like football on Sundays with friends.",
        "The purple elephant drives seven umbrellas across the disco.",
        "blah blah blah blah blah",
    ],
)
def test_nonsense_covers_nothing(words: str) -> None:
    tutor = mind()
    say(tutor, "Hello")
    for _ in range(15):
        reply = say(tutor, words)
        assert reply.count("?") == 1
        assert not told(reply)


def test_parroting_the_question_covers_nothing() -> None:
    tutor = mind()
    reply = say(tutor, "Hello")
    for _ in range(15):
        question = reply.rsplit(". ", 1)[-1].replace("?", ".")
        reply = say(tutor, question)
        assert "In short:" not in reply
        assert not told(reply)


def test_an_answer_is_acknowledged_with_the_learners_words() -> None:
    tutor = mind()
    say(tutor, "Hello")
    reply = say(tutor, GOOD_ANSWERS[0])
    assert "harmless piece" in reply


def test_engaged_answers_that_miss_are_explained_in_the_end() -> None:
    tutor = mind()
    say(tutor, "Hello")
    first = say(tutor, "The vaccine makes the body train against the illness somehow.")
    assert "?" in first
    replies = [first] + [
        say(tutor, "The body and the vaccine train immunity against illness.") for _ in range(3)
    ]
    assert any(told(reply) for reply in replies)


@pytest.mark.req("MOVE-20", "STYLE-36")
def test_socratic_meets_a_direct_question_with_a_question() -> None:
    tutor = mind()
    say(tutor, "Hello")
    reply = say(tutor, "What are antibodies?")
    assert reply.count("?") == 1
    assert "antibodies" in reply
    assert not told(reply)


@pytest.mark.req("STYLE-15", "STYLE-16", "MOVE-21")
def test_conversational_answers_at_once() -> None:
    tutor = mind("Conversational")
    say(tutor, "Hi")
    reply = say(tutor, "Tell me about antibodies")
    assert "Antibodies are proteins shaped like a Y that stick to the germ." in reply
    assert reply.count("?") <= 1
    assert reply.rstrip().endswith("?")


@pytest.mark.req("STYLE-18")
def test_conversational_explains_when_stuck() -> None:
    tutor = mind("Conversational")
    say(tutor, "Hi")
    assert told(say(tutor, "I don't know"))


@pytest.mark.req("STYLE-25", "STYLE-29", "STYLE-34")
def test_lecture_walks_through_and_recaps() -> None:
    tutor = mind("Lecture")
    replies = [say(tutor, "Hello")] + [say(tutor, "Go on") for _ in range(5)]
    for reply in replies[:5]:
        assert told(reply)
        assert "The takeaway:" in reply
        assert reply.count("?") == 1
        assert len(reply.split()) < 200
    assert "?" not in replies[5]
    assert "In short:" in replies[5]


@pytest.mark.req("STYLE-30")
def test_lecture_takes_asked_points_first() -> None:
    tutor = mind("Lecture")
    say(tutor, "Hello")
    assert "bone marrow" in say(tutor, "What are memory cells?")


@pytest.mark.parametrize("style", STYLES)
def test_questions_beyond_the_text_are_declined_honestly(style: str) -> None:
    tutor = mind(style)
    say(tutor, "Hi")
    reply = say(tutor, "What is the capital of Portugal?")
    assert "does not say anything about" in reply
    assert "Portugal" in reply


def test_repeat_says_the_same_again() -> None:
    tutor = mind()
    first = say(tutor, "Hello")
    assert say(tutor, "Sorry, can you repeat that?") == first
    assert say(tutor, "Say that again please") == first


def test_wait_is_respected_and_does_not_count() -> None:
    tutor = mind()
    first = say(tutor, "Hello")
    assert "?" not in say(tutor, "Wait, stop for a second.")
    assert say(tutor, "Please repeat that") == first


@pytest.mark.parametrize("words", ["Hello", "Thank you", "Where are we?", "Okay", "Skip this one"])
def test_small_talk_keeps_one_question(words: str) -> None:
    tutor = mind()
    say(tutor, "Hello")
    assert say(tutor, words).count("?") == 1


def test_a_resumed_lesson_does_not_greet_again() -> None:
    tutor = mind(covered=AGENDA[:2], turns=3)
    tutor.seed("user", "Hello")
    tutor.seed("model", f"Good. What do you know about {AGENDA[2]}?")
    reply = say(tutor, "Okay, go on")
    assert "ideas" not in reply
    assert running(AGENDA[2]).lower() in reply.lower()


@pytest.mark.req("PROMPT-26")
def test_state_updates_override_coverage_and_steer() -> None:
    tutor = mind()
    say(tutor, "Hello")
    tutor.note(state_update(AGENDA, AGENDA[:4]))
    assert running(AGENDA[4]).lower() in say(tutor, "Okay, go on").lower()
    assert "In short:" in say(tutor, GOOD_ANSWERS[4])
    tutor.note(state_update(AGENDA, AGENDA[1:]))
    assert "vaccine" in say(tutor, "Okay, go on").lower()


def test_an_update_can_bring_the_first_agenda_and_a_new_digest() -> None:
    tutor = BRAIN.mind("STYLE: Socratic\n\nTOPIC: Tides\nGROUNDED DIGEST:\n| The moon pulls.\n")
    assert say(tutor, "Hello")
    tutor.note(state_update(["Moon", "Sun"], ["Sun"]) + "\nRefreshed digest:\n| The moon pulls.")
    assert "moon" in say(tutor, "Okay, go on").lower()


def test_other_silent_text_changes_nothing() -> None:
    tutor = mind()
    first = say(tutor, "Hello")
    tutor.note("Just some context.")
    assert say(tutor, "Repeat that please") == first


@pytest.mark.req("OBS-8")
def test_what_was_cut_off_was_not_explained() -> None:
    tutor = mind("Conversational")
    say(tutor, "Hi")
    tutor.answer("Tell me about antibodies")
    tutor.heard("Sure.", interrupted=True)
    rest = " ".join(say(tutor, "I don't know") for _ in range(5))
    assert "stick to the germ" in rest


def test_an_interrupted_closing_is_given_again() -> None:
    tutor = mind(covered=AGENDA[:4], turns=4)
    tutor.seed("model", f"What do you know about {AGENDA[4]}?")
    tutor.answer(GOOD_ANSWERS[4])
    tutor.heard("Right,", interrupted=True)
    assert "In short:" in say(tutor, "Okay")


def test_after_the_closing_questions_are_answered_and_thanks_end_it() -> None:
    tutor = mind(covered=AGENDA, turns=6)
    assert "In short:" in say(tutor, "Okay")
    assert "bone marrow" in say(tutor, "What are memory cells?")
    assert say(tutor, "Thank you") == "You are welcome."


def test_a_bare_topic_is_walked_without_facts() -> None:
    prompt = "TASK ground-topic\nTITLE: Ocean tides\nBUDGET digestChars=6000 outlineMax=20"
    request: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": prompt}]}]}
    grounded = json.loads(BRAIN.generate("any", request).text or "")
    assert "no outside knowledge" in grounded["digest"]
    assert 3 <= len(grounded["outline"]) <= 5
    tutor = BRAIN.mind(live_instruction(grounded, "Conversational"))
    assert "?" in say(tutor, "Hello")
    assert "outside knowledge" in say(tutor, "Tell me what it is")


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(STYLES),
    st.lists(st.one_of(st.text(max_size=80), st.sampled_from(GOOD_ANSWERS)), max_size=8),
)
def test_any_words_get_an_answer(style: str, said: list[str]) -> None:
    tutor = mind(style)
    for words in said:
        sentences = tutor.answer(words)
        assert sentences
        assert all(line.strip() for line in sentences)
        if style == "Socratic":
            assert " ".join(sentences).count("?") <= 1
        tutor.heard(" ".join(sentences), interrupted=False)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "words", ["no", "Hello", "What is it?", "Tell me more about tides?", "Can you give an example?"]
)
def test_a_bare_topic_never_asks_the_same_twice(style: str, words: str) -> None:
    prompt = "TASK ground-topic\nTITLE: Ocean tides\nBUDGET digestChars=6000 outlineMax=20"
    request: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": prompt}]}]}
    grounded = json.loads(BRAIN.generate("any", request).text or "")
    tutor = BRAIN.mind(live_instruction(grounded, style, topic="Ocean tides"))
    opening = say(tutor, "")
    assert "no knowledge of my own" in opening
    assert "Pasting a document works better." in opening
    asked = [opening.split(". ")[-1]]
    for _ in range(30):
        reply = tutor.answer(words)
        asked += [line.split(": ")[-1].lower() for line in reply if line.endswith("?")]
    assert len(asked) == len(set(asked))
    assert "Paste a document" in reply[-1]


GO_ON = "Please go on from where I interrupted you: “and the words before it”"


def test_an_answer_that_was_cut_off_goes_on_in_the_sentence_it_was_cut_off_in() -> None:
    tutor = mind("Lecture")
    said = tutor.answer("")
    assert len(said) > 2
    cut = said[1].split()
    tutor.heard(f"{said[0]} {' '.join(cut[: len(cut) // 2])}", interrupted=True)
    assert tutor.answer(GO_ON) == said[1:]
    tutor.heard(" ".join(said[1:]), interrupted=False)
    assert tutor.answer("What is a germ?") != said[1:]


def test_there_is_nothing_to_go_on_with_after_another_answer() -> None:
    tutor = mind("Lecture")
    said = tutor.answer("")
    tutor.heard(said[0], interrupted=True)
    other = tutor.answer("What is a germ?")
    tutor.heard(" ".join(other), interrupted=False)
    assert tutor.answer(GO_ON) != said[1:]


@pytest.mark.parametrize("style", ["Socratic", "Conversational", "Lecture"])
def test_a_request_to_stop_is_met_with_silence_and_the_answer_can_go_on_later(style: str) -> None:
    tutor = mind(style)
    said = tutor.answer("")
    tutor.heard(said[0], interrupted=True)
    waiting = tutor.answer("Wait, wait, please stop for a moment.")
    assert waiting[0] == "Of course."
    assert not any(line.endswith("?") for line in waiting)
    tutor.heard(" ".join(waiting), interrupted=False)
    assert tutor.answer(GO_ON) == said[1:]
