"""A spoken lesson on a pasted document: spoken lines, heard by the recogniser, walked, observed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import pytest

from agent.agenda import cover, is_complete
from agent.decision import parse_decision
from local_gemini.speech.end_pointer import SileroEndPointer
from tests.local_gemini.learners import TEXTS, good
from tests.local_gemini.learners import Lesson as Spoken
from tests.local_gemini.lesson_text import (
    GOOD_ANSWERS,
    VACCINES,
    ground,
    live_instruction,
    move_request,
    state_update,
)
from tests.local_gemini.speech_parts import brain, learner_pcm, quiet, recogniser

pytestmark = pytest.mark.speech


@dataclass
class Lesson:
    """The local engine as the product drives it: Live turn, observer, silent update."""

    style: str
    covered: tuple[str, ...] = ()
    heard: list[str] = field(default_factory=list)
    history: list[tuple[str, ...]] = field(default_factory=list)
    replies: list[str] = field(default_factory=list)
    modes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.brain = brain()
        self.grounded = ground(self.brain, VACCINES)
        self.agenda = [point["title"] for point in self.grounded["outline"]]
        self.mind = self.brain.mind(live_instruction(self.grounded, self.style))
        self.pointer = SileroEndPointer(550, 300)
        self.state: dict[str, Any] = {"agenda": self.agenda, "coveredAngles": []}

    def say(self, words: str) -> str:
        found = self.pointer.feed(quiet(400) + learner_pcm(words) + quiet(900))
        assert [activity.started for activity in found] == [True, False]
        utterance = recogniser().transcribe(self.pointer.utterance())
        self.heard.append(utterance)
        reply = " ".join(self.mind.answer(utterance))
        self.mind.heard(reply, interrupted=False)
        self.replies.append(reply)
        request = move_request(
            self.grounded, self.style, self.state, utterance, reply=reply, turns=len(self.heard)
        )
        decision = parse_decision(self.brain.generate("any", request).text or "")
        self.modes.append(decision.mode)
        reported = decision.updated_reveal_state["coveredAngles"]
        coverage = cover(self.agenda, self.covered, reported)
        assert coverage.unmatched == ()
        assert set(self.covered) <= set(coverage.covered)
        self.covered = coverage.covered
        self.history.append(self.covered)
        self.state = {**decision.updated_reveal_state, "coveredAngles": list(self.covered)}
        self.mind.note(state_update(self.agenda, self.covered, decision.text))
        return reply

    @property
    def complete(self) -> bool:
        return is_complete(self.agenda, self.covered)


@pytest.mark.req("AGND-4", "AGND-9", "STYLE-4", "STYLE-13", "MOVE-26")
def test_good_spoken_answers_cover_the_agenda_and_close() -> None:
    lesson = Lesson("Socratic")
    lesson.say("Hello there, can we begin?")
    # The tutor may take up points in another order, so answers follow what it asks about.
    answers = dict(zip(lesson.agenda, GOOD_ANSWERS, strict=True))
    for _ in range(9):
        if lesson.complete:
            break
        asked = lesson.state["progress"]["asked"]
        lesson.say(answers[asked])
    assert lesson.complete, (lesson.heard, lesson.history)
    assert len(lesson.replies) <= 8
    for reply in lesson.replies[:-1]:
        assert reply.count("?") == 1
    assert "?" not in lesson.replies[-1]
    assert "In short:" in lesson.replies[-1]
    assert lesson.modes[-1] == "conclude"
    assert "conclude" not in lesson.modes[:-1]
    sizes = [len(covered) for covered in lesson.history]
    assert sizes == sorted(sizes)


def test_spoken_non_answers_cover_nothing() -> None:
    lesson = Lesson("Socratic")
    lesson.say("Hello there, can we begin?")
    for words in ("I don't know.", "No idea, sorry.", "I really do not remember that.") * 3:
        reply = lesson.say(words)
        assert reply.count("?") == 1
    assert lesson.covered == ()
    assert set(lesson.modes) <= {"ask", "probe"}


def test_spoken_nonsense_and_parroting_cover_nothing() -> None:
    lesson = Lesson("Socratic")
    reply = lesson.say("Hello there, can we begin?")
    for words in ("Bananas are yellow and football is a nice game.", "My car needs new tires."):
        reply = lesson.say(words)
        reply = lesson.say(reply.rsplit(". ", 1)[-1].replace("?", "."))
    assert reply.count("?") == 1
    assert lesson.covered == ()


@pytest.mark.req("STYLE-15")
def test_a_spoken_question_is_answered_at_once_in_conversation() -> None:
    lesson = Lesson("Conversational")
    lesson.say("Hello there, can we begin?")
    reply = lesson.say("Can you tell me about memory cells?")
    assert "bone marrow" in reply
    assert lesson.modes[-1] == "reveal"
    assert len(lesson.covered) == 1


@pytest.mark.parametrize("stem", ["How_vaccines_work", "Sleep_and_memory"])
def test_spoken_answers_about_other_texts_reach_the_summary(stem: str) -> None:
    """Answers go through the voice and the recogniser; what is misheard is not said back."""
    path = next(path for path in TEXTS if path.stem == stem)
    talk = Spoken(brain(), path, "Socratic")
    for turn in range(2 * len(talk.points) + 3):
        words = good(talk, turn)
        heard = recogniser().transcribe(learner_pcm(words))
        reply = talk.say(heard)
        spoken = set(re.findall(r"[a-z]{4,}", heard.lower()))
        known = set(re.findall(r"[a-z]+", path.read_text("utf-8").lower()))
        first = set(re.findall(r"[a-z]{4,}", reply.split(".")[0].lower()))
        assert not (first & spoken) - known - {"exactly", "right", "well", "said", "hello"}
        if talk.progress.closed:
            break
    assert talk.progress.closed, talk.replies
    assert "In short:" in talk.replies[-1]
