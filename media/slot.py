"""One turn's place in the conversation: what the learner said, what became of the reply. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from media.turn_events import LearnerWords, TurnId
from media.turn_limits import LATE_WORDS_S


def _normal(text: str) -> str:
    return " ".join(text.casefold().split())


@dataclass(slots=True)
class LearnerText:
    """Deltas concatenated, the last interim behind them, resent transcripts dropped (VOICE-26)."""

    settled: str = ""
    interim: str = ""
    finished: bool = False

    @property
    def text(self) -> str:
        return (self.settled + self.interim).strip()

    def hear(self, words: LearnerWords) -> bool:
        """Takes one transcription; false when it changed nothing."""
        before = (self.text, self.finished)
        if words.interim:
            self.interim = self._gap(words.text) + words.text
            self.finished = False
            return (self.text, self.finished) != before
        self.interim = ""
        if not self._resent(words):
            self.settled += self._gap(words.text) + words.text
            self.finished = words.finished
        self.finished = self.finished or words.finished
        return (self.text, self.finished) != before

    def _gap(self, text: str) -> str:
        """Between what was final and what comes behind it: one space, whoever wrote it."""
        return " " if self.finished and self.settled and text and not text[0].isspace() else ""

    def write(self, text: str) -> None:
        """Typed words are final; they stand after whatever was said."""
        self.settled = f"{self.text} {text}".strip()
        self.interim = ""
        self.finished = True

    def commit(self) -> bool:
        """Ends the text with its last partial; false when it was final already."""
        if self.finished:
            return False
        self.settled, self.interim, self.finished = self.settled + self.interim, "", True
        return True

    def _resent(self, words: LearnerWords) -> bool:
        old, new = _normal(self.settled), _normal(words.text)
        if not old or not new:
            return False
        if self.finished and new == old:
            return True
        # A final transcript that says everything again: cumulative, not a delta.
        if words.finished and not self.finished and " " in old and new.startswith(old):
            self.settled = words.text
            return True
        return False


@dataclass(slots=True)
class Reply:
    """How far the reply of one turn has come; `playing_until` bounds a playout that went mute.
    `voicing`: it came in writing only, and another voice has been asked to say it."""

    begun: bool = False
    text: str = ""
    audio_ms: float = 0.0
    heard: bool = False
    generated: bool = False
    completed: bool = False
    in_progress: bool = False
    voicing: bool = False
    drained_at: float | None = None
    playing_until: float | None = None


@dataclass(slots=True)
class Slot:
    """A turn from its first sign to its end. `spoken`: the learner's voice opened or joined it."""

    turn_id: TurnId
    speech_at: float
    spoken: bool
    words: LearnerText = field(default_factory=LearnerText)
    reply: Reply = field(default_factory=Reply)
    typed: bool = False
    prompts: list[tuple[str, str]] = field(default_factory=list)
    interrupted: bool = False
    speech_ended_at: float | None = None
    waiting_since: float = 0.0
    empty_at: float | None = None
    ended_at: float = 0.0

    def owes_words(self, at: float) -> bool:
        """A transcript of this turn's speech may still come."""
        if self.typed or self.words.finished or not self.spoken:
            return False
        return self.speech_ended_at is None or at - self.speech_ended_at < LATE_WORDS_S

    def is_settled(self, at: float) -> bool:
        """Nothing is missing on the learner's side (an empty one always gets the grace)."""
        if self.typed or self.words.finished or not self.spoken:
            return True
        return bool(self.words.text) and not self.owes_words(at)
