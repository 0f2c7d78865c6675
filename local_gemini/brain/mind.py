"""The tutor of one Live session: a walk, steered by state updates and corrected by playback."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from itertools import dropwhile

from local_gemini.brain import prompt
from local_gemini.brain.coverage import Judge
from local_gemini.brain.intent import Intent, classify
from local_gemini.brain.language import sentences
from local_gemini.brain.points import points_of
from local_gemini.brain.progress import Progress
from local_gemini.brain.remote import RemoteModel
from local_gemini.brain.vectors import Vectors
from local_gemini.brain.walk import Walk

HISTORY = 24
TIME_NEARLY_OVER = (
    "We have only a moment left in this voice session, and we can go on later where we stop."
)


class LocalMind:
    """Answers one learner; calls come one at a time, in order."""

    def __init__(self, instruction: str, vectors: Vectors, remote: RemoteModel | None) -> None:
        self._instruction = instruction
        self._vectors = vectors
        self._remote = remote
        self._brief = prompt.live_brief(instruction)
        self._history: deque[tuple[str, str]] = deque(maxlen=HISTORY)
        # Coverage judged in the running exchange, which no state update can know yet.
        self._pending: set[int] = set()
        self._walk = self._new_walk(self._brief.agenda, self._brief.digest, self._brief.covered)
        self._walk.progress.opened = self._brief.learner_turns > 0
        self._time_nearly_over = self._time_told = False
        # What an interruption kept from being heard of the last answer.
        self._unheard: list[str] = []

    def answer(self, learner: str) -> list[str]:
        """Sentences to be spoken, in order; never empty."""
        if learner.startswith(prompt.TIME_CHECK):
            self._time_told = True
            return [TIME_NEARLY_OVER]
        intent = classify(learner)
        if self._unheard and intent is Intent.REPEAT:
            return self._went_on(learner)
        if intent is not Intent.WAIT:
            self._unheard = []
        before = set(self._walk.progress.covered)
        announces = self._walk.only_announces(learner)
        spoken = list(self._walk.step(learner).sentences)
        if self._remote is not None and learner.strip():
            asked = [*self._history, ("user", learner)]
            reply = self._remote.complete(self._instruction, asked)
            if reply is not None and (worded := sentences(reply)):
                spoken = worded
                self._walk.said(worded)
                if not announces:
                    self._walk.progress.covered |= self._walk.judge.explained(worded)
        if self._time_nearly_over and not self._time_told:
            self._time_told = True
            spoken = [TIME_NEARLY_OVER, *spoken]
        self._pending = self._walk.progress.covered - before
        self._history.append(("user", learner))
        self._history.append(("model", " ".join(spoken)))
        return spoken

    def _went_on(self, learner: str) -> list[str]:
        """The rest of an answer that was cut off, from the sentence that it was cut off in."""
        rest, self._unheard = self._unheard, []
        self._walk.said(rest)
        self._pending = set(self._walk.judge.explained(rest)) - self._walk.progress.covered
        self._walk.progress.covered |= self._pending
        self._history += [("user", learner), ("model", " ".join(rest))]
        return rest

    def note(self, text: str) -> None:
        """Follow a `[TUTOR STATE UPDATE]`; it overrides this tutor's own idea of coverage."""
        update = prompt.update(text)
        if update is None:
            return
        self._history.append(("user", text))
        self._time_nearly_over = self._time_nearly_over or update.time_nearly_over
        state = self._walk.progress
        agenda = update.agenda or self._brief.agenda
        if agenda != tuple(point.title for point in self._walk.judge.points) or update.digest:
            self._walk = self._new_walk(agenda, update.digest or self._brief.digest, frozenset())
            self._walk.progress.opened = state.opened
            self._walk.progress.last = state.last
            self._pending.clear()
            state = self._walk.progress
        places: Mapping[str, int] = {title: index for index, title in enumerate(agenda)}
        state.covered = {places[title] for title in update.covered} | self._pending
        state.preferred = places.get(update.next_point)
        if update.too_early:
            state.closed = False
        elif update.concluded:
            state.closed = True
        elif len(state.covered) < len(agenda):
            state.closed = state.offered = False

    def heard(self, text: str, interrupted: bool) -> None:
        """What was played of the last answer; what was cut off was neither explained nor asked."""
        self._pending.clear()
        move = self._walk.progress.last
        if not interrupted or move is None:
            return
        state = self._walk.progress
        heard = sentences(text)
        state.covered -= move.explained - self._walk.judge.explained(heard)
        if state.question and state.question not in text:
            state.question = ""
        if move.mode == "conclude":
            state.closed = False
        if self._history and self._history[-1][0] == "model":
            said = sentences(self._history[-1][1])
            self._unheard = list(dropwhile(lambda sentence: sentence in text, said))
            self._history[-1] = ("model", text)

    def seed(self, role: str, text: str) -> None:
        """A past turn of this lesson, oldest first."""
        self._history.append((role, text))
        self._walk.progress.opened = True
        if role == "model":
            self._walk.said(sentences(text))

    def _new_walk(
        self, agenda: tuple[str, ...], digest: tuple[str, ...], covered: frozenset[str]
    ) -> Walk:
        judge = Judge(self._vectors, self._brief.topic, points_of(agenda, digest))
        judge.prepare()
        done = {index for index, title in enumerate(agenda) if title in covered}
        return Walk(judge, self._brief.style, Progress(covered=done))
