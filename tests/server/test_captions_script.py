"""A transcript that is most likely misheard says so, and only then (PAINS 41)."""

import json

import pytest
from pydantic import BaseModel

from media import turn_events as ev
from media.script_check import LATIN, scripts_of
from server import rtvi
from server.captions import Captions

THANKS = "Спасибо за просмотр"


def _told(text: str, *, scripts: frozenset[str] = frozenset({LATIN}), wrote: str = "") -> object:
    frames: list[BaseModel | str] = []
    captions = Captions(frames.append, lambda: "2026-01-15T12:00:00.000Z", "ada", scripts)
    captions.wrote(wrote)
    captions.learner(ev.ShowLearner(ev.TurnId("t1"), text, final=True))
    (frame,) = frames
    data = json.loads(rtvi.encode(frame))["data"]
    assert data["text"] == text
    return data.get("lowConfidence", "absent")


@pytest.mark.req("RTC-14")
def test_words_in_an_unexpected_script_are_flagged() -> None:
    assert _told(THANKS) is True
    assert _told("Memory cells keep the pattern.") == "absent"
    assert _told(THANKS, scripts=scripts_of("Война и мир") | {LATIN}) == "absent"


def test_what_was_typed_cannot_be_misheard() -> None:
    assert _told(THANKS, wrote=f" {THANKS} ") == "absent"
    assert _told(THANKS, wrote="Something else") is True
