"""Masks the words of a turn log so that the machine decides the same without them. Pure.

Letter by letter, so that the shape stays. Two words of one shape would be the same word then, and
the machine compares words: it drops a transcript that is sent again. So a machine of the mask's own
hears the masked events, and where it would decide otherwise the words get other letters.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from media.turn_events import Effect, LearnerWords, ShowLearner, TurnEvent, TutorWords, Typed
from media.turns import Turns

LETTERS = "xyzw"
WORDS = ("text", "learner_text")


def masked(text: str, letter: str = LETTERS[0]) -> str:
    """Letters and digits become `letter`; marks and spaces stay."""
    return "".join(letter if char.isalnum() else char for char in text)


def effect_data(effect: Effect) -> dict[str, Any]:
    return {"effect": type(effect).__name__} | asdict(effect)


def shape(effects: Sequence[Effect]) -> list[dict[str, Any]]:
    """What the machine decided, with nothing left of its words."""
    return [
        {key: masked(value) if key in WORDS else value for key, value in effect_data(one).items()}
        for one in effects
    ]


def _repeated(shown: str, text: str) -> str | None:
    """`text` as one that says again what is shown (masked), and perhaps more; spaces as they are
    in it. None where its shape is another."""
    pieces, said = re.split(r"(\s+)", masked(text)), shown.split()
    places = [n for n, piece in enumerate(pieces) if piece.strip()]
    if not said or len(places) < len(said):
        return None
    last = places[len(said) - 1]
    for place, word in zip(places, said, strict=False):
        piece, form = pieces[place], masked(word)
        if piece != form and not (place == last and piece.startswith(form)):
            return None
        pieces[place] = word + piece[len(word) :]
    return "".join(pieces)


class WordMask:
    """One per log; `prefix` and `link_up` are how the machine of the lesson was made."""

    def __init__(self, prefix: str, *, link_up: bool) -> None:
        self._machine = Turns(prefix=prefix, link_up=link_up)
        self._shown = ""

    def of(
        self, event: TurnEvent, effects: Sequence[Effect]
    ) -> tuple[TurnEvent, list[dict[str, Any]]]:
        """The event and its effects without words; both from the one masking that decides alike.

        Where none does, the effects are the real ones, and a replay tells of the line.
        """
        wanted, before = shape(effects), self._machine
        for candidate in self._candidates(event):
            self._machine = copy.deepcopy(before)
            told = self._machine.handle(candidate)
            if shape(told) == wanted:
                self._shown = next(
                    (effect.text for effect in told if isinstance(effect, ShowLearner)), self._shown
                )
                return candidate, [effect_data(effect) for effect in told]
        return candidate, wanted

    def _candidates(self, event: TurnEvent) -> Iterator[TurnEvent]:
        if not isinstance(event, LearnerWords | TutorWords | Typed):
            yield event
            return
        text = event.text
        yield replace(event, text=masked(text))
        if (again := _repeated(self._shown, text)) is not None:
            yield replace(event, text=again)
        for letter in LETTERS[1:]:
            yield replace(event, text=masked(text, letter))
