"""What of the microphone goes on to the Live service, and the marks around it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from pydantic import BaseModel

from media import turn_events as ev
from media.endpoint import THINKING_S
from media.gate import Gate, GateSettings
from media.spans import Spans
from server import rtvi
from server.microphone import LEVEL_AGAIN_S, PATIENCE_S, Microphone
from tests.media.test_gate import Told, block

SILENCE_MS = 400


@dataclass
class Line:
    """Keeps the order of things: marks by name, sound by its length in ms."""

    sent: list[str] = field(default_factory=list)
    sound_ms: int = 0

    def audio(self, pcm: bytes, at: float) -> None:
        self.sound_ms += len(pcm) // 32
        if self.sent[-1:] != ["sound"]:
            self.sent.append("sound")

    def activity(self, started: bool) -> None:
        self.sent.append("start" if started else "end")


class Bench:
    """A microphone whose detector says what the test wants."""

    def __init__(self, *, manual: bool) -> None:
        settings = GateSettings(hangover_ms=SILENCE_MS, service_ends_turns=not manual)
        self.gate = Gate(Told(), settings)
        self.at, self.number, self.awaited = 100.0, 0, False
        self.events: list[ev.TurnEvent] = []
        self.levels: list[BaseModel] = []
        self.line = Line()
        self.microphone = Microphone(
            self.gate,
            manual=manual,
            claimable=lambda: True,
            awaited=lambda: self.awaited,
            handle=self.events.append,
            tell_level=self.levels.append,
            now=lambda: self.at,
            spans=Spans(),
        )
        self.microphone.line = self.line

    def hear(self, ms: int, speech: int) -> None:
        for _ in range(ms // 20):
            level = 3000 if speech else 10
            self.microphone.hear(block(level + self.number % 7, speech), self.at)
            self.at += 0.02
            self.number += 1

    def of(self, kind: type[ev.TurnEvent]) -> int:
        return sum(isinstance(event, kind) for event in self.events)


@pytest.mark.req("RTC-9")
def test_an_activity_encloses_its_sound() -> None:
    bench = Bench(manual=True)
    for _ in range(3):
        bench.hear(800, 90)
        bench.hear(1200, 0)
    assert bench.line.sent == ["start", "sound", "end"] * 3


@pytest.mark.req("RTC-9")
def test_a_service_that_ends_turns_itself_gets_no_marks() -> None:
    bench = Bench(manual=False)
    bench.hear(800, 90)
    bench.hear(600, 0)
    bench.microphone.absent()
    assert bench.line.sent == ["sound"]
    assert bench.of(ev.SpeechEnded) == 1


@pytest.mark.req("RTC-9", "OWN-33")
@pytest.mark.parametrize("held", [False, True], ids=["open", "key"])
def test_whoever_goes_in_the_middle_of_a_word_ends_what_they_began(held: bool) -> None:
    """T6: starts == ends, once and for all."""
    bench = Bench(manual=True)
    bench.microphone.push_to_talk(held)
    bench.hear(600, 90)
    for _ in range(2):
        bench.microphone.absent()
    assert bench.line.sent == ["start", "sound", "end"]
    assert bench.of(ev.SpeechStarted) == bench.of(ev.SpeechEnded) == 1
    bench.hear(2000, 0)
    assert bench.line.sent == ["start", "sound", "end"]


@pytest.mark.req("RTC-9", "RTC-10")
def test_a_microphone_switched_off_mid_word_ends_its_activity() -> None:
    bench = Bench(manual=True)
    bench.hear(600, 90)
    bench.microphone.on = False
    bench.hear(2000, 90)
    assert bench.line.sent == ["start", "sound", "end"]


@pytest.mark.req("RTC-9", "VOICE-37")
def test_a_cough_over_the_tutor_is_no_activity() -> None:
    """The service would drop its reply."""
    bench = Bench(manual=True)
    bench.gate.set_tutor_speaking(True)
    bench.hear(140, 90)
    bench.hear(1000, 0)
    assert bench.of(ev.SpeechStarted) == bench.of(ev.SpeechEnded) == 1
    assert bench.line.sent == []
    bench.hear(600, 90)
    bench.hear(1000, 0)
    assert bench.line.sent == ["start", "sound", "end"]


@pytest.mark.req("RTC-8", "VOICE-32")
def test_silence_goes_on_while_the_answer_is_due_and_no_longer() -> None:
    bench = Bench(manual=False)
    bench.hear(600, 90)
    bench.awaited = True
    bench.hear(9000, 0)
    spoken_ms = 600 + 9000
    assert spoken_ms - 9000 + PATIENCE_S * 1000 <= bench.line.sound_ms < spoken_ms - 1500
    before = bench.line.sound_ms
    bench.hear(1000, 0)
    assert bench.line.sound_ms == before


@pytest.mark.parametrize(
    ("reply", "turns"),
    [("What do you think?", 1), ("You are right.", 2)],
    ids=["asked", "told"],
)
def test_t8_after_a_question_a_pause_is_thought(reply: str, turns: int) -> None:
    """T8: in the turn after it only, and only where our own detection ends turns."""
    bench = Bench(manual=True)
    bench.microphone.replied(reply)
    for _ in range(turns):
        bench.hear(900, 90)
        bench.hear(round(THINKING_S * 1000) - 300, 0)
    bench.hear(3000, 0)
    assert bench.line.sent == ["start", "sound", "end"] * turns
    bench.line.sent.clear()
    for _ in range(2):
        bench.hear(900, 90)
        bench.hear(1000, 0)
    assert bench.line.sent == ["start", "sound", "end"] * 2


def test_t8_a_question_that_was_answered_in_writing_leaves_nothing_behind() -> None:
    bench = Bench(manual=True)
    bench.microphone.replied("What do you think?")
    bench.microphone.replied("Quite so.")
    bench.hear(900, 90)
    bench.hear(1000, 0)
    assert bench.line.sent == ["start", "sound", "end"]


@pytest.mark.parametrize(("words", "ended"), [("Is that all?", True), ("That is all and", False)])
def test_words_tell_whether_the_turn_can_be_over(words: str, ended: bool) -> None:
    bench = Bench(manual=True)
    bench.hear(600, 90)
    bench.microphone.understood(words)
    bench.hear(300, 0)
    assert (bench.line.sent[-1] == "end") is ended


def test_a_level_is_told_when_it_moves_or_now_and_then() -> None:
    bench = Bench(manual=False)
    bench.hear(1000, 90)
    assert isinstance(bench.levels[-1], rtvi.ActivityLevel)
    bench.hear(6000, 0)
    bench.levels.clear()
    bench.hear(round(LEVEL_AGAIN_S * 4000), 0)
    assert 3 <= len(bench.levels) <= 5
