"""One tutor's walk over the agenda: learner words in, mode and sentences out. No clock, no I/O.

Socratic asks before it tells, Conversational answers, Lecture explains (areas STYLE, PROMPT).
"""

from __future__ import annotations

from collections.abc import Sequence

from local_gemini.brain import phrases
from local_gemini.brain.coverage import Judgement
from local_gemini.brain.delivery import ENGAGED_MAX, TOLD_SENTENCES, Delivery
from local_gemini.brain.intent import Intent, about, classify
from local_gemini.brain.language import stems
from local_gemini.brain.progress import Move

# After this many non-answers in a row the point is put aside and another one is asked.
MISSES_MAX = 3
ANSWERS_FROM = 0.45


class Walk(Delivery):
    """Decides one move per learner utterance and keeps the progress."""

    def step(self, learner: str) -> Move:
        """The move that answers `learner` (empty: silence, a skip, or the opening)."""
        intent = classify(learner)
        move = self._step(intent, learner)
        state = self.progress
        state.turn += 1
        state.opened = True
        if intent is not Intent.WAIT:
            state.last = move
        return move

    def said(self, spoken: Sequence[str]) -> None:
        """Take over what was said in this tutor's name, by another model or before a restart."""
        state = self.progress
        state.opened = True
        asking = [line for line in spoken if line.rstrip().endswith("?")]
        if asking:
            self._asking(self.judge.asked_about(asking[-1]), asking[-1])
        if spoken:
            state.last = Move("ask", tuple(spoken))

    def _step(self, intent: Intent, learner: str) -> Move:
        state = self.progress
        if intent is Intent.REPEAT and state.last is not None:
            return state.last
        if intent is Intent.WAIT:
            return Move("probe", phrases.WAITING)
        if not self.judge.points:
            return self._without_points(intent)
        if not state.opened and intent not in (Intent.ANSWER, Intent.QUESTION):
            return self._open()
        if state.closed or (self._done() and not state.offered and intent is not Intent.QUESTION):
            return self._after_all(intent, learner)
        if state.asked is None or state.asked in state.covered:
            self._turn_to(self._next())
        if intent is Intent.ANSWER:
            return self._answered(learner)
        if intent is Intent.QUESTION:
            return self._questioned(learner)
        if state.offered:
            return self._close()
        if intent is Intent.RECAP:
            return self._recap()
        if intent is Intent.SKIP:
            return self._skipped()
        if intent in (Intent.GREETING, Intent.THANKS):
            opener = "Hello again." if intent is Intent.GREETING else "You are welcome."
            return self._go_on("ask", [opener])
        if intent is Intent.CONTINUE and self.style != "lecture":
            return self._go_on("ask", [self._pick(phrases.GOOD)])
        return self._unsure()

    # --- what the learner said -------------------------------------------------------------

    def _answered(self, learner: str) -> Move:
        state = self.progress
        judged = self.judge.demonstrated(learner, asked=state.asked, question=state.question)
        new = judged.covered - state.covered
        state.covered |= judged.covered
        if new:
            return self._rewarded(judged, new)
        if state.offered:
            return self._close()
        if self.style == "lecture":
            return self._lecture(self._next(), [self._pick(phrases.HEARD)])
        if not judged.related:
            state.misses += 1
            if self.style == "socratic" and state.misses >= MISSES_MAX:
                return self._skipped()
            return self._go_on("probe", ["Let us stay with the topic."], easier=True)
        state.engaged += 1
        opener = [
            self._pick(phrases.HEARD),
            phrases.acknowledgement(judged.terms, state.turn),
        ]
        if self.style == "conversational" or state.engaged >= ENGAGED_MAX:
            return self._tell(state.asked, opener)
        body = self._body(state.asked)
        clue = phrases.hint(self._title(state.asked), body, state.engaged)
        return self._go_on("probe", [*opener, clue], easier=True)

    def _rewarded(self, judged: Judgement, new: frozenset[int]) -> Move:
        state = self.progress
        if self._done():
            return self._close()
        lines = [
            self._pick(phrases.GOOD),
            phrases.acknowledgement(judged.terms, state.turn),
        ]
        point = state.asked if state.asked in new else min(new)
        extra = self._addition(point, judged.terms)
        told = frozenset({point}) if extra and point is not None else frozenset[int]()
        if self.style == "lecture":
            return self._lecture(self._next(), lines)
        if extra:
            lines.append(f"The text adds: {extra}" if state.turn % 2 else extra)
        self._turn_to(self._next())
        return self._go_on("reveal" if extra else "ask", lines, explained=told)

    def _questioned(self, learner: str) -> Move:
        state = self.progress
        found = self.judge.closest(learner)
        # "Just tell me" and "explain it" ask about the point that is open.
        named = about(learner)
        bare = not set(stems(named)) - set(stems(self.judge.topic))
        point = state.asked if bare or found is None else found[0]
        if not bare and (found is None or found[1] < ANSWERS_FROM):
            return self._go_on("ask", [self._silent_about(named)])
        if self.style == "lecture":
            return self._lecture(point, ["Sure."])
        if self.style == "conversational" or point in state.covered:
            return self._tell(point, ["Sure."])
        again = state.asked == point and state.misses + state.engaged > 0
        if point != state.asked:
            self._turn_to(point)
        if again:
            return self._unsure()
        state.misses += 1
        known = " ".join((self._title(point), *self._body(point))).lower()
        title = phrases.running(self._title(point), self._body(point))
        name = named if named and named.lower() in known else title
        asking = f"Before I say more, what do you already think about {name}?"
        self._asking(point, asking)
        return Move("ask", ("Good question.", asking))

    def _unsure(self) -> Move:
        state = self.progress
        if self.style == "lecture":
            return self._lecture(self._next(), [])
        if self.style == "conversational":
            return self._tell(state.asked, [self._pick(phrases.STUCK)])
        state.misses += 1
        if state.misses >= MISSES_MAX:
            return self._skipped()
        clue = phrases.hint(self._title(state.asked), self._body(state.asked), state.misses)
        return self._go_on("probe", [self._pick(phrases.STUCK), clue], easier=True)

    def _skipped(self) -> Move:
        state = self.progress
        if state.asked is not None:
            state.parked.add(state.asked)
        following = self._next()
        if following == state.asked:
            state.misses = 0
            state.turn += 1
            return self._go_on("probe", ["This is the only point still open."], easier=True)
        self._turn_to(following)
        return self._go_on("ask", ["Let us leave that one for a moment."])

    def _after_all(self, intent: Intent, learner: str) -> Move:
        state = self.progress
        if not state.closed:
            return self._close()
        if intent is Intent.THANKS:
            return Move("conclude", ("You are welcome.",))
        found = self.judge.closest(learner) if intent is Intent.QUESTION else None
        if found is not None and found[1] >= ANSWERS_FROM and (body := self._body(found[0])):
            told = [phrases.statement(line) for line in body[:TOLD_SENTENCES]]
            return Move("reveal", ("Sure.", *told))
        if intent is Intent.QUESTION:
            return Move("conclude", (self._silent_about(about(learner)),))
        topic = self.judge.topic.replace("?", "") or "this text"
        return Move("conclude", (f"Every point of {topic} is covered.",))
