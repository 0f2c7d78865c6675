"""A scripted mind that behaves as the probe expects of a Live model, and an engine around it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from local_gemini.engine import Generated, Mind
from local_gemini.scripted import ScriptedEngine, tone

NEXT = re.compile(r'Next point to teach: "(.+)"')


class BehavingMind:
    """Names the next point of its instruction, or of the newest update."""

    def __init__(self, instruction: str) -> None:
        self._next = self._point(instruction, "the moon")

    def _point(self, text: str, known: str) -> str:
        found = NEXT.search(text)
        return found[1] if found else known

    def answer(self, learner: str) -> list[str]:
        return ["Good.", f"What do you know about {self._next}?"]

    def note(self, text: str) -> None:
        self._next = self._point(text, self._next)

    def heard(self, text: str, interrupted: bool) -> None:
        pass

    def seed(self, role: str, text: str) -> None:
        pass


class BehavingBrain:
    def mind(self, instruction: str) -> Mind:
        return BehavingMind(instruction)

    def generate(self, model: str, request: Mapping[str, Any]) -> Generated:
        raise NotImplementedError


def engine(transcripts: Sequence[str] = ("Please go on.",)) -> ScriptedEngine:
    """Replies of two sentences, 2 s of tone each: long enough to be interrupted."""
    made = ScriptedEngine(transcripts, speech=lambda _: tone(2000))
    made.brain = BehavingBrain()
    return made
