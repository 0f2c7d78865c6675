"""One tutor's walk over the agenda: learner words in, mode and sentences out. No clock, no I/O.

Socratic asks before it tells, Conversational answers, Lecture explains (areas STYLE, PROMPT).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from local_gemini.brain import phrases
from local_gemini.brain.answering import Answering
from local_gemini.brain.intent import Intent, classify, leaves, refuses, thanks
from local_gemini.brain.judgement import Judgement
from local_gemini.brain.progress import Move
from local_gemini.brain.quoting import statement
from local_gemini.brain.retrieval import (
    answer_to,
    example_in,
    named_in,
    wants_example,
)
from local_gemini.brain.unaided import taken_up

# After this many answers in earnest the point is explained; non-answers never lead there (STYLE-6).
ENGAGED_MAX = 2
# Non-answers in a row: a hint, an offer to tell, then another point.
OFFER_AT, MISSES_MAX = 2, 3
UNCLEAR_MAX = 3
# "No, later" turns an offer down; a longer sentence with "no" in it is looked at as an answer.
REFUSAL_WORDS = 4


class Walk(Answering):
    """Decides one move per learner utterance and keeps the progress."""

    # Covered before this turn, or shown by the learner in it: no interruption takes that back.
    _shown: frozenset[int] = frozenset()

    def step(self, learner: str) -> Move:
        """The move that answers `learner` (empty: silence, a skip, or the opening)."""
        intent = classify(learner)
        state = self.progress
        self._shown = frozenset(state.covered)
        announces = self.only_announces(learner)
        move = self._step(intent, learner)
        heard = frozenset[int]() if announces else self.judge.explained(move.sentences)
        told = (move.explained | heard) - self._shown
        state.covered |= told
        move = replace(move, explained=told)
        state.turn += 1
        state.opened = True
        if intent not in (Intent.WAIT, Intent.REPEAT, Intent.SLOWER):
            state.last = move
        return move

    def only_announces(self, learner: str) -> bool:
        """Whether what answers `learner` opens the lesson and so explains nothing yet."""
        if self.progress.opened or self.style == "lecture":
            return False
        return not self._says_something(classify(learner), learner)

    def said(self, spoken: Sequence[str]) -> None:
        """Take over what was said in this tutor's name, by another model or before a restart."""
        state = self.progress
        state.opened = True
        asking = [line for line in spoken if line.rstrip().endswith("?")]
        if asking:
            self.heard_question(asking[-1])
        if spoken:
            state.last = Move("ask", tuple(spoken))

    def heard_question(self, question: str) -> None:
        """Note that `question` is open now, whoever put it."""
        state = self.progress
        if question in phrases.META:
            state.meta = question
            return
        found = self.material.find(question)
        point = found[0] if found is not None else self.judge.asked_about(question)
        if point is not None:
            if found is not None:
                state.times[point] = state.times.get(point, 0) + 1
            self._turn_to(point)
        state.question = found[1].text if found is not None else question
        state.meta = ""

    def judged(self, learner: str) -> Judgement:
        """What `learner` shows, given the open question."""
        state = self.progress
        ask = self._ask_of(state.question)
        return self.judge.demonstrated(
            learner,
            asked=state.asked,
            question=state.question,
            answer=ask.answer if ask is not None else "",
        )

    def _step(self, intent: Intent, learner: str) -> Move:
        state = self.progress
        if intent is Intent.REPEAT and state.last is not None:
            return state.last
        if intent is Intent.SLOWER and state.last is not None:
            again = [line for line in state.last.sentences if line not in phrases.FILLERS]
            return Move(state.last.mode, (phrases.ONCE_MORE, *(again or state.last.sentences)))
        if intent is Intent.WAIT:
            return Move("probe", phrases.WAITING)
        if not self.judge.points:
            return self._without_points(intent)
        if intent is Intent.WHO and state.opened:
            return self._resume("ask", [phrases.WHO], frozenset())
        if not state.opened and not self._says_something(intent, learner):
            return self._open(["Hello."] if intent is Intent.GREETING else [])
        if state.closed or (self._done() and not state.offered and intent is not Intent.QUESTION):
            return self._after_all(intent, learner)
        if state.asked is None or state.asked in state.covered:
            self._turn_to(self._next())
        if state.meta in phrases.OFFERS:
            if refuses(learner) and len(learner.split()) <= REFUSAL_WORDS:
                return self._skipped()
            asks = intent is Intent.QUESTION and not named_in(learner)
            if intent is Intent.CONTINUE or asks:
                return self._tell(state.asked, [self._pick(phrases.TELL)])
        if intent is Intent.ANSWER:
            return self._answered(learner)
        if intent is Intent.QUESTION:
            return self._questioned(learner)
        if state.offered:
            return self._close()
        if intent is Intent.THANKS and leaves(learner):
            return Move("probe", (phrases.GOODBYE, phrases.LATER))
        return self._about_the_talk(intent)

    def _says_something(self, intent: Intent, learner: str) -> bool:
        """Whether the first words of a lesson already answer or ask something about its text."""
        if intent is Intent.ANSWER:
            return bool(self.judged(learner).covered)
        return intent is Intent.QUESTION and (
            answer_to(self.judge, learner) is not None or self.unaided
        )

    def _about_the_talk(self, intent: Intent) -> Move:
        """Answers what is neither an answer nor a question about the text."""
        if intent is Intent.RECAP:
            return self._recap()
        if intent is Intent.SKIP:
            return self._skipped()
        if intent is Intent.DISAGREE:
            return self._disagreed()
        if intent in (Intent.GREETING, Intent.THANKS):
            opener = phrases.AGAIN if intent is Intent.GREETING else phrases.WELCOME
            return self._resume("ask", [opener], frozenset())
        if intent is Intent.CONTINUE and (self.style != "lecture" or self.unaided):
            if self.progress.question:
                return self._go_on("ask", [self._pick(phrases.GOING_ON)])
            return self._resume("ask", [self._pick(phrases.GOING_ON)], frozenset())
        return self._unsure()

    # --- what the learner said -------------------------------------------------------------

    def _answered(self, learner: str) -> Move:
        state = self.progress
        judged = self.judged(learner)
        new = judged.covered - state.covered
        state.covered |= judged.covered
        self._shown |= judged.covered
        if new:
            return self._rewarded(judged, new, learner)
        if state.offered:
            return self._close()
        if self.style == "lecture" and not self.unaided:
            return self._lecture(self._next(), [self._pick(phrases.GOING_ON)])
        if state.meta == phrases.DOUBT:
            return self._resume("ask", [phrases.NOTED], frozenset())
        if judged.denied:
            state.engaged += 1
            if state.engaged >= ENGAGED_MAX:
                return self._tell(state.asked, [phrases.OTHERWISE])
            return self._go_on("probe", [phrases.OTHERWISE])
        if judged.echo and not self.unaided:
            return self._unsure()
        if not judged.related and not self.unaided:
            return self._unclear()
        state.unclear = 0
        state.engaged += 1
        close = self._acknowledged(judged, state.asked, phrases.START)
        opener = [close or self._pick(phrases.HEARD)]
        if self.style == "conversational" or state.engaged >= ENGAGED_MAX:
            return self._tell(state.asked, opener)
        return self._go_on("probe", opener)

    def _rewarded(self, judged: Judgement, new: frozenset[int], learner: str) -> Move:
        state = self.progress
        point = state.asked if state.asked in new else min(new)
        said = self._acknowledged(judged, point, phrases.YES) or self._pick(phrases.PRAISE)
        if self.unaided:
            named = taken_up(learner, self.judge.topic)
            said = f"You mention {named}." if named else self._pick(phrases.GOING_ON)
        if self._done():
            return self._close(said)
        if self.style == "lecture" and not self.unaided:
            return self._lecture(self._next(), [said])
        extra = self._addition(point, judged)
        told = frozenset({point}) if extra and point is not None else frozenset[int]()
        if state.asked in state.covered:
            self._turn_to(self._next())
        lines = [said, extra] if extra else [said]
        return self._go_on("reveal" if extra else "ask", lines, explained=told)

    def _unclear(self) -> Move:
        state = self.progress
        state.unclear += 1
        if state.unclear == 1:
            said, asking = phrases.UNCLEAR[state.pleas % len(phrases.UNCLEAR)]
            state.pleas += 1
            return self._meta("probe", [said], asking)
        if state.unclear >= UNCLEAR_MAX:
            return self._skipped()
        return self._go_on("probe", [self._pick(phrases.BACK)])

    def _unsure(self) -> Move:
        state = self.progress
        if self.style == "lecture" and not self.unaided:
            return self._lecture(self._next(), [])
        if self.style == "conversational" and not self.unaided:
            return self._tell(state.asked, [self._pick(phrases.STUCK)])
        state.misses += 1
        if state.misses >= MISSES_MAX:
            return self._skipped()
        if state.misses >= OFFER_AT and not self.unaided:
            if state.engaged:
                return self._tell(state.asked, [self._pick(phrases.TELL)])
            state.offers += 1
            asking = phrases.OFFERS[state.offers % len(phrases.OFFERS)]
            return self._meta("probe", [self._pick(phrases.STUCK)], asking)
        return self._go_on("probe", [self._pick(phrases.STUCK)])

    def _skipped(self) -> Move:
        state = self.progress
        if self.style == "lecture" and not self.unaided:
            return self._lecture(self._next(), [self._pick(phrases.GOING_ON)])
        if state.asked is not None:
            state.parked.add(state.asked)
        following = self._next()
        if following == state.asked:
            state.misses = state.unclear = 0
            return self._go_on("probe", ["This is the only one still open."])
        self._turn_to(following)
        return self._go_on("ask", [self._pick(phrases.PARK)])

    def _after_all(self, intent: Intent, learner: str) -> Move:
        state = self.progress
        if intent is Intent.THANKS:
            return Move("conclude", _parting(learner))
        if not state.closed:
            return self._close()
        if intent is Intent.QUESTION:
            found = answer_to(self.judge, learner)
            if wants_example(learner):
                found = example_in(self.judge, None)
            if found is not None:
                told = [statement(line) for line in found.lines]
                return Move("reveal", (self._pick(phrases.SURE), *told))
            return Move("conclude", (self._silent_about(named_in(learner)),))
        return Move("conclude", ("We have been through all of it.", "You can still ask me things."))

    def _without_points(self, intent: Intent) -> Move:
        if intent is Intent.THANKS:
            return Move("ask", (phrases.WELCOME,))
        name = self.judge.topic.replace("?", "") or "this"
        lines = f"I have no text about {name} to work with."
        return Move("ask", (lines, "What would you like to say about it?"))


def _parting(learner: str) -> tuple[str, ...]:
    """To thanks and to a goodbye, in as few words."""
    bye = leaves(learner)
    welcome = (phrases.WELCOME,) if thanks(learner) or not bye else ()
    return (*welcome, phrases.GOODBYE) if bye else welcome
