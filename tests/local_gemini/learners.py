"""Simulated learners and whole lessons with them, over the texts of `texts/`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from local_gemini.brain import LocalBrain
from local_gemini.brain.language import sentences
from local_gemini.brain.mind import LocalMind
from tests.local_gemini.lesson_text import ground, live_instruction

TEXTS = sorted((Path(__file__).parent / "texts").iterdir())
STYLES = ("Socratic", "Conversational", "Lecture")


def title_of(path: Path) -> str:
    return path.stem.replace("_", " ")


@cache
def grounded(brain: LocalBrain, path: Path) -> dict[str, Any]:
    return ground(brain, path.read_text("utf-8"), title_of(path))


@dataclass
class Lesson:
    """One spoken lesson without sound: what the learner said and the tutor replied, in turn."""

    brain: LocalBrain
    path: Path
    style: str
    said: list[str] = field(default_factory=list)
    replies: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ground = grounded(self.brain, self.path)
        self.points = [point["title"] for point in self.ground["outline"]]
        self.mind: LocalMind = self.brain.mind(
            live_instruction(self.ground, self.style, topic=title_of(self.path))
        )

    def say(self, words: str) -> str:
        lines = self.mind.answer(words)
        reply = " ".join(lines)
        self.mind.heard(reply, interrupted=False)
        self.said.append(words)
        self.replies.append(reply)
        return reply

    @property
    def progress(self) -> Any:
        return self.mind._walk.progress

    @property
    def bodies(self) -> list[tuple[str, ...]]:
        return [point.body for point in self.mind._walk.judge.points]


Learner = Callable[[Lesson, int], str]


def good(lesson: Lesson, turn: int) -> str:
    """Answers with the sentence of the text that the question is about."""
    state = lesson.progress
    if turn == 0:
        return "Hello"
    if state.closed or state.asked is None or state.offered or state.meta == "Shall I go on?":
        return "Okay, go on"
    ask = lesson.mind._walk.material.find(state.question)
    body = lesson.bodies[state.asked]
    answer = ask[1].answer if ask is not None else ""
    line = next((text for text in body if answer and answer in text), body[0])
    return f"I think {line[:1].lower() + line[1:]}"


def medium(lesson: Lesson, turn: int) -> str:
    """Knows a few words at first and the answer at the second try."""
    full = good(lesson, turn)
    if turn == 0 or not full.startswith("I think") or turn % 2 == 0:
        return full
    state = lesson.progress
    words = lesson.bodies[state.asked][0].split()
    return "It has something to do with " + " ".join(words[1:4]).rstrip(".,")


def poor(lesson: Lesson, turn: int) -> str:
    """Rarely knows anything and guesses beside the point."""
    return (
        "Hi",
        "I don't know.",
        "No idea, sorry.",
        "Maybe it is about football and bananas?",
        "I forgot.",
        "Yes please",
    )[turn % 6 if turn else 0]


def curious(lesson: Lesson, turn: int) -> str:
    """Asks back all the time."""
    title = lesson.points[turn % len(lesson.points)]
    return (
        "Hello",
        f"What is {title.lower()}?",
        "Why is that so?",
        "Can you give me an example?",
        good(lesson, turn),
        f"Tell me about {title.lower()}",
        "I disagree.",
        "Can you repeat that?",
        "What is the capital of Portugal?",
        "Just tell me",
        "Slower please",
    )[turn % 11 if turn else 0]


def silent(lesson: Lesson, turn: int) -> str:
    return "" if turn else "Hello"


LEARNERS: dict[str, Learner] = {
    "good": good,
    "medium": medium,
    "poor": poor,
    "curious": curious,
    "silent": silent,
}


def run(lesson: Lesson, learner: Learner, turns: int) -> Lesson:
    """Talk until the tutor has closed, at most `turns` exchanges."""
    for turn in range(turns):
        lesson.say(learner(lesson, turn))
        if lesson.progress.closed:
            break
    return lesson


def statements(reply: str) -> list[str]:
    return [line for line in sentences(reply) if "?" not in line]
