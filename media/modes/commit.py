"""When the learner's words are an utterance, where the service only writes down (VOICE-25, 26).

They are committed 400 ms after the service's end of activity or by its final transcript, never by
the model's turn. Pure; time comes with the event.
"""

from __future__ import annotations

from media.slot import LearnerText
from media.turn_events import LearnerWords

# The rest of a transcript may come so long after the end of the activity (VOICE-25).
COMMIT_S = 0.4
# Words whose end nobody declares: the service lost its own signal. Not an end-of-speech timer: it
# never runs while the service or the gate hears speech (VOICE-32).
STRANDED_S = 5.0
# The service heard the learner begin and never end, while our own gate hears nobody.
ENDLESS_S = 30.0


def _same(one: str, other: str) -> bool:
    return one.casefold().split() == other.casefold().split()


class LearnerCommit:
    """`take` gives the words of a finished utterance once; `text` is what is known of the next.

    `active`: the service hears the learner; `sounding`: our own gate does.
    """

    def __init__(self) -> None:
        self._words = LearnerText()
        self._first_at = self._last_at = 0.0
        self._ended_at: float | None = None
        self._taken = ""
        self._fresh = True
        self.active = False
        self.sounding = False

    @property
    def text(self) -> str:
        return self._words.text

    def activity(self, at: float, started: bool) -> None:
        """Of the service, or of our gate where that brackets the turns."""
        self.active = started
        self._ended_at = None if started else at
        self._fresh = self._fresh or started

    def hear(self, words: LearnerWords) -> bool:
        """Takes one transcription; whether there is something new to show."""
        if not self.text:
            if not words.text.strip() or self._repeats(words.text):
                return False
            self._first_at = words.at
        self._last_at = words.at
        return self._words.hear(words)

    def due(self) -> float | None:
        """When `take` has something; None while nothing is known or the learner speaks on."""
        if not self.text:
            return None
        if self._words.finished:
            return self._last_at
        if self.active or self._ended_at is None:
            lost = ENDLESS_S if self.active else STRANDED_S
            return None if self.sounding else self._last_at + lost
        end = self._ended_at + COMMIT_S
        return end if self._first_at < end else self._first_at + COMMIT_S

    def take(self, at: float) -> str | None:
        """The utterance, if it is complete by now; the next one starts empty."""
        due = self.due()
        if due is None or at < due:
            return None
        text = self.text
        repeated = self._repeats(text)
        self.clear()
        self._taken, self._fresh = text, False
        return None if repeated else text

    def clear(self) -> None:
        """Forgets what is not committed."""
        self._words = LearnerText()

    def _repeats(self, text: str) -> bool:
        """The last utterance once more, although nobody has spoken since."""
        return not self._fresh and _same(text, self._taken)
